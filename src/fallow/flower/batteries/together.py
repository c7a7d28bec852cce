"""Emulated batteries in one process live through an epoch together: one world of many clients in place of many of one.

A world's numbers are whole, and clients do not touch each other's: each comes to the same as by itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from fallow.energy import Physics
from fallow.energy.physics import REAL, WHOLE
from fallow.flower.batteries.base import Event
from fallow.flower.batteries.open_emulated import OpenEmulated, readings
from fallow.simulation.world import World
from fallow.simulation.world_state import WorldState

NAMES = tuple(field.name for field in fields(WorldState))


def live_together(batteries: Iterable[OpenEmulated], epoch: int) -> None:
    """Brings batteries up to an epoch without orders, all at once, and looks into it.

    Each battery then has at hand what it would come to by itself: what happened to its owner, and its reading.

    Args:
        batteries: Of one energy model or more. Those that lived through the epoch stay as they are.
        epoch: The first epoch that is not lived through, from 0.
    """
    groups: dict[object, list[OpenEmulated]] = {}
    for battery in batteries:
        if battery.lived < epoch and battery.shared is not None and not battery.looked_into(epoch):
            physics = battery.physics
            has = (physics.pays_probes, physics.long_uploads, physics.sleeps, physics.listens, physics.downloads)
            loses = (physics.converts, physics.leaks, physics.idles)
            rules = (physics.slots_per_epoch, physics.starts_per_epoch, physics.ideal, physics.probes)
            groups.setdefault((id(battery.shared), battery.lived, has, loses, rules), []).append(battery)
    for group in groups.values():
        _live(group, epoch)


def _live(group: Sequence[OpenEmulated], epoch: int) -> None:
    """Lives through epochs in one world. All have the same kind of physics and lived through the same epochs."""
    shared, numbers = group[0].shared, [battery.number for battery in group]
    assert shared is not None  # noqa: S101
    physics = _stacked_physics([battery.physics for battery in group])
    world = World(physics, _stacked_states(physics, [battery.state.world for battery in group]))
    happened: list[list[Event]] = [[] for _ in group]
    nobody = np.zeros(len(group), dtype=np.bool_)
    for missed in range(group[0].lived + 1, epoch):
        lived = world.run_slots(world.open_epoch(missed, shared(missed)[:, numbers]), nobody)
        for event in lived.events:
            if event.kind in ("finish", "upload"):
                for place in event.clients.tolist():
                    happened[place].append(Event(event.kind, event.slot))
    ahead = readings(world, epoch, shared(epoch)[:, numbers])
    arrays = {name: array for name, array in vars(world.state).items() if array.size == len(group)}
    for place, (battery, events, reading) in enumerate(zip(group, happened, ahead, strict=True)):
        own = {name: array[place : place + 1] for name, array in arrays.items()}
        battery.join(WorldState(**{**vars(battery.state.world), **own}), epoch, events, reading)


def _stacked_physics(each: Sequence[Physics]) -> Physics:
    if len(each) == 1:
        return each[0]
    rows = [vars(physics) for physics in each]
    arrays: dict[str, Any] = {name: np.concatenate([row[name] for row in rows]) for name in (*WHOLE, *REAL)}
    return replace(each[0], **arrays)


def _stacked_states(physics: Physics, each: Sequence[WorldState]) -> WorldState:
    """Returns the state of one world of all clients. Its arrays are its own."""
    rows, form = [vars(state) for state in each], vars(WorldState.first(physics))
    return WorldState(
        **{
            name: np.concatenate([row[name] for row in rows]) if form[name].size == len(each) else rows[0][name].copy()
            for name in NAMES
        }
    )
