"""Means and standard deviations that are NaN where there is nothing to average."""

from collections.abc import Sequence

import numpy as np


def mean_of(values: Sequence[float]) -> float:
    """Returns the mean; NaN without values.

    Args:
        values: One for each run.
    """
    return float(np.mean(values)) if values else float("nan")


def deviation_of(values: Sequence[float]) -> float:
    """Returns the standard deviation over a sample; NaN with fewer than two values.

    Args:
        values: One for each run.
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
