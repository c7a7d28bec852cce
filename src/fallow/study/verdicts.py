"""What our runs decide of the paper's claims.

A claim that many comparisons must bear is decided after Holm's correction for all comparisons on the page.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from fallow.study.claims import Question, questions, where
from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.intervals import Interval, Verdict, holm, interval, t_test
from fallow.study.outcomes import Cell, Results, seeds_of

PAPER_SAVING = 0.37
NEAR = 0.03
"""How far a saving may be from the paper's 37 %: three points."""

SMALL = 0.01
"""A share of the energy below which α does not change it."""

SURE = 0.05
"""The chance, after correction, below which a difference is decided."""


@dataclass(frozen=True)
class Claim:
    """A claim and its evidence.

    Attributes:
        text: What the paper says.
        verdict: What our runs decide.
        evidence: Lines of figures.
        cells: The verdict in each cell, where it speaks of cells.
    """

    text: str
    verdict: Verdict
    evidence: list[str] = field(default_factory=list)
    cells: dict[Cell, Verdict] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """Every claim under every rule.

    Attributes:
        claims: By rule.
        comparisons: How many were tested, and corrected for; one seed alone is no test.
    """

    claims: dict[str, list[Claim]]
    comparisons: int


@dataclass(frozen=True)
class Comparing:
    """What a client pays to compare models in one way.

    Attributes:
        kept: Numbers that it keeps for it.
        operations: Floating-point operations of one comparison.
    """

    kept: int
    operations: int


def judge(results: Mapping[str, Results], features: Comparing, parameters: Comparing) -> Judgement:
    """Returns every claim with its verdict.

    Args:
        results: The finished runs, by rule.
        features: What the distance between features costs a client.
        parameters: What the distance between parameters does.
    """
    asked = {rule: questions(own) for rule, own in results.items()}
    compared = [one for own in asked.values() for question in own for one in question.comparisons]
    chances = [t_test(one.values) for one in compared if one.testable]
    corrected = iter(holm(chances))
    claims = {
        rule: [
            *(
                decide(question, [next(corrected) if one.testable else 1.0 for one in question.comparisons])
                for question in own
            ),
            energy_ignores_alpha(results[rule]),
            saving_is_37_percent(results[rule]),
            features_are_cheaper(features, parameters),
        ]
        for rule, own in asked.items()
    }
    return Judgement(claims, len(chances))


def features_are_cheaper(features: Comparing, parameters: Comparing) -> Claim:
    """Returns the claim about what a comparison costs: it holds if it does for memory and for arithmetic.

    Args:
        features: What the distance between features costs a client.
        parameters: What the distance between parameters does.
    """
    cheaper = features.kept < parameters.kept and features.operations < parameters.operations
    return Claim(
        "The feature distance is lightweight, the distance between parameters expensive.",
        "holds" if cheaper else "does not hold",
        [
            f"with the paper's network at full width a client keeps {features.kept:,} numbers for the one and "
            f"{parameters.kept:,} for the other",
            f"one forward pass of a probe batch is {features.operations:,} operations, the distance between "
            f"parameters {parameters.operations:,}",
        ],
    )


def decide(question: Question, chances: list[float]) -> Claim:
    """Returns a claim with its verdict: one cell is enough to refute it, and only all of them can confirm it.

    Args:
        question: What the paper says, with its comparisons.
        chances: Of each comparison, corrected; 1 where it could not be tested.
    """
    signs = [
        (one, 0 if chance >= SURE else 1 if interval(one.values).mean > 0 else -1)
        for one, chance in zip(question.comparisons, chances, strict=True)
    ]
    evidence = [
        f"{where(one.cell)}: {one.words}: {interval(one.values)}"
        + (f", corrected p = {chance:.2g}" if one.testable else "")
        for one, chance in zip(question.comparisons, chances, strict=True)
    ]
    cells = {
        cell: _verdict([sign for one, sign in signs if one.cell == cell]) for cell in {one.cell for one, _ in signs}
    }
    verdict = _verdict([sign for _, sign in signs])
    return Claim(
        question.text,
        "not decided" if verdict == "holds" and not question.complete else verdict,
        evidence + question.notes,
        dict(sorted(cells.items())),
    )


def energy_ignores_alpha(results: Results) -> Claim:
    """Judges that α does not change the energy used: by less than one per cent, its interval says surely or not.

    Args:
        results: The finished runs under one rule.
    """
    evidence, verdicts = [], []
    wanted = [(policy, p, alphas) for policy in POLICIES for p in HARVESTS for alphas in pairwise(ALPHAS)]
    for policy, p, (one, two) in wanted:
        shares = _shares(results, ((one, p), policy), ((two, p), policy))
        if shares:
            found = interval(shares)
            verdicts.append(_within(found, -SMALL, SMALL))
            evidence.append(f"{NAMES[policy]}, p_bc = {p:g}: α = {two:g} against {one:g}: {_percent(found)}")
    text = f"The heterogeneity α does not change the energy used (by less than {SMALL:.0%})."
    return Claim(text, _all(verdicts, complete=len(verdicts) == len(wanted)), evidence)


def saving_is_37_percent(results: Results) -> Claim:
    """Judges the figure of the saving: the largest is 37 %, within three points.

    Args:
        results: The finished runs under one rule.
    """
    text = f"The saving is up to {PAPER_SAVING:.0%} (± {100 * NEAR:.0f} points)."
    savings = {p: _shares(results, ((0.1, p), "fedavg"), ((0.1, p), "vaoi")) for p in HARVESTS}
    found = {p: interval([-share for share in shares]) for p, shares in savings.items() if shares}
    evidence = [f"the paper: up to {PAPER_SAVING:.0%}; here, p_bc = {p:g}: {_percent(one)}" for p, one in found.items()]
    if not found:
        return Claim(text, "not decided", evidence)
    most = max(found.values(), key=lambda one: one.mean)
    if most.low > PAPER_SAVING + NEAR:  # no cell that is missing can make the largest smaller
        return Claim(text, "does not hold", evidence)
    verdict = _within(most, PAPER_SAVING - NEAR, PAPER_SAVING + NEAR)
    return Claim(text, verdict if len(found) == len(HARVESTS) else "not decided", evidence)


def _shares(results: Results, whole: tuple[Cell, str], part: tuple[Cell, str]) -> list[float]:
    """Returns how much more energy `part` used than `whole`, as shares of the latter, over common seeds."""
    seeds = set(seeds_of(results, *whole)) & set(seeds_of(results, *part))
    pairs = [(results[*whole, seed].energy, results[*part, seed].energy) for seed in sorted(seeds)]
    return [own / all_ - 1 for all_, own in pairs if all_]


def _verdict(signs: Iterable[int]) -> Verdict:
    known = list(signs)
    if -1 in known:
        return "does not hold"
    return "holds" if known and all(sign == 1 for sign in known) else "not decided"


def _within(one: Interval, low: float, high: float) -> Verdict:
    if one.count < 2:
        return "not decided"
    if one.high < low or one.low > high:
        return "does not hold"
    return "holds" if low <= one.low and one.high <= high else "not decided"


def _all(verdicts: list[Verdict], *, complete: bool) -> Verdict:
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if complete and all(one == "holds" for one in verdicts) else "not decided"


def _percent(one: Interval) -> str:
    spread = f" [{one.low:+.1%}, {one.high:+.1%}]" if one.count > 1 else " (one seed)"
    return f"{one.mean:+.1%}{spread}"
