"""A node's device from a profile and a radio: what the user states goes first, then what the profile states."""

from collections.abc import Mapping
from typing import Any

from fallow.energy.devices import DeviceProfile, find_profile, find_radio

FROM_PROFILE = ("train_joules", "train_seconds", "idle_watts", "capacity_joules", "update_bytes")
"""Figures of a profile that are settings of a node under the same names."""


def resolve_device(given: Any) -> Any:
    """Returns the section ``device`` with the figures of its profile and its radio filled in.

    Args:
        given: The section, or the name of a profile alone.

    Returns:
        The section with more numbers in it; anything else as it is, for the check of the settings to refuse.

    Raises:
        ConfigError: There is no such profile or radio.

    Examples:
        >>> device = resolve_device({"profile": "pi-zero-2w", "train_seconds": 60.0, "update_bytes": 1000.0})
        >>> device["idle_watts"], device["train_joules"]
        (0.6, 120.0)
    """
    table = {"profile": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping):
        return given
    device = dict(table)
    profile = find_profile(device["profile"]) if isinstance(device.get("profile"), str) and device["profile"] else None
    if profile is not None:
        _fill_in(device, profile)
    name, size = device.get("radio"), device.get("update_bytes")
    if isinstance(name, str) and name:
        radio = find_radio(name)
        if isinstance(size, int | float) and not isinstance(size, bool):
            device.setdefault("transmit_joules", radio.joules(size))
            device.setdefault("transmit_seconds", radio.seconds(size))
    return device


def _fill_in(device: dict[str, Any], profile: DeviceProfile) -> None:
    """Adds what a profile states. A training's joules may follow from its seconds and the power while it trains."""
    figures = {key: figure.value for key, figure in profile.figures.items()}
    for key in FROM_PROFILE:
        if key in figures:
            device.setdefault(key, figures[key])
    if profile.radio:
        device.setdefault("radio", profile.radio)
    seconds = device.get("train_seconds")
    if "active_watts" in figures and isinstance(seconds, int | float) and seconds > 0:
        device.setdefault("train_joules", figures["active_watts"] * seconds)
