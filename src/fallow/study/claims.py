"""The paper's claims as differences that it says are above zero, paired over common seeds."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite

from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.outcomes import TARGET, Cell, Outcome, Results, seeds_of

OTHERS = [policy for policy in POLICIES if policy != "vaoi"]
CELLS: list[Cell] = [(alpha, p) for alpha in ALPHAS for p in HARVESTS]
SCARCE: list[Cell] = [(0.1, 0.01), (0.1, 0.1)]

Measure = Callable[[Outcome], float]


@dataclass(frozen=True)
class Comparison:
    """A difference that a claim says is above zero.

    Attributes:
        cell: Where.
        words: What is subtracted from what.
        values: The difference in each seed.
    """

    cell: Cell
    words: str
    values: list[float]

    @property
    def testable(self) -> bool:
        """Whether there are seeds enough to test it."""
        return len(self.values) > 1


@dataclass(frozen=True)
class Question:
    """What the paper says, before it is decided.

    Attributes:
        text: What the paper says.
        comparisons: Those that were run.
        complete: Whether every comparison it speaks of was run, and could be made.
        notes: Why some could not be made.
    """

    text: str
    comparisons: list[Comparison]
    complete: bool
    notes: list[str] = field(default_factory=list)


def questions(results: Results) -> list[Question]:
    """Returns the claims that some differences are above zero.

    Args:
        results: The finished runs under one rule.
    """
    target = f"VAoI needs the least energy to come to an F1 of {TARGET:g} (data skewed, energy scarce)."
    return [
        _against_others(
            results,
            "F1 of VAoI is the best of the four where data is skewed (α = 0.1) and energy scarce (p_bc = 0.01, 0.1).",
            SCARCE,
            lambda run: run.late_f1,
        ),
        _against_others(results, target, SCARCE, lambda run: -run.energy_to_target, "units that {other} needs more"),
        _against_others(
            results,
            "VAoI keeps the lowest average version age (an update received resets it).",
            CELLS,
            lambda run: -run.age_delivered,
        ),
        _against_others(
            results,
            "VAoI keeps the lowest average version age (being selected resets it).",
            CELLS,
            lambda run: -run.age_selected,
        ),
        _gap_grows_with_harvest(results),
        _compare(results, "VAoI uses less energy than FedAvg.", _energy_pairs("fedavg", "vaoi")),
        _compare(results, "FedBacys-Odd uses slightly less energy than VAoI.", _energy_pairs("vaoi", "fedbacys-odd")),
    ]


def where(cell: Cell) -> str:
    """Returns a cell in words."""
    return f"α = {cell[0]:g}, p_bc = {cell[1]:g}"


def _against_others(
    results: Results, text: str, cells: list[Cell], measure: Measure, words: str = "VAoI's lead over {other}"
) -> Question:
    pairs = [(cell, words.format(other=NAMES[other]), "vaoi", other, measure) for cell in cells for other in OTHERS]
    return _compare(results, text, pairs)


def _energy_pairs(one: str, two: str) -> list[tuple[Cell, str, str, str, Measure]]:
    return [((0.1, p), f"{NAMES[one]} minus {NAMES[two]}, units", one, two, lambda run: run.energy) for p in HARVESTS]


def _compare(results: Results, text: str, pairs: list[tuple[Cell, str, str, str, Measure]]) -> Question:
    found, notes = [], []
    for cell, words, one, two, measure in pairs:
        values = [
            measure(results[cell, one, seed]) - measure(results[cell, two, seed])
            for seed in seeds_of(results, cell, one, two)
        ]
        if values and all(map(isfinite, values)):
            found.append(Comparison(cell, words, values))
        elif values:  # energy until a score that one of the two never came to
            notes.append(f"{where(cell)}: {words}: not both came to it in every seed")
    return Question(text, found, len(found) == len(pairs), notes)


def _gap_grows_with_harvest(results: Results) -> Question:
    gaps = {p: _gaps(results, (0.1, p)) for p in HARVESTS}
    most = max(HARVESTS)
    found = []
    for p in HARVESTS:
        common = gaps[p].keys() & gaps[most].keys()
        if p != most and common:
            values = [gaps[most][seed] - gaps[p][seed] for seed in sorted(common)]
            found.append(Comparison((0.1, p), f"gap at p_bc = {most:g} minus gap at {p:g}, shares", values))
    text = f"The differences in energy between policies are largest at p_bc = {most:g}."
    return Question(text, found, complete=len(found) == len(HARVESTS) - 1)


def _gaps(results: Results, cell: Cell) -> dict[int, float]:
    """Returns by how much the thriftiest is below the greediest, as a share of the latter, by seed."""
    gaps = {}
    for seed in seeds_of(results, cell, *POLICIES):
        energy = [results[cell, policy, seed].energy for policy in POLICIES]
        gaps[seed] = 1 - min(energy) / max(energy) if max(energy) else 0.0
    return gaps
