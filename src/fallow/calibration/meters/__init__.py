"""Energy counters and power meters by name. A new one is one file here and one line in the table."""

from collections.abc import Callable
from pathlib import Path

from fallow.calibration.meters.base import Counter, Meter, MeterError, PowerMeter
from fallow.calibration.meters.ina3221 import find_ina3221
from fallow.calibration.meters.pmic import find_pmic
from fallow.calibration.meters.power_supply import find_battery
from fallow.calibration.meters.rapl import find_rapl
from fallow.errors import ConfigError
from fallow.plugins.wording import did_you_mean

AUTO, NONE = "auto", "none"

METERS: dict[str, Callable[[Path, str], Meter | None]] = {
    "ina3221": lambda sysfs, _: find_ina3221(sysfs),
    "pmic": lambda _, vcgencmd: find_pmic(vcgencmd),
    "rapl": lambda sysfs, _: find_rapl(sysfs),
    "battery": lambda sysfs, _: find_battery(sysfs),
}
"""From (sysfs, vcgencmd) to a meter, or None where there is none; in the order in which they are looked for."""


def find_meter(name: str, sysfs: Path, vcgencmd: str) -> tuple[Meter | None, list[str]]:
    """Returns the meter of a name, or the first that answers, and a sentence on each that is there and does not.

    Args:
        name: A key of METERS, "auto" for the first that answers, or "none".
        sysfs: Where Linux shows its devices, usually ``/sys``.
        vcgencmd: The command that asks a Raspberry Pi.

    Raises:
        ConfigError: There is no such meter, or not on this machine.
        MeterError: The meter that was named does not answer.

    Examples:
        >>> find_meter("none", Path("/sys"), "vcgencmd")
        (None, [])
    """
    if name == NONE:
        return None, []
    if name != AUTO:
        if name not in METERS:
            raise ConfigError(f"There is no meter '{name}'{did_you_mean(name, [AUTO, NONE, *METERS])}")
        found = METERS[name](sysfs, vcgencmd)
        if found is None:
            raise ConfigError(
                f"There is no {name} on this machine; leave the meter (--meter) at auto, or state watts (--watts)."
            )
        return found, []
    silent: list[str] = []
    for find in METERS.values():
        try:
            found = find(sysfs, vcgencmd)
        except MeterError as error:
            silent.append(str(error))
        else:
            if found is not None:
                return found, silent
    return None, silent


__all__ = ["AUTO", "METERS", "NONE", "Counter", "Meter", "MeterError", "PowerMeter", "find_meter"]
