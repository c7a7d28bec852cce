"""The device profiles and radios that Fallow brings along, and profiles in files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fallow.energy.devices.figures import DEVICE_FIGURES, NO_ORIGIN, RADIO_FIGURES, Figure, read_figures
from fallow.errors import ConfigError
from fallow.plugins.wording import did_you_mean
from fallow.storage.reading import read_toml

DESCRIPTIVE = ("name", "line", "radio")
"""What a profile says in words."""


@dataclass(frozen=True)
class DeviceProfile:
    """A device in joules and seconds.

    Attributes:
        name: Its name.
        line: What it is, in a line.
        figures: Numbers by key, each with its origin; the keys are those of `DEVICE_FIGURES`.
        radio: The name of the radio that it usually has; empty where none is known.

    Examples:
        >>> find_profile("pi-zero-2w").figures["idle_watts"].value
        0.6
    """

    name: str
    line: str
    figures: Mapping[str, Figure]
    radio: str = ""


@dataclass(frozen=True)
class Radio:
    """What sending costs.

    Attributes:
        name: Its name.
        line: What it is, in a line.
        joules_per_bit: With its origin.
        bits_per_second: With its origin.

    Examples:
        >>> ble = find_radio("ble")
        >>> round(ble.joules(update_bytes=1000), 7), ble.seconds(update_bytes=1000)
        (0.0001152, 0.008)
    """

    name: str
    line: str
    joules_per_bit: Figure
    bits_per_second: Figure

    def joules(self, update_bytes: float) -> float:
        """Returns the joules of an upload.

        Args:
            update_bytes: How many bytes are sent.
        """
        return 8 * update_bytes * self.joules_per_bit.value

    def seconds(self, update_bytes: float) -> float:
        """Returns the seconds of an upload.

        Args:
            update_bytes: How many bytes are sent.
        """
        return 8 * update_bytes / self.bits_per_second.value


@cache
def list_profiles() -> dict[str, DeviceProfile]:
    """Returns the device profiles that Fallow brings along, by name."""
    return {name: _profile(name, table) for name, table in _library()["device"].items()}


@cache
def list_radios() -> dict[str, Radio]:
    """Returns the radios that Fallow brings along, by name."""
    radios = {}
    for name, table in _library()["radio"].items():
        numbers = {key: value for key, value in table.items() if key != "line"}
        radios[name] = Radio(name, table["line"], **read_figures(f"The radio '{name}'", numbers, RADIO_FIGURES))
    return radios


def find_profile(name: str) -> DeviceProfile:
    """Returns the profile of a name, or the one in a file.

    Args:
        name: As ``fallow list devices`` shows it, or the path of a TOML file, as ``fallow calibrate`` writes it.

    Raises:
        ConfigError: There is no such profile, or the file can't be used.
    """
    profiles = list_profiles()
    if name in profiles:
        return profiles[name]
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_profile(Path(name))
    raise ConfigError(f"There is no device profile '{name}'{did_you_mean(name, profiles)}")


def read_profile(path: Path) -> DeviceProfile:
    """Returns the profile in a file.

    Args:
        path: A TOML file with the keys of `DEVICE_FIGURES`, each with its origin under the same key with ``_origin``;
            and ``name``, ``line`` and ``radio``. What else stands in it is left alone.

    Raises:
        ConfigError: The file can't be read, holds none of the figures, or one is no number of at least 0.
    """
    table = read_toml(path, "The device profile", ConfigError)
    profile = _profile(str(table.get("name", path.stem)), table, what=f"The device profile {path}", strict=False)
    if not profile.figures:
        raise ConfigError(f"The device profile {path} states none of {', '.join(DEVICE_FIGURES)}.")
    return profile


def find_radio(name: str) -> Radio:
    """Returns the radio of a name.

    Args:
        name: As ``fallow list radios`` shows it.

    Raises:
        ConfigError: There is no such radio.
    """
    radios = list_radios()
    if name not in radios:
        raise ConfigError(f"There is no radio '{name}'{did_you_mean(name, radios)}")
    return radios[name]


def describe_profile(profile: DeviceProfile) -> str:
    """Returns a profile in words: what it is, and its figures with where each comes from.

    Args:
        profile: A profile.
    """
    words = [f"{key} = {figure.value:g} ({figure.origin})" for key, figure in profile.figures.items()]
    return f"{profile.line} Radio: {profile.radio or 'none'}. " + "; ".join(words) + "."


def describe_radio(radio: Radio) -> str:
    """Returns a radio in words: what it is, and its figures with where each comes from.

    Args:
        radio: A radio.
    """
    figures = (("joules_per_bit", radio.joules_per_bit), ("bits_per_second", radio.bits_per_second))
    words = [f"{key} = {figure.value:g} ({figure.origin})" for key, figure in figures]
    return f"{radio.line} " + "; ".join(words) + "."


def _profile(name: str, table: Mapping[str, Any], what: str = "", *, strict: bool = True) -> DeviceProfile:
    what = what or f"The device profile '{name}'"
    for key in DESCRIPTIVE:
        if not isinstance(table.get(key, ""), str):
            raise ConfigError(f"{what} has {key} = {table[key]!r}; it must be a text.")
    known = {key: value for key, value in table.items() if key.removesuffix("_origin") in DEVICE_FIGURES or strict}
    numbers = {key: value for key, value in known.items() if key not in DESCRIPTIVE}
    line = str(table.get("line", f"As measured or stated in {name}."))
    radio = str(table.get("radio", ""))
    if radio:
        find_radio(radio)
    return DeviceProfile(name, line, read_figures(what, numbers, DEVICE_FIGURES), radio)


@cache
def _library() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(files("fallow.energy.devices").joinpath("library.toml").read_text(encoding="utf-8"))


__all__ = [
    "NO_ORIGIN",
    "DeviceProfile",
    "Radio",
    "describe_profile",
    "describe_radio",
    "find_profile",
    "find_radio",
    "list_profiles",
    "list_radios",
    "read_profile",
]
