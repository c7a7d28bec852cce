"""Some slots of some clients: what each does, what it harvests and what its battery holds.

A run records no batteries. But the harvest is a function of the settings and the seed, so a world that is told whom
to select and start, from the events, lives through the same slots again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy import ENERGY_MODELS, Harvest, Physics, Scale, Units, prepare_harvest
from fallow.energy.mix import names_in
from fallow.errors import FallowError
from fallow.plugins.nested import nested, plain
from fallow.plugins.options import option_names, with_options
from fallow.policies import Mask, SlotView
from fallow.reports.activity import Events
from fallow.reports.runs import ReportedRun
from fallow.runs.event_table import KINDS
from fallow.simulation.world import StartHook, World

WINDOW_EPOCHS, WINDOW_CLIENTS = 6, 12
MOST_CLIENT_SLOTS = 30_000_000
"""Client-slots that a replay may take: a second or so."""

IDLE, TRAINING, WAITING, SENDING = "0123"
NEXT = {"start": TRAINING, "finish": WAITING, "upload": IDLE}
"""What follows an event."""


@dataclass(frozen=True, eq=False)
class Window:
    """The part of a run that a timeline shows.

    Attributes:
        first_epoch: Where it begins.
        slots_per_epoch: S.
        clients: Who is shown.
        states: For each of them a letter a slot: idle, training, waiting to send, sending.
        selected: For each of them the epochs of the window in which it was selected, counted from its first.
        battery: Units at the end of each slot, shape (clients, slots), int64; None where they can't be known.
        harvest: Units harvested in each slot, before the cap, shape (clients, slots), int64; None as for `battery`.
        capacity: E_max of each of them.
        why_no_battery: A sentence; empty where the batteries are known.
    """

    first_epoch: int
    slots_per_epoch: int
    clients: list[int]
    states: list[str]
    selected: list[list[int]]
    battery: NDArray[np.int64] | None
    harvest: NDArray[np.int64] | None
    capacity: list[int]
    why_no_battery: str


REPLAYED = ("harvested", "overflow", "starts", "uploads", "stored")
"""Sums of an epoch that must come out as the run recorded them."""


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


def most_epochs(run: ReportedRun) -> int:
    """Returns how many epochs of a run may be replayed."""
    return int(MOST_CLIENT_SLOTS // (run.settings["clients"] * run.settings["slots_per_epoch"]))


def make_window(run: ReportedRun, events: Events, window: tuple[int, int], clients: list[int]) -> Window:
    """Returns the timeline of some clients.

    Args:
        run: The run.
        events: All its events before the window's end.
        window: First epoch, and the one after the last.
        clients: Whom to show.
    """
    slots = run.settings["slots_per_epoch"]
    battery = harvest = None
    why = ""
    try:
        battery, harvest = replay(run, events, window, clients)
    except FallowError as error:
        why = str(error)
    capacity = per_client("battery.capacity", run.settings["battery.capacity"], run.settings["clients"], np.int32)
    selects = events.of("select")
    chosen = [selects.epoch[(selects.client == client) & (selects.epoch >= window[0])] for client in clients]
    return Window(
        first_epoch=window[0],
        slots_per_epoch=slots,
        clients=clients,
        states=[_states(events, client, window[0] * slots, window[1] * slots) for client in clients],
        selected=[(epochs - window[0]).tolist() for epochs in chosen],
        battery=battery,
        harvest=harvest,
        capacity=[int(capacity[client]) for client in clients],
        why_no_battery=why,
    )


def replay(
    run: ReportedRun, events: Events, window: tuple[int, int], clients: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lives through a run again until a window's end, and returns battery and harvest of some clients in it.

    The sums of each epoch must be what the run recorded. If not, the harvest is another one: a trace may have changed.

    Args:
        run: A finished run with events.
        events: Its selections and starts.
        window: The first epoch, and the one after the last.
        clients: Whose batteries are returned.

    Returns:
        Units at the end of each slot, and units harvested in it, each of shape (clients, slots), int64.

    Raises:
        FallowError: The replay differs from what the run recorded.
    """
    harvest, world = _build_harvest(run), World(_build_physics(run))
    script = _Script(events, run.settings["clients"], run.settings["slots_per_epoch"])
    levels: list[NDArray[np.int32]] = []
    gains: list[NDArray[Any]] = []
    who = np.asarray(clients)

    def keep(_slot: int, world: World) -> None:
        levels.append(world.state.battery[who])

    def kept(rows: Any) -> Iterator[Units]:
        for units in rows:
            gains.append(np.asarray(units)[who])
            yield units

    for epoch in range(window[1]):
        shown = epoch >= window[0]
        rows = kept(harvest(epoch)) if shown else harvest(epoch)
        opened = world.open_epoch(epoch, rows, record_events=False)
        lived = world.run_slots(opened, script.select(epoch), script.start(epoch), keep if shown else None)
        sums = vars(lived.counters)
        if any(sums[name] != run.epochs[name][epoch] for name in REPLAYED):
            raise FallowError(
                f"The harvest of this run can't be had again: epoch {epoch} comes to other sums than the run recorded."
            )
    return np.stack(levels, axis=1).astype(np.int64), np.stack(gains, axis=1).astype(np.int64)


