"""Nodes that stay in one process share what is the same for all, and come to what each would come to alone."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.flower import experiment as shared_by_nodes
from fallow.flower.batteries import Emulated, Event
from fallow.flower.batteries.harvests import SharedHarvest
from fallow.flower.batteries.open_emulated import OpenEmulated
from fallow.flower.batteries.together import live_together
from fallow.flower.node import client_task, household, looking
from fallow.flower.node.memory import MEMORY, SEEN
from fallow.flower.wire.messages import Standing
from fallow.flower.wire.records import from_records
from fallow.simulation.engine import Engine
from tests.flower.federations import KilledError, Wire, federate, small, weights

RESTING: dict[str, Any] = {"energy": {"p": 0.25}, "epochs": 8}
"""A world in which some rounds bring no update, so that the model stays the one that was looked at earlier."""

DEVICE: dict[str, Any] = {
    "energy": {"p": 0.8},
    "battery": {"efficiency": 0.9, "self_discharge": 0.01, "idle": 0.3, "cutoff": 3, "wake": 6, "capacity": 40},
    "cost": {"train_slots": 5, "transmit_slots": 2, "probe": 1, "listen": 1, "download": 2},
}


def open_all(experiment: Experiment, harvests: dict[int | None, SharedHarvest] | None) -> list[OpenEmulated]:
    batteries = [Emulated.of(experiment, number, harvests) for number in range(experiment.clients)]
    return [battery.open(probes=True, ideal=False) for battery in batteries]


def state_of(battery: OpenEmulated) -> dict[str, Any]:
    return {"lived": battery.lived} | {name: array.tolist() for name, array in vars(battery.state.world).items()}


@pytest.mark.parametrize("settings", [{}, DEVICE, {"cost": {"probe": 1, "train": 3}}], ids=["paper", "device", "probe"])
def test_batteries_that_live_together_come_to_what_each_comes_to_alone(settings: dict[str, Any]) -> None:
    experiment = small(**settings)
    together, alone = open_all(experiment, {}), open_all(experiment, None)
    happened: list[list[Event]] = [[] for _ in together]
    for epoch in range(6):
        if epoch % 2:  # so that missed epochs are lived through too
            live_together(together, epoch)
        for number, (one, other) in enumerate(zip(together, alone, strict=True)):
            events = list(one.catch_up(epoch))
            assert events == list(other.catch_up(epoch))
            assert one.look(epoch) == other.look(epoch)
            if number % 3 == epoch % 3:  # some are ordered to train
                events += (ordered := list(one.live(epoch, None, selected=True)))
                assert ordered == list(other.live(epoch, None, selected=True))
            happened[number] += events
    assert [state_of(one) for one in together] == [state_of(other) for other in alone]
    assert {event.kind for events in happened for event in events} == {"start", "finish", "upload"}


def test_the_harvest_of_all_clients_is_drawn_once_for_all_of_them() -> None:
    drawn: Counter[int] = Counter()

    class Counting:
        def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Any:
            def harvest(epoch: int) -> Any:
                drawn[epoch] += 1
                return (np.arange(clients) for _ in range(slots_per_epoch))

            return harvest

    shared = SharedHarvest(Counting(), 0, 3, 2)
    batteries = [Emulated(Counting(), number=number, clients=3, slots_per_epoch=2, shared=shared) for number in (0, 2)]
    assert [np.concatenate(list(battery.harvest(5))).tolist() for battery in batteries] == [[0, 0], [2, 2]]
    assert [battery.forecast(5, 2, 0.0).tolist() for battery in batteries] == [[0, 0], [2, 4]]
    assert drawn[5] == 2  # once for the slots, and once for the forecast
    assert drawn[6] == 1


def test_a_model_is_decoded_once_and_looked_at_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()

    def counted(module: Any, name: str) -> None:
        function = vars(module)[name]

        def call(*arguments: Any, **options: Any) -> Any:
            calls[f"{module.__name__.split('.')[-1]}.{name}"] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, call)

    for module, name in ((household, "model_in"), (looking, "version_of"), (shared_by_nodes, "probe")):
        counted(module, name)
    counted(client_task, "probe")
    strategy, _ = federate(small(epochs=4, energy={"p": 1.0}, cost={"train": 2}), tmp_path)
    assert strategy.federation is not None
    assert [row["updates"] for row in strategy.federation.rounds] == [9, 9, 10, 12]  # so every round has a new model
    assert calls == {"household.model_in": 4, "looking.version_of": 4, "experiment.probe": 4}


def test_the_distances_are_the_engine_s_to_the_last_bit(tmp_path: Path) -> None:
    experiment = small(clients=30, epochs=1, learning={"first_moment": "zero"})
    told: dict[int, float] = {}

    class Listening(Wire):
        def deliver(self, message: Any) -> Any:
            reply = super().deliver(message)
            if reply is not None and message.metadata.message_type == "query":
                told[message.metadata.dst_node_id - self.first_node] = from_records(Standing, reply.content).distance
            return reply

    federate(experiment, tmp_path, Listening(experiment, tmp_path / "nodes"))
    learner = Engine(experiment, workers=1).learner
    assert learner is not None
    assert [told[client] for client in range(30)] == learner.distances(0).tolist()


def test_a_node_that_rests_writes_nothing(tmp_path: Path) -> None:
    experiment = small(epochs=5, policy={"name": "vaoi", "k": 1}, energy={"p": 1.0}, cost={"train": 2})
    federate(experiment, tmp_path, rounds=1)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "nodes").rglob("*.fallow")}
    _, grid = federate(experiment, tmp_path)
    ordered = {f"client-{client:06d}" for epoch in range(1, 5) for client, _ in grid.orders[epoch]}
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "nodes").rglob("*.fallow")}
    written = {path.parent.name for path in after if path.name != SEEN and after[path] != before.get(path)}
    assert written == ordered
    assert len(ordered) < experiment.clients


def memories(root: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in (root / "nodes").rglob(MEMORY)}


@pytest.mark.parametrize("settings", [RESTING, RESTING | {"policy": {"name": "power-of-choice", "k": 2}}], ids=str)
def test_a_federation_whose_process_is_started_anew_each_round_ends_the_same(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    experiment = small(**settings)
    whole, _ = federate(experiment, tmp_path / "whole")
    for rounds in range(1, experiment.epochs + 1):
        parts, _ = federate(experiment, tmp_path / "parts", rounds=rounds)
    assert whole.federation is not None
    assert parts.federation is not None
    assert parts.federation.rounds == whole.federation.rounds
    assert 0 in [row["updates"] for row in whole.federation.rounds]
    np.testing.assert_array_equal(weights(parts), weights(whole))
    assert memories(tmp_path / "parts") == memories(tmp_path / "whole")


def test_a_federation_that_is_killed_in_any_message_ends_the_same(tmp_path: Path) -> None:
    experiment = small(clients=3, epochs=4, policy={"k": 1}, energy={"p": 0.5})
    whole, grid = federate(experiment, tmp_path / "whole")
    for last in range(0, len(grid.sent), 4):

        class Dying(Wire):
            def deliver(self, message: Any) -> Any:
                reply = super().deliver(message)
                if len(self.sent) > last:  # noqa: B023
                    raise KilledError
                return reply

        root = tmp_path / str(last)
        with pytest.raises(KilledError):
            federate(experiment, root, Dying(experiment, root / "nodes"))
        parts, _ = federate(experiment, root)
        np.testing.assert_array_equal(weights(parts), weights(whole))
        assert memories(root) == memories(tmp_path / "whole")
