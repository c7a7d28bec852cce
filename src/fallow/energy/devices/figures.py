"""Figures in joules, watts, seconds, bytes and bits, each with where it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.wording import did_you_mean

ORIGIN = "_origin"
"""What follows a figure's key in the key of its origin."""

NO_ORIGIN = "stated"
"""The origin of a figure whose profile gives none."""

DEVICE_FIGURES = {
    "train_joules": "joules of one training: one pass over the client's samples",
    "train_seconds": "seconds of one training",
    "probe_joules": "joules of one probe",
    "probe_seconds": "seconds of one probe",
    "update_bytes": "bytes of one update",
    "idle_watts": "watts of a device that is awake, whatever it does",
    "active_watts": "watts while it trains",
    "flops_per_second": "floating-point operations a second that training gets",
    "capacity_joules": "joules that the battery holds",
}
"""What a device profile may state, in words."""

RADIO_FIGURES = {
    "joules_per_bit": "joules of one bit that is sent",
    "bits_per_second": "bits a second",
}
"""What a radio states, in words."""


@dataclass(frozen=True)
class Figure:
    """A number and where it comes from.

    Attributes:
        value: The number, in the unit that its key names.
        origin: Its source; or "estimated", or how it was measured, with the arithmetic.
    """

    value: float
    origin: str = NO_ORIGIN


def read_figures(what: str, table: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Figure]:
    """Returns the figures of a flat table, by key.

    Args:
        what: Whose table it is, as the subject of an error sentence.
        table: Numbers by key; the origin of each under the same key with ``_origin``.
        known: The keys of numbers that there are.

    Raises:
        ConfigError: A key is unknown, or a value is no number of at least 0.

    Examples:
        >>> read_figures("The profile 'mine'", {"idle_watts": 0.6, "idle_watts_origin": "measured"}, DEVICE_FIGURES)
        {'idle_watts': Figure(value=0.6, origin='measured')}
    """
    figures = {}
    for key, value in table.items():
        if key.removesuffix(ORIGIN) not in known:
            raise ConfigError(f"{what} has no figure '{key}'{did_you_mean(key, known)}")
        if key.endswith(ORIGIN):
            if not isinstance(value, str):
                raise ConfigError(f"{what} has {key} = {value!r}; it must be a text.")
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ConfigError(f"{what} has {key} = {value!r}; it must be a number of at least 0.")
        figures[key] = Figure(float(value), str(table.get(key + ORIGIN, NO_ORIGIN)))
    return figures
