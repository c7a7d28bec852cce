"""Some slots of some clients: what each does, what it harvests and what its battery holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.devices.classes import over_clients
from fallow.errors import FallowError
from fallow.plugins.nested import nested
from fallow.reports.activity import Events
from fallow.reports.harvests import Files
from fallow.reports.replay import build_physics, live_again
from fallow.reports.runs import ReportedRun
from fallow.runs.event_table import KINDS
from fallow.simulation.world import World

WINDOW_EPOCHS, WINDOW_CLIENTS = 6, 12
NO_FILES: Files = {}
IDLE, TRAINING, WAITING, SENDING, ASLEEP = "01234"
NEXT = {"start": TRAINING, "finish": WAITING, "upload": IDLE}
"""What follows an event."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """What a replay tells of some clients in a stretch of slots.

    Attributes:
        battery: Units at the end of each slot, shape (clients, slots), int64.
        harvest: Units harvested in each slot, before any loss, shape (clients, slots), int64.
        asleep: Who sleeps in which slot, shape (clients, slots), bool.
        capacity: E_max of each of them.
    """

    battery: NDArray[np.int64]
    harvest: NDArray[np.int64]
    asleep: NDArray[np.bool_]
    capacity: list[int]


@dataclass(frozen=True, eq=False)
class Window:
    """The part of a run that a timeline shows.

    Attributes:
        first_epoch: Where it begins.
        slots_per_epoch: S.
        clients: Who is shown.
        states: For each of them a letter a slot: idle, training, waiting to send, sending, asleep.
        selected: For each of them the epochs of the window in which it was selected, counted from its first.
        stretch: Batteries and harvest; None where they can't be known.
        why_no_battery: A sentence; empty where the batteries are known.
    """

    first_epoch: int
    slots_per_epoch: int
    clients: list[int]
    states: list[str]
    selected: list[list[int]]
    stretch: Stretch | None
    why_no_battery: str


def choose_window(starts: Events, epochs: int, most_epochs: int) -> tuple[int, int]:
    """Returns the first epoch, and the one after the last, of the earliest window in which enough clients start.

    Args:
        starts: The trainings started.
        epochs: T.
        most_epochs: The window ends before this epoch.
    """
    length = min(WINDOW_EPOCHS, epochs, most_epochs)
    best, first = -1, 0
    for begin in range(min(epochs, most_epochs) - length + 1):
        low, high = np.searchsorted(starts.epoch, [begin, begin + length])
        active = min(len(np.unique(starts.client[low:high])), WINDOW_CLIENTS)
        if active > best:
            best, first = active, begin
        if active == WINDOW_CLIENTS:
            break
    return first, first + length


def choose_clients(starts: Events, window: tuple[int, int], clients: int) -> list[int]:
    """Returns the clients that start in a window (first epoch, the one after the last), then others if they are few."""
    low, high = np.searchsorted(starts.epoch, window)
    active = np.unique(starts.client[low:high])[:WINDOW_CLIENTS].tolist()
    others = [client for client in range(min(clients, 2 * WINDOW_CLIENTS)) if client not in active]
    return sorted((active + others)[: min(WINDOW_CLIENTS, clients)])


def make_window(
    run: ReportedRun, events: Events, window: tuple[int, int], clients: list[int], files: Files = NO_FILES
) -> Window:
    """Returns the timeline of some clients.

    Args:
        run: The run.
        events: All its events before the window's end, and the uploads that begin before it.
        window: First epoch, and the one after the last.
        clients: Whom to show.
        files: What a harvest may be read from.
    """
    slots = run.settings["slots_per_epoch"]
    stretch, why = None, ""
    try:
        stretch = replay(run, events, window, clients, files)
    except FallowError as error:
        why = str(error)
    selects = events.of("select")[events.of("select").epoch < window[1]]
    chosen = [selects.epoch[(selects.client == client) & (selects.epoch >= window[0])] for client in clients]
    sending = upload_slots(run)
    states = [_states(events, one, window[0] * slots, window[1] * slots, int(sending[one])) for one in clients]
    if stretch is not None:
        states = [_with_sleep(own, asleep) for own, asleep in zip(states, stretch.asleep, strict=True)]
    return Window(
        first_epoch=window[0],
        slots_per_epoch=slots,
        clients=clients,
        states=states,
        selected=[(epochs - window[0]).tolist() for epochs in chosen],
        stretch=stretch,
        why_no_battery=why,
    )


def upload_slots(run: ReportedRun) -> NDArray[np.int32]:
    """Returns the slots of an upload of each client, shape (N,), int32."""
    given = {"cost": {}, "battery": {}} | nested(run.settings)
    slots = over_clients(given)["cost"].get("transmit_slots", 1)
    return per_client("cost.transmit_slots", slots, run.settings["clients"], np.int32)


def replay(
    run: ReportedRun, events: Events, window: tuple[int, int], clients: Sequence[int], files: Files = NO_FILES
) -> Stretch:
    """Lives through a run again until a window's end, and returns what its batteries did in the window.

    Args:
        run: A finished run with events.
        events: Its selections and starts.
        window: The first epoch, and the one after the last.
        clients: Whose batteries are returned.
        files: What a harvest may be read from.

    Raises:
        FallowError: The harvest can't be had again, or the replay differs from what the run recorded.
    """
    levels: list[NDArray[np.int32]] = []
    gains: list[NDArray[Any]] = []
    sleeping: list[NDArray[np.bool_]] = []
    who = np.asarray(clients)

    def keep(_slot: int, world: World, harvested: NDArray[Any]) -> None:
        levels.append(world.state.battery[who])
        gains.append(harvested[who])
        sleeping.append(np.broadcast_to(world.state.asleep, world.physics.clients)[who])

    live_again(run, events, files, range(*window), keep)
    return Stretch(
        battery=np.stack(levels, axis=1).astype(np.int64),
        harvest=np.stack(gains, axis=1).astype(np.int64),
        asleep=np.stack(sleeping, axis=1),
        capacity=build_physics(run).capacity[who].tolist(),
    )


def _states(events: Events, client: int, first: int, end: int, sending: int) -> str:
    """Returns what a client does in each slot of a window, a letter a slot; an upload fills so many slots."""
    own = events.client == client
    states = [IDLE] * (end - first)

    def fill(letter: str, since: int, until: int) -> None:
        for place in range(max(since, first), min(until, end)):
            states[place - first] = letter

    state, since = IDLE, 0
    for kind, slot in zip(events.kind[own].tolist(), events.slot[own].tolist(), strict=True):
        name = KINDS[kind]
        if name not in NEXT or (slot >= end and name != "upload"):
            continue
        begin = slot + 1 if name == "finish" else slot  # the slot of the last batch is a slot of training
        fill(state, since, begin)
        state, since = NEXT[name], begin
        if name == "upload":  # it is received in the last of its slots
            fill(SENDING, slot + 1 - sending, slot + 1)
            since = slot + 1
    fill(state, since, end)
    return "".join(states)


def _with_sleep(states: str, asleep: NDArray[np.bool_]) -> str:
    """Returns states in which who neither trains nor sends may be asleep."""
    pairs = zip(states, asleep.tolist(), strict=True)
    return "".join(ASLEEP if sleeps and state in (IDLE, WAITING) else state for state, sleeps in pairs)
