"""A run lived through again, slot by slot.

A run records no batteries. But the harvest is a function of the settings and the seed, so a world that is told whom
to select and start, from the events, lives through the same slots again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Harvest, Physics, Units
from fallow.errors import FallowError
from fallow.plugins.nested import nested
from fallow.policies import Mask, SlotView
from fallow.reports.activity import Events
from fallow.reports.harvests import Files, build_harvest
from fallow.reports.runs import ReportedRun
from fallow.simulation.world import StartHook, World

MOST_CLIENT_SLOTS = 30_000_000
"""Client-slots that a replay may take: a second or so."""

REPLAYED = ("harvested", "overflow", "starts", "uploads", "stored")
"""Sums of an epoch that must come out as the run recorded them."""

IN_FULL = ("consumed_listen", "consumed_download", "consumed_idle", "conversion_loss", "leakage", "asleep")
"""More of them, which are recorded where a device has such a thing."""

SlotWatch = Callable[[int, World, NDArray[Any]], None]
"""Called at the end of every slot, with the slot, the world and the units harvested in it, shape (N,)."""


def most_epochs(run: ReportedRun) -> int:
    """Returns how many epochs of a run may be replayed."""
    return int(MOST_CLIENT_SLOTS // (run.settings["clients"] * run.settings["slots_per_epoch"]))


def live_again(run: ReportedRun, events: Events, files: Files, epochs: range, watch: SlotWatch) -> None:
    """Lives through a run again until the end of some epochs, and shows their slots.

    The sums of each epoch must be what the run recorded. If not, the harvest is another one: a trace may have changed.

    Args:
        run: A finished run with events.
        events: Its selections and starts, at least until the end.
        files: What a harvest may be read from.
        epochs: Whose slots are shown.
        watch: What they are shown to.

    Raises:
        FallowError: The harvest can't be had again, or the replay differs from what the run recorded.
    """
    harvest, physics = build_harvest(run, files), build_physics(run)
    script = _Script(events, run.settings["clients"], run.settings["slots_per_epoch"])
    if not physics.probes and run.summary.get("consumed_download"):
        # Downloads are paid with a probe, or else with a training: which of the two, the sums tell.
        without = _first_difference(run, World(physics), harvest, script, range(epochs.stop, epochs.stop), None)
        physics = physics if without is None else replace(physics, probes=True)
    wrong = _first_difference(run, World(physics), harvest, script, epochs, watch)
    if wrong is not None:
        raise FallowError(
            f"The harvest of this run can't be had again: epoch {wrong} comes to other sums than the run recorded."
        )


def _first_difference(
    run: ReportedRun, world: World, harvest: Harvest, script: "_Script", epochs: range, watch: SlotWatch | None
) -> int | None:
    """Returns the first epoch whose sums differ from what the run recorded, before which all is shown; None if none."""
    latest: list[NDArray[Any]] = []

    def kept(rows: Iterable[Units]) -> Iterator[Units]:
        for units in rows:
            latest[:] = [np.array(units)]
            yield units

    def show(slot: int, world: World) -> None:
        if watch is not None:
            watch(slot, world, latest[0])

    recorded = [*REPLAYED, *(name for name in IN_FULL if name in run.epochs)]
    for epoch in range(epochs.stop):
        shown = epoch in epochs
        rows = kept(harvest(epoch)) if shown else harvest(epoch)
        opened = world.open_epoch(epoch, rows, record_events=False, slot_by_slot=shown)
        lived = world.run_slots(opened, script.select(epoch), script.start(epoch), show if shown else None)
        sums = vars(lived.counters)
        if any(sums[name] != run.epochs[name][epoch] for name in recorded):
            return epoch
    return None


def build_physics(run: ReportedRun) -> Physics:
    """Returns the physics of a run.

    What its policy would say of itself, the totals say too: whether it pays for probes, and for anything at all.

    Args:
        run: Its settings and totals.
    """
    totals = run.summary
    ideal = bool(totals["starts"]) and not totals["consumed_train"]
    # The events say who started, so no limit need be kept.
    table = nested(run.settings) | {"starts_per_epoch": 0}
    return Physics.of_settings(table, probes=bool(totals["consumed_probe"] or totals.get("probes")), ideal=ideal)


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
