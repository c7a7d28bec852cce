"""Figures that say where they come from, and how they are written for people."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["measured", "computed", "stated"]


@dataclass(frozen=True)
class Figure:
    """A number with its unit and its origin.

    Attributes:
        value: The number; of several measurements, their median.
        unit: "s", "J", "W" or "bytes".
        kind: Whether it was measured here, computed from others, or stated by the user.
        how: How it was measured or computed; empty for what was stated.
        low: The lower quartile of the measurements; None where there is one number alone.
        high: The upper quartile.

    Examples:
        >>> Figure(1.312, "J", "computed", "3.2 W × 0.41 s")
        1.312 J (computed: 3.2 W × 0.41 s)
    """

    value: float
    unit: str
    kind: Kind
    how: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def origin(self) -> str:
        """Where the number comes from, in a line."""
        return f"{self.kind}: {self.how}" if self.how else self.kind

    def __repr__(self) -> str:
        return f"{in_digits(self.value)} {self.unit} ({self.origin})"


@dataclass(frozen=True)
class Costs:
    """A figure for each kind of work of a node.

    Attributes:
        step: One step of training: one batch, with the weights loaded before and read after.
        training: One whole training: κ steps, one pass over the client's samples.
        probe: One forward pass of one batch.
        evaluation: One pass over the test set.
    """

    step: Figure
    training: Figure
    probe: Figure
    evaluation: Figure


def measured(values: Sequence[float], unit: str, how: str) -> Figure:
    """Returns the median of measurements, with their quartiles.

    Args:
        values: One or more.
        unit: Of each.
        how: What was measured, as in "median of 20".

    Examples:
        >>> figure = measured([3.0, 1.0, 2.0, 5.0, 4.0], "s", "median of 5")
        >>> figure.value, figure.low, figure.high
        (3.0, 2.0, 4.0)
    """
    low, middle, high = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    return Figure(middle, unit, "measured", how, low, high)


def in_digits(value: float) -> str:
    """Returns a number with four digits that count, or more where it is larger, without an exponent.

    Args:
        value: Any number.

    Examples:
        >>> in_digits(0.0041234), in_digits(3.2), in_digits(846_410), in_digits(0)
        ('0.004123', '3.2', '846,410', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
