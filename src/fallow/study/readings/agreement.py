"""Which combinations of readings agree with what the paper says of energy and age."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from fallow.study.grid import HARVESTS
from fallow.study.readings.spent import Key, Spent
from fallow.study.verdicts import NEAR, PAPER_SAVING

SLIGHTLY = 0.15
"""The most that 'slightly less' is, as a share of VAoI's energy."""


@dataclass(frozen=True)
class Standing:
    """The four policies at one p_bc, under one combination.

    Attributes:
        saving: What VAoI saves, as a share of FedAvg's energy.
        odd: By how much FedBacys-Odd is below VAoI, as a share of VAoI's energy.
        gap: By how much the thriftiest of the four is below the greediest, as a share of the latter.
        younger_delivered: By how many epochs VAoI's mean age is below the lowest of the others, where an update
            received resets an age.
        younger_selected: The same where being selected does.
    """

    saving: float
    odd: float
    gap: float
    younger_delivered: float
    younger_selected: float


@dataclass(frozen=True)
class Combination:
    """A reading of everything that touches energy.

    Attributes:
        starts: Most starts an epoch; 0 is no limit (reading 4).
        fedavg: "fedavg", everyone, or "random-k" (reading 17).
        fedbacys: Turns and grouping (reading 15).
        vaoi: Choice and reset (readings 5 and 7).
        significance: How likely a change is significant.
        at: The standing at each p_bc.
    """

    starts: int
    fedavg: str
    fedbacys: str
    vaoi: str
    significance: float
    at: dict[float, Standing]

    def __str__(self) -> str:
        starts = "one start an epoch" if self.starts == 1 else "any starts"
        fedavg = "everyone" if self.fedavg == "fedavg" else "k at random"
        return f"{self.fedbacys}; {self.vaoi}, {self.significance:g} significant; FedAvg {fedavg}; {starts}"


@dataclass(frozen=True)
class Statement:
    """What the paper says.

    Attributes:
        text: In words, with its tolerance.
        holds: Whether it holds in a standing; None if it speaks of all p_bc together.
        overall: Whether it holds of a combination as a whole.
    """

    text: str
    holds: Callable[[Standing], bool] | None
    overall: Callable[[Combination], bool]

    def at(self, combination: Combination, p: float) -> bool | None:
        """Returns whether it holds at one p_bc; None if it says nothing of one alone."""
        return None if self.holds is None else self.holds(combination.at[p])


def saves_as_printed(standing: Standing) -> bool:
    """Returns whether VAoI saves about 37 %."""
    return abs(standing.saving - PAPER_SAVING) <= NEAR


def odd_slightly_below(standing: Standing) -> bool:
    """Returns whether FedBacys-Odd uses less than VAoI, and only slightly."""
    return 0 < standing.odd <= SLIGHTLY


def _everywhere(holds: Callable[[Standing], bool]) -> Callable[[Combination], bool]:
    return lambda combination: all(holds(standing) for standing in combination.at.values())


def _saves_at_most(combination: Combination) -> bool:
    return saves_as_printed(max(combination.at.values(), key=lambda standing: standing.saving))


def _differ_most_at_one(combination: Combination) -> bool:
    return max(combination.at, key=lambda p: combination.at[p].gap) == max(combination.at)


STATEMENTS = (
    Statement(
        f"VAoI saves up to {PAPER_SAVING:.0%} against FedAvg (± {100 * NEAR:.0f} points)",
        saves_as_printed,
        _saves_at_most,
    ),
    Statement(
        f"FedBacys-Odd uses slightly less than VAoI (by {SLIGHTLY:.0%} at most)",
        odd_slightly_below,
        _everywhere(odd_slightly_below),
    ),
    Statement(
        "both of these",
        lambda standing: saves_as_printed(standing) and odd_slightly_below(standing),
        lambda combination: _saves_at_most(combination) and _everywhere(odd_slightly_below)(combination),
    ),
    Statement("policies differ most at p_bc = 1", None, _differ_most_at_one),
    Statement(
        "VAoI has the lowest mean age (an update received resets it)",
        lambda standing: standing.younger_delivered > 0,
        _everywhere(lambda standing: standing.younger_delivered > 0),
    ),
    Statement(
        "VAoI has the lowest mean age (being selected resets it)",
        lambda standing: standing.younger_selected > 0,
        _everywhere(lambda standing: standing.younger_selected > 0),
    ),
)


def combine(rows: Iterable[Spent]) -> list[Combination]:
    """Returns every combination of readings for which all runs are there.

    Args:
        rows: What each policy spent under each reading.
    """
    found = {(row.policy, row.reading, row.starts, row.significance, row.p): row for row in rows}
    choices = {name: sorted({row.reading for row in found.values() if row.policy == name}) for name in NAMES}
    others = product(
        sorted({row.starts for row in found.values()}),
        ("fedavg", "random-k"),
        choices["fedbacys-odd"],
        choices["vaoi"],
        sorted({row.significance for row in found.values()}),
    )
    return list(_complete(found, others))


NAMES = ("vaoi", "fedavg", "random-k", "fedbacys", "fedbacys-odd")


def _complete(found: dict[Key, Spent], readings: Iterable[tuple[int, str, str, str, float]]) -> Iterator[Combination]:
    for starts, fedavg, fedbacys, vaoi, significance in readings:
        named = {"vaoi": vaoi, fedavg: "", "fedbacys": fedbacys, "fedbacys-odd": fedbacys}
        keys = {p: [(*pair, starts, significance, p) for pair in named.items()] for p in HARVESTS}
        if all(key in found for own in keys.values() for key in own):
            at = {p: _standing(*(found[key] for key in own)) for p, own in keys.items()}
            yield Combination(starts, fedavg, fedbacys, vaoi, significance, at)


def _standing(vaoi: Spent, fedavg: Spent, fedbacys: Spent, odd: Spent) -> Standing:
    others = (fedavg, fedbacys, odd)
    energy = [vaoi.energy, *(other.energy for other in others)]
    return Standing(
        saving=1 - vaoi.energy / fedavg.energy if fedavg.energy else 0.0,
        odd=1 - odd.energy / vaoi.energy if vaoi.energy else 0.0,
        gap=1 - min(energy) / max(energy) if max(energy) else 0.0,
        younger_delivered=min(other.age_delivered for other in others) - vaoi.age_delivered,
        younger_selected=min(other.age_selected for other in others) - vaoi.age_selected,
    )
