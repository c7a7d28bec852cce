"""Series for the page: few enough points, and digits that the eye can use."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.reports.runs import ReportedRun

MOST_POINTS = 300
"""Points of a series on the page; a longer one is thinned evenly."""

DIGITS = 5
"""Significant digits on the page."""


def thin(length: int, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Returns which points of a line to keep: all, or evenly spaced ones with the first and the last.

    Args:
        length: How many points there are.
        most: How many may be kept.

    Returns:
        Their places, shape (kept,), intp.
    """
    if length <= most:
        return np.arange(length)
    return np.linspace(0, length - 1, most).round().astype(np.intp)


def as_numbers(values: NDArray[Any] | Sequence[float]) -> list[int | float | None]:
    """Returns numbers as short JSON: significant digits only, whole numbers without a point, nan as null.

    Args:
        values: Shape (n,), of any type of numbers.
    """
    return [_short(float(value)) for value in values]


def _short(value: float) -> int | float | None:
    if not np.isfinite(value):
        return None
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.{DIGITS}g}")


def age_series(run: ReportedRun) -> dict[str, list[int | float | None]] | None:
    """Returns the mean version ages of a run by epoch; None where they were not measured.

    Args:
        run: A finished run.
    """
    if not run.has_ages:
        return None
    kept = thin(len(run.epochs["stored"]))
    return {
        "epoch": as_numbers(kept),
        "delivered": as_numbers(run.epochs["mean_age_delivered"][kept]),
        "selected": as_numbers(run.epochs["mean_age_selected"][kept]),
    }


def score_series(run: ReportedRun) -> dict[str, list[int | float | None]] | None:
    """Returns F1 with the epoch and the energy spent until then; None in an energy-only run.

    Args:
        run: A finished run.
    """
    if not run.learns:
        return None
    measured = np.flatnonzero(~np.isnan(run.epochs["f1"]))
    kept = measured[thin(len(measured))]
    return {
        "epoch": as_numbers(kept),
        "energy": as_numbers(run.epochs["energy_total"][kept]),
        "f1": as_numbers(run.epochs["f1"][kept]),
    }


def band(curves: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], points: int = 200) -> NDArray[np.float64]:
    """Returns the mean, minimum and maximum of some curves, wherever all of them have values.

    Args:
        curves: x and y of each; x never falls.
        points: Points of the result where the curves do not share their x.

    Returns:
        Shape (4, points), float64: x, mean, minimum, maximum.
    """
    x = curves[0][0]
    if all(np.array_equal(x, other) for other, _ in curves):
        ys = np.stack([y for _, y in curves])
    else:
        end = min(xs[-1] for xs, _ in curves)
        x = np.linspace(min(max(xs[0] for xs, _ in curves), end), end, points)
        ys = np.stack([np.interp(x, xs, y) for xs, y in curves])
    return np.stack([x, ys.mean(axis=0), ys.min(axis=0), ys.max(axis=0)])