class _Script:
    """Tells a world whom to select and to start, as the events say."""

    def __init__(self, events: Events, clients: int, slots_per_epoch: int) -> None:
        self._clients = clients
        self._slots_per_epoch = slots_per_epoch
        self._by_slot = {kind: _by_slot(events.of(kind)) for kind in ("select", "start")}

    def select(self, epoch: int) -> Mask:
        """Returns the selection of an epoch."""
        return self._mask("select", epoch * self._slots_per_epoch)

    def start(self, epoch: int) -> StartHook:
        """Returns the starts of an epoch, as the world asks for them."""

        def start(view: SlotView) -> Mask:
            return self._mask("start", epoch * self._slots_per_epoch + view.slot_in_epoch)

        return start

    def _mask(self, kind: str, slot: int) -> Mask:
        mask = np.zeros(self._clients, dtype=np.bool_)
        mask[self._by_slot[kind].get(slot, [])] = True
        return mask


def _by_slot(events: Events) -> dict[int, NDArray[np.int32]]:
    slots, first = np.unique(events.slot, return_index=True)
    return dict(zip(slots.tolist(), np.split(events.client, first[1:]), strict=False))


def _build_harvest(run: ReportedRun) -> Harvest:
    settings = run.settings
    options = {key: plain(settings[f"energy.{key}"]) for key in _options(run, "energy.")}
    for name in names_in(settings["energy.model"], options):
        if name not in ENERGY_MODELS or name == "signal":  # somebody's own code is not run by a report
            raise FallowError(f"The harvest of '{name}' is not one of Fallow's own, so the batteries are not known.")
    name = settings["energy.model"]
    model = ENERGY_MODELS[name]
    given = {key: value for key, value in options.items() if key in option_names(model)}
    return prepare_harvest(
        with_options(f"The energy model '{name}'", model, given, "energy"),
        seed=settings["seed"],
        clients=settings["clients"],
        slots_per_epoch=settings["slots_per_epoch"],
        scale=Scale(settings.get("slot_seconds", 0.0), settings.get("unit_joules", 0.0)),
        correlation=options.get("correlation", 0.0),
        mean=options.get("mean", 0.0),
    )


def _build_physics(run: ReportedRun) -> Physics:
    """What the policy would say of itself, the totals say too: whether it pays for probes, and for anything at all."""
    totals = run.summary
    ideal = bool(totals["starts"]) and not totals["consumed_train"]
    # The events say who started, so no limit need be kept.
    table = nested(run.settings) | {"starts_per_epoch": 0}
    return Physics.of_settings(table, probes=bool(totals["consumed_probe"]), ideal=ideal)


def _options(run: ReportedRun, prefix: str) -> set[str]:
    return {key.removeprefix(prefix) for key in run.settings if key.startswith(prefix)}


def _states(events: Events, client: int, first: int, end: int) -> str:
    """Returns what a client does in each slot of a window, a letter a slot."""
    own = events.client == client
    states = [IDLE] * (end - first)
    state, since = IDLE, first
    for kind, slot in zip(events.kind[own].tolist(), events.slot[own].tolist(), strict=True):
        name = KINDS[kind]
        if name not in NEXT or slot >= end:
            continue
        begin = slot + 1 if name == "finish" else slot  # the slot of the last batch is a slot of training
        for place in range(max(since, first), max(begin, first)):
            states[place - first] = state
        state, since = NEXT[name], begin
        if name == "upload":
            if slot >= first:
                states[slot - first] = SENDING
            since = slot + 1
    for place in range(max(since, first), end):
        states[place - first] = state
    return "".join(states)
