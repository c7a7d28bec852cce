"""The check of a node's battery: its numbers, what it reads, and what it lives through in a few epochs.

A config names no battery: `fallow.flower.client_app` takes the object. So the check takes ``module:attribute`` of an
object, or of a function without parameters that returns one; or of a meter, a function that returns the level.
"""

from numbers import Real
from types import FunctionType
from typing import Any

from fallow.conformance.sentences import first_problem
from fallow.errors import PluginError
from fallow.flower.batteries import Battery, Event, Metered, OpenBattery, Reading
from fallow.plugins.calls import blamed, call
from fallow.plugins.returned import plain_number
from fallow.state import to_arrays

EPOCHS = 3
MOST = 2**31 - 1
"""Units are counted in 32 bits."""
KINDS = ("start", "finish", "upload")


def check_battery(battery: Any) -> list[str]:
    """Returns what is wrong with a battery, in a sentence; an empty list if nothing is.

    A battery that waits for its next slot by the clock is waited for.

    Args:
        battery: The battery; a function that returns one; or a meter, a function that returns the level.

    Examples:
        >>> from fallow.flower.batteries import Metered
        >>> check_battery(Metered(lambda: 60.0))
        []
    """
    return first_problem(lambda: _check(battery))


def _check(given: Any) -> None:
    part = f"The battery '{given.__name__ if isinstance(given, FunctionType) else type(given).__name__}'"
    battery: Battery = given if "open" in dir(given) else _made(part, given)
    with blamed(part, "its numbers"):
        numbers = _numbers(battery)
    for name, number in numbers.items():
        plain_number(f"{name} of {part[0].lower()}{part[1:]}", number, 0 if name == "transmit_cost" else 1, MOST)
    opened: OpenBattery = call(part, "open", battery.open, None, probes=True, ideal=False)
    for epoch in range(EPOCHS):
        _live(part, opened, epoch, numbers["capacity"])
        with blamed(part, "state"):
            kept = _kept(opened)
        opened = call(part, "open, after a restart", battery.open, kept, probes=True, ideal=False)


def _numbers(battery: Battery) -> dict[str, int]:
    return {
        "capacity": battery.capacity,
        "train_cost": battery.train_cost,
        "transmit_cost": battery.transmit_cost,
        "slots_per_epoch": battery.slots_per_epoch,
    }


def _kept(opened: OpenBattery) -> Any:
    """Returns what a battery keeps over a restart, after a check that it can be kept."""
    to_arrays(opened.state)
    return opened.state


def _made(part: str, given: Any) -> Battery:
    """Returns the battery that a function returns, or one that is read by it, if it returns a level."""
    if not callable(given):
        raise PluginError(f"{part} is no battery: it has no method open, and can't be called.")
    answer = call(part, "its call", given)
    if isinstance(answer, Real):
        plain_number(f"The level that {part[0].lower()}{part[1:]} reads", answer, 0, MOST)
        return Metered(given)
    if "open" not in dir(answer):
        raise PluginError(
            f"{part} returned a {type(answer).__name__}; it must return a battery, such as Metered(…), or a level."
        )
    battery: Battery = answer
    return battery


def _live(part: str, opened: OpenBattery, epoch: int, capacity: int) -> None:
    """Raises an error if an epoch of a battery is not what a node can use."""
    with blamed(part, "catch_up"):
        list(opened.catch_up(epoch))
    readings = [call(part, "look", opened.look, epoch) for _ in range(2)]
    for reading in readings:
        if not isinstance(reading, Reading):
            raise PluginError(f"{part} returned a {type(reading).__name__} from look; it must return a Reading.")
        plain_number(f"The level that {part[0].lower()}{part[1:]} reads", reading.units, 0, capacity)
    with blamed(part, "live"):
        events = list(opened.live(epoch, None, selected=epoch == 1))
    for event in events:
        if not isinstance(event, Event) or event.kind not in KINDS:
            raise PluginError(f"{part} gave {event!r} in live; it must give events of the kinds {', '.join(KINDS)}.")
    started = sum(event.kind == "start" for event in events)
    if started and epoch != 1:
        raise PluginError(f"{part} started a training in an epoch in which its client was not selected.")
