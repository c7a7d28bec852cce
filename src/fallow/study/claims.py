"""The paper's claims, one by one, with our figures and what they decide. Differences are paired over common seeds."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.intervals import Interval, Verdict, all_positive, interval, paired
from fallow.study.results import Cell, Results, Series, seeds_of

PAPER_SAVING = 0.37
SMALL = 0.01
"""A share of the energy below which α does not change it."""

OTHERS = [policy for policy in POLICIES if policy != "vaoi"]


@dataclass(frozen=True)
class Claim:
    """A claim and its evidence.

    Attributes:
        text: What the paper says.
        verdict: What our runs decide.
        evidence: Lines of figures.
    """

    text: str
    verdict: Verdict
    evidence: list[str] = field(default_factory=list)


def judge(results: Results, features: int, parameters: int) -> list[Claim]:
    """Returns every claim with its verdict.

    Args:
        results: The finished runs.
        features: Numbers in a feature, F.
        parameters: Numbers in a model, P.
    """
    return [
        best_f1(results),
        lowest_age(results),
        energy_ignores_alpha(results),
        gap_grows_with_harvest(results),
        vaoi_saves(results),
        saving_is_37_percent(results),
        odd_uses_slightly_less(results),
        Claim(
            "The feature distance needs one forward pass; the distance between parameters needs the whole model.",
            "holds",
            [f"a client keeps {features:,} numbers for the one and {parameters:,} for the other"],
        ),
    ]


def difference(
    results: Results, cell: Cell, one: str, other: str, measure: Callable[[Series], float]
) -> Interval | None:
    """Returns the difference of two policies in a cell over the seeds that both have; None if there are none.

    Args:
        results: All finished runs.
        cell: Where to compare.
        one: A policy.
        other: The policy that is subtracted.
        measure: Returns the number of a run that is compared.
    """
    ones, others = (
        {seed: measure(results[cell, policy, seed]) for seed in seeds_of(results, cell, policy)}
        for policy in (one, other)
    )
    found = paired(ones, others)
    return found if found.count else None


def best_f1(results: Results) -> Claim:
    """Judges claim 1: VAoI is the best of the four where data is skewed and energy scarce."""
    text = "F1 of VAoI is the best of the four where data is skewed (α = 0.1) and energy scarce (p_bc = 0.01, 0.1)."
    return _against_others(results, text, [(0.1, 0.01), (0.1, 0.1)], Series.late_f1, sign=1)


def lowest_age(results: Results) -> Claim:
    """Judges claim 2: VAoI has the lowest average version age."""
    text = "VAoI keeps the lowest average version age (here: an update received resets it)."
    cells = [(alpha, p) for alpha in ALPHAS for p in HARVESTS]
    return _against_others(results, text, cells, Series.age, sign=-1)


def energy_ignores_alpha(results: Results) -> Claim:
    """Judges claim 3: α does not change the energy used."""
    evidence, largest, complete = [], 0.0, True
    for policy in POLICIES:
        for p in HARVESTS:
            energy = [_mean_energy(results, (alpha, p), policy) for alpha in ALPHAS]
            if None in energy:
                complete = False
                continue
            values = np.array(energy, dtype=np.float64)
            change = float((values.max() - values.min()) / values.max()) if values.max() else 0.0
            largest = max(largest, change)
            evidence.append(f"{NAMES[policy]}, p_bc = {p:g}: changes by {change:.1%} over α")
    verdict: Verdict = "does not hold" if largest >= SMALL else "holds" if complete else "not decided"
    return Claim("The heterogeneity α does not change the energy used.", verdict, evidence)


def gap_grows_with_harvest(results: Results) -> Claim:
    """Judges claim 3, second half: the differences between policies are largest at p_bc = 1."""
    gaps: dict[float, float] = {}
    for p in HARVESTS:
        energy = [_mean_energy(results, (0.1, p), policy) for policy in POLICIES]
        if None not in energy and max(e for e in energy if e is not None) > 0:
            values = np.array(energy, dtype=np.float64)
            gaps[p] = float((values.max() - values.min()) / values.max())
    complete = len(gaps) == len(HARVESTS)
    verdict: Verdict = (
        "not decided" if not complete else "holds" if max(gaps, key=lambda p: gaps[p]) == 1.0 else "does not hold"
    )
    evidence = [f"p_bc = {p:g}: the thriftiest uses {gap:.0%} less than the greediest" for p, gap in gaps.items()]
    return Claim("The differences in energy between policies are largest at p_bc = 1.", verdict, evidence)


def vaoi_saves(results: Results) -> Claim:
    """Judges claim 4: VAoI uses less energy than FedAvg."""
    savings = {p: _saving(results, p) for p in HARVESTS}
    evidence = [f"α = 0.1, p_bc = {p:g}: saves {s.mean:.1%} {_range(s)}" for p, s in savings.items() if s is not None]
    found = [s for s in savings.values() if s is not None]
    verdict = _decided(found, complete=len(found) == len(HARVESTS))
    return Claim("VAoI uses less energy than FedAvg.", verdict, evidence)


def saving_is_37_percent(results: Results) -> Claim:
    """Judges claim 4, its figure: the largest saving is 37 %."""
    found = [s for s in (_saving(results, p) for p in HARVESTS) if s is not None]
    text = "The saving is up to 37 %."
    if len(found) < len(HARVESTS):
        return Claim(text, "not decided", ["not every cell has been run"])
    best = max(found, key=lambda s: s.mean)
    evidence = [f"the paper: up to 37 %; here: up to {best.mean:.0%} {_range(best)}"]
    if best.count < 2:
        return Claim(text, "not decided", evidence)
    return Claim(text, "holds" if best.low <= PAPER_SAVING <= best.high else "does not hold", evidence)


def odd_uses_slightly_less(results: Results) -> Claim:
    """Judges claim 4, second half: FedBacys-Odd uses slightly less energy than VAoI."""
    found = {p: difference(results, (0.1, p), "vaoi", "fedbacys-odd", Series.energy) for p in HARVESTS}
    evidence = [f"p_bc = {p:g}: VAoI minus FedBacys-Odd, units: {one}" for p, one in found.items() if one is not None]
    have = [one for one in found.values() if one is not None]
    verdict = _decided(have, complete=len(have) == len(HARVESTS))
    return Claim("FedBacys-Odd uses slightly less energy than VAoI.", verdict, evidence)


def _against_others(
    results: Results, text: str, cells: list[Cell], measure: Callable[[Series], float], *, sign: int
) -> Claim:
    evidence, intervals, complete = [], [], True
    for cell in cells:
        for other in OTHERS:
            one, two = ("vaoi", other) if sign > 0 else (other, "vaoi")
            found = difference(results, cell, one, two, measure)
            if found is None:
                complete = False
                continue
            intervals.append(found)
            evidence.append(f"α = {cell[0]:g}, p_bc = {cell[1]:g}: {NAMES[one]} minus {NAMES[two]}: {found}")
    return Claim(text, _decided(intervals, complete=complete), evidence)


def _decided(intervals: list[Interval], *, complete: bool) -> Verdict:
    """Decides a claim about many cells: one of them is enough to refute it, and only all of them can confirm it."""
    verdict = all_positive(intervals)
    return "not decided" if verdict == "holds" and not complete else verdict


def _mean_energy(results: Results, cell: Cell, policy: str) -> float | None:
    seeds = seeds_of(results, cell, policy)
    return float(np.mean([results[cell, policy, seed].energy() for seed in seeds])) if seeds else None


def _saving(results: Results, p: float) -> Interval | None:
    cell = (0.1, p)
    seeds = seeds_of(results, cell, "vaoi", "fedavg")
    spent = [(results[cell, "vaoi", seed].energy(), results[cell, "fedavg", seed].energy()) for seed in seeds]
    shares = [1 - vaoi / fedavg for vaoi, fedavg in spent if fedavg]
    return interval(shares) if shares else None


def _range(share: Interval) -> str:
    return f"[{share.low:.1%}, {share.high:.1%}]" if share.count > 1 else "(one seed)"
