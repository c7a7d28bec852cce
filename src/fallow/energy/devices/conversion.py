"""From joules, watts and seconds to units and slots: costs are rounded up, what a battery holds is rounded down."""

import math
from collections.abc import Mapping
from typing import Final

from fallow.energy.base import MOST_UNITS
from fallow.energy.scale import Scale
from fallow.errors import ConfigError

DIGITS: Final = 12
"""Significant digits of a quotient before it is rounded, so that 1.1 J at 0.1 J a unit are 11 units and not 12."""

JOULES: Final = {
    f"{key}_joules": key
    for key in ("train", "transmit", "probe", "listen", "download", "cutoff", "wake", "capacity", "initial")
}
"""Energies in joules, with the key of each in units."""

SECONDS: Final = {"train_seconds": "train_slots", "transmit_seconds": "transmit_slots"}
"""Times in seconds, with the key of each in slots."""

WATTS: Final = {"idle_watts": "idle"}
"""Powers in watts, with the key of each in units a slot."""

IN_UNITS: Final = JOULES | SECONDS | WATTS
"""Every key in joules, seconds or watts, with its key in units or slots."""

HELD: Final = ("capacity", "initial")
"""What a battery holds: it is rounded down."""


def as_units(physical: Mapping[str, float], scale: Scale, what: str) -> dict[str, int | float]:
    """Returns joules, seconds and watts as units, slots, and units a slot.

    Args:
        physical: Numbers by the keys of `IN_UNITS`.
        scale: Of the run.
        what: Whose numbers they are, as the subject of an error sentence.

    Raises:
        ConfigError: The scale is not stated, or a number comes to more units than there can be.

    Examples:
        >>> as_units({"train_joules": 1.25, "train_seconds": 61, "capacity_joules": 9.99}, Scale(60.0, 0.5), "It")
        {'train': 3, 'train_slots': 2, 'capacity': 19}
    """
    if physical and not scale.stated:
        pair = (("slot_seconds", scale.slot_seconds), ("unit_joules", scale.unit_joules))
        missing = " and ".join(name for name, value in pair if not value > 0)
        raise ConfigError(
            f"{what} is in joules and seconds, and {missing} {'are' if ' ' in missing else 'is'} not stated; set the "
            "seconds of a slot and the joules of a unit."
        )
    units: dict[str, int | float] = {}
    for key, value in physical.items():
        name = IN_UNITS[key]
        if key in WATTS:
            units[name] = _quotient(value * scale.slot_seconds, scale.unit_joules)
        elif key in SECONDS:
            units[name] = max(1, math.ceil(_quotient(value, scale.slot_seconds)))
        else:
            number = _quotient(value, scale.unit_joules)
            units[name] = math.floor(number) if name in HELD else math.ceil(number)
        if units[name] > MOST_UNITS:
            of_what, larger = ("slots", "slot_seconds") if key in SECONDS else ("units", "unit_joules")
            raise ConfigError(
                f"{what} has {key} = {value:g}, which is {units[name]:.3g} {of_what}, and there may be {MOST_UNITS} at "
                f"most; raise {larger}."
            )
    return units


def _quotient(value: float, unit: float) -> float:
    return float(f"{value / unit:.{DIGITS}g}")
