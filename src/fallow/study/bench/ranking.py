"""Who is better than whom: paired differences with intervals, and ranks over scenarios and seeds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fallow.study.bench.scores import F1, Score, values_by_seed
from fallow.study.intervals import Interval, paired


@dataclass(frozen=True)
class Difference:
    """What an entrant has more than another in a scenario.

    Attributes:
        scenario: Where.
        entrant: Who.
        other: Whose number is subtracted.
        interval: The mean difference over the seeds that both have, with its 95 % interval.
    """

    scenario: str
    entrant: str
    other: str
    interval: Interval


@dataclass(frozen=True)
class Rank:
    """The place of an entrant.

    Attributes:
        entrant: Who.
        mean: The mean rank over scenarios and seeds; 1 is the best.
        cells: Over how many scenarios and seeds.
    """

    entrant: str
    mean: float
    cells: int


def find_differences(
    scores: Sequence[Score], scenarios: Sequence[str], entrant: str, metric: str = F1
) -> list[Difference]:
    """Returns an entrant minus each other, in each scenario in which both have a seed in common.

    Args:
        scores: Of all runs.
        scenarios: Where to compare, in order.
        entrant: Who is compared.
        metric: The column.
    """
    others = [name for name in dict.fromkeys(score.entrant for score in scores) if name != entrant]
    found = []
    for scenario in scenarios:
        own = values_by_seed(scores, scenario, entrant, metric)
        for other in others:
            difference = paired(own, values_by_seed(scores, scenario, other, metric))
            if difference.count:
                found.append(Difference(scenario, entrant, other, difference))
    return found


def rank_entrants(scores: Iterable[Score], ranked: Sequence[str]) -> list[Rank]:
    """Returns the mean ranks by F1, the best first. Equal scores share the mean of their places.

    Args:
        scores: Of all runs.
        ranked: Who competes.
    """
    cells: dict[tuple[str, int], dict[str, float]] = {}
    for score in scores:
        if score.entrant in ranked and F1 in score.values:
            cells.setdefault((score.scenario, score.seed), {})[score.entrant] = score.values[F1]
    places: dict[str, list[float]] = {}
    for cell in cells.values():
        values = np.array(list(cell.values()))
        for name, value in cell.items():
            above, equal = np.count_nonzero(values > value), np.count_nonzero(values == value)
            places.setdefault(name, []).append(float(above + (equal + 1) / 2))
    found = [Rank(name, float(np.mean(own)), len(own)) for name, own in places.items()]
    return sorted(found, key=lambda rank: rank.mean)
