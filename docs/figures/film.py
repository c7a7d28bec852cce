"""A run of the engine, watched slot by slot: what the pictures are drawn from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.experiment import Experiment
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord
from fallow.simulation.world import World


@dataclass(frozen=True)
class Film:
    """What `Engine.step(watch=…)` showed.

    Attributes:
        battery: Units at the end of each slot, shape (slots, N), int32.
        harvested: Units harvested in each slot, before the cap, shape (slots, N), int64; likewise overflow.
        training: In training, shape (slots, N), bool.
        unsent: With an update that waits for energy, shape (slots, N), bool.
        sent: Uploads in each slot, shape (slots, N), int32.
        records: One an epoch.
    """

    battery: NDArray[np.int32]
    harvested: NDArray[np.int64]
    overflow: NDArray[np.int64]
    training: NDArray[np.bool_]
    unsent: NDArray[np.bool_]
    sent: NDArray[np.int32]
    records: list[EpochRecord]

    def events(self, kind: str) -> list[tuple[int, int, int | None]]:
        """Returns (slot, client, staleness) of every event of a kind; only uploads have a staleness."""
        return [
            (slot, int(client), None if late is None else int(late[place]))
            for record in self.records
            for what, slot, clients, late in record.events
            if what == kind
            for place, client in enumerate(clients)
        ]


def watch_run(experiment: Experiment) -> Film:
    """Runs an experiment and keeps every slot of it."""
    engine = Engine(experiment)
    slots: list[dict[str, NDArray]] = []

    def watch(slot: int, world: World) -> None:
        names = ("battery", "harvested", "overflow", "uploads")
        seen = {name: vars(world.state)[name].copy() for name in names}
        slots.append(seen | {"training": world.training(slot), "unsent": world.unsent(slot)})

    records = [engine.step(watch) for _ in range(experiment.epochs)]
    stacked = {name: np.stack([slot[name] for slot in slots]) for name in slots[0]}
    totals = {name: np.diff(stacked[name], axis=0, prepend=0) for name in ("harvested", "overflow", "uploads")}
    return Film(
        battery=stacked["battery"],
        harvested=totals["harvested"],
        overflow=totals["overflow"],
        training=stacked["training"],
        unsent=stacked["unsent"],
        sent=totals["uploads"],
        records=records,
    )


def stretches(shown: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Returns (first slot, length) of every stretch of True, shape (slots,)."""
    edges = np.flatnonzero(np.diff(shown.astype(np.int8), prepend=0, append=0))
    return [(int(begin), int(end - begin)) for begin, end in edges.reshape(-1, 2)]
