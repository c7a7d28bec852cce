"""A node that fails, lies or vanishes costs the round its own update and nothing else."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict

from fallow.errors import CheckpointError, RunDirectoryError
from fallow.flower import experiment_client
from fallow.flower.experiment import Scorer, experiment_strategy
from fallow.flower.wire.records import FIELDS, UPDATE
from tests.flower.federations import FIRST_NODE, Fault, Wire, federate, killed_in_training, small, weights

CLIENT = 2
EPOCH = 2

ALWAYS: dict[str, Any] = {
    "energy": {"p": 1.0},
    "battery": {"initial": 10},
    "policy": {"name": "fedavg"},
    "slots_per_epoch": 8,
    "starts_per_epoch": 1,
}
"""Everyone starts in the first slot of every epoch and delivers in the seventh."""


def silent(_wire: Wire, _message: Message) -> None:
    """Never answers, and never knew of it."""


def lost_reply(wire: Wire, message: Message) -> None:
    """Does what it is told, and its answer is lost."""
    wire.honest(message)


def raises(wire: Wire, message: Message) -> Message:
    message.content = RecordDict()
    return wire.honest(message)


def changed(change: Callable[[RecordDict], None]) -> Fault:
    def fault(wire: Wire, message: Message) -> Message:
        reply = wire.honest(message)
        change(reply.content)
        return reply

    return fault


def update_of(content: RecordDict) -> ArrayRecord:
    return content.array_records[f"{UPDATE}-0"]


def with_nan(content: RecordDict) -> None:
    arrays = update_of(content)
    name = next(iter(arrays))
    values = arrays[name].numpy()
    values.flat[0] = np.nan
    arrays[name] = Array(values)


def with_infinities(content: RecordDict) -> None:
    arrays = update_of(content)
    name = next(iter(arrays))
    values = arrays[name].numpy()
    values.flat[0], values.flat[1] = np.inf, -np.inf
    arrays[name] = Array(values)


def with_wrong_shape(content: RecordDict) -> None:
    arrays = update_of(content)
    name = next(iter(arrays))
    arrays[name] = Array(arrays[name].numpy().reshape(-1)[:-1])


def with_wrong_numbers(content: RecordDict) -> None:
    arrays = update_of(content)
    name = next(iter(arrays))
    arrays[name] = Array(arrays[name].numpy().astype(np.float64))


def with_bytes(data: bytes) -> Callable[[RecordDict], None]:
    def change(content: RecordDict) -> None:
        arrays = update_of(content)
        name, array = next(iter(arrays.items()))
        arrays[name] = Array(array.dtype, array.shape, array.stype, data)

    return change


def with_another_form(content: RecordDict) -> None:
    arrays = update_of(content)
    name, array = next(iter(arrays.items()))
    arrays[name] = Array(array.dtype, array.shape, "torch", array.data)


def an_archive() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    return file.getvalue()


def without_a_parameter(content: RecordDict) -> None:
    arrays = update_of(content)
    del arrays[next(iter(arrays))]


def without_update(content: RecordDict) -> None:
    del content[f"{UPDATE}-0"]


def set_field(name: str, value: Any) -> Callable[[RecordDict], None]:
    def change(content: RecordDict) -> None:
        content.config_records[FIELDS][name] = value

    return change


def without_fields(content: RecordDict) -> None:
    content[FIELDS] = ConfigRecord({"hello": "world"})


BAD_OUTCOMES: dict[str, Fault] = {
    "never answers": silent,
    "raises": raises,
    "returns NaN": changed(with_nan),
    "returns infinities that cancel": changed(with_infinities),
    "returns a wrong shape": changed(with_wrong_shape),
    "returns float64": changed(with_wrong_numbers),
    "leaves out a parameter": changed(without_a_parameter),
    "leaves out the update": changed(without_update),
    "calls itself another": changed(set_field("identity", "client-000000")),
    "answers for another epoch": changed(set_field("epoch", 0)),
    "started in the future": changed(set_field("epochs", [EPOCH + 1])),
    "has more losses than updates": changed(set_field("losses", [0.0, 0.0])),
    "returns bytes that are no array": changed(with_bytes(b"garbage")),
    "returns an archive": changed(with_bytes(an_archive())),
    "returns an array of another form": changed(with_another_form),
    "announces more than it brings": changed(set_field("slots", [16, 17])),
    "talks nonsense": changed(without_fields),
    "has a word for a number": changed(set_field("trained", "many")),
}


@pytest.mark.parametrize("fault", BAD_OUTCOMES.values(), ids=BAD_OUTCOMES)
def test_the_round_goes_on_without_a_bad_outcome(fault: Fault, tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", EPOCH, CLIENT, fault)
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert len(rounds) == experiment.epochs
    assert [row["updates"] for row in rounds[:3]] == [6, 6, 5]
    assert rounds[3]["updates"] >= 6
    assert np.isfinite(weights(strategy)).all()


@pytest.mark.parametrize(
    "fault",
    [
        silent,
        raises,
        changed(set_field("battery", -1)),
        changed(set_field("battery", 2**40)),
        changed(set_field("data_size", 0)),
        changed(without_fields),
        changed(set_field("identity", "client-000000")),
    ],
    ids=["silent", "raises", "below empty", "too full", "no data", "nonsense", "false identity"],
)
def test_the_round_goes_on_without_a_bad_standing(fault: Fault, tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("query", EPOCH, CLIENT, fault)
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert [row["answered"] for row in rounds] == [6, 6, 5, 6, 6]
    assert {client for client, _ in grid.orders[EPOCH]} == {0, 1, 3, 4, 5}
    assert np.isfinite(weights(strategy)).all()


def test_an_impostor_takes_neither_the_age_nor_the_place_of_another(tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch in range(1, experiment.epochs):
        grid.fail("query", epoch, CLIENT, changed(set_field("identity", "client-000004")))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    roster = strategy.federation.roster
    assert roster.nodes[roster.names.index("client-000004")] == FIRST_NODE + 4
    assert all(CLIENT not in {client for client, _ in grid.orders[epoch]} for epoch in range(1, experiment.epochs))


def test_two_unknown_nodes_of_one_name_are_both_refused(tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch in range(experiment.epochs):
        for client in (1, 2):
            grid.fail("query", epoch, client, changed(set_field("identity", "twin")))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    assert strategy.federation.roster.names == [f"client-00000{number}" for number in (0, 3, 4, 5)]


def test_an_update_whose_delivery_was_lost_is_delivered_once_in_the_next_round(tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", EPOCH, CLIENT, lost_reply)
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert [row["updates"] for row in rounds] == [6, 6, 5, 7, 6]
    assert [row["late"] for row in rounds] == [0, 0, 0, 1, 0]


def test_a_node_killed_in_training_does_it_again_and_delivers_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", EPOCH, CLIENT, killed_in_training(monkeypatch))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert [row["updates"] for row in rounds] == [6, 6, 5, 7, 6]
    assert [row["late"] for row in rounds] == [0, 0, 0, 1, 0]


def test_a_training_that_kills_its_node_every_time_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", EPOCH, CLIENT, killed_in_training(monkeypatch))
    grid.fail("query", EPOCH + 1, CLIENT, killed_in_training(monkeypatch))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert [row["updates"] for row in rounds] == [6, 6, 5, 5, 6]
    assert [row["answered"] for row in rounds] == [6, 6, 6, 5, 6]


class ServerKilledError(Exception):
    """The server dies."""


LATE: dict[str, Any] = {"slots_per_epoch": 5, "cost": {"train": 6}, "energy": {"p": 0.9}}
"""Trainings that are longer than an epoch, so that every change is counted from a model of before."""


@pytest.mark.parametrize(
    "settings",
    [
        {"policy": {"name": "vaoi"}},
        {"policy": {"name": "fedbacys-odd"}},
        {"policy": {"name": "round-robin"}},
        LATE | {"policy": {"name": "fedavg"}, "aggregation": {"name": "received", "by": "changes"}},
        LATE | {"policy": {"name": "fedavg"}, "aggregation": {"name": "fedvarp", "memory": "float16"}},
        LATE | {"policy": {"name": "fedavg"}, "aggregation": {"name": "mifa", "where": "disk"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("moment", ["before the queries", "between queries and orders", "after the orders", "scoring"])
def test_a_killed_server_goes_on_to_the_same_weights(settings: dict[str, Any], moment: str, tmp_path: Path) -> None:
    experiment = small(**settings, epochs=6)
    undisturbed, _ = federate(experiment, tmp_path / "whole")

    class Dying(Wire):
        dead = False

        def push_messages(self, messages: Any) -> Any:
            messages = list(messages)
            epoch = int(messages[0].content.config_records[FIELDS]["epoch"])
            is_query = messages[0].metadata.message_type == "query"
            if epoch == 3 and moment == "before the queries" and is_query:
                raise ServerKilledError
            if epoch == 3 and moment == "between queries and orders" and not is_query:
                raise ServerKilledError
            ids = super().push_messages(messages)
            if epoch == 3 and moment == "after the orders" and not is_query:
                raise ServerKilledError
            return ids

    strategy = experiment_strategy(experiment, tmp_path / "server", patience=0.0, reply_seconds=0.5)
    scorer = Scorer(experiment)

    def score(number: int, arrays: ArrayRecord) -> Any:
        if number == 4 and moment == "scoring":
            raise ServerKilledError
        return scorer(number, arrays)

    with pytest.raises(ServerKilledError):
        strategy.start(Dying(experiment, tmp_path / "nodes"), scorer.initial(), experiment.epochs, evaluate_fn=score)
    again = Wire(experiment, tmp_path / "nodes", first_node=5000)  # another Flower run, other node ids
    resumed, _ = federate(experiment, tmp_path, again)
    np.testing.assert_array_equal(weights(resumed), weights(undisturbed))
    assert resumed.federation is not None
    assert undisturbed.federation is not None
    assert resumed.federation.rounds == undisturbed.federation.rounds
    assert sum(row["updates"] for row in resumed.federation.rounds[3:]) > 0


def test_a_finished_federation_is_finished(tmp_path: Path) -> None:
    experiment = small(epochs=2)
    first, _ = federate(experiment, tmp_path)
    second, grid = federate(experiment, tmp_path)
    assert not grid.sent
    np.testing.assert_array_equal(weights(first), weights(second))


def test_another_experiment_can_not_go_on_in_the_same_directory(tmp_path: Path) -> None:
    federate(small(epochs=1), tmp_path)
    with pytest.raises(CheckpointError, match="holds a federation with policy VAoI"):
        federate(small(epochs=1, policy={"name": "fedavg"}), tmp_path)


def test_two_servers_can_not_share_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fallow.flower.server.strategy.LOCK_SECONDS", 0.0)
    experiment = small(epochs=1)

    class Second(Wire):
        def get_node_ids(self) -> list[int]:
            with pytest.raises(RunDirectoryError, match="another process"):
                federate(experiment, tmp_path)
            return list(self.nodes)

    federate(experiment, tmp_path, Second(experiment, tmp_path / "nodes"))


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    class Shuffled(Wire):
        def pull_messages(self, message_ids: Any) -> list[Message]:
            return list(super().pull_messages(message_ids))[::-1]

    experiment = small()
    plain, _ = federate(experiment, tmp_path / "plain")
    shuffled, _ = federate(experiment, tmp_path / "shuffled", Shuffled(experiment, tmp_path / "shuffled" / "nodes"))
    np.testing.assert_array_equal(weights(plain), weights(shuffled))


def test_a_node_that_lost_its_model_is_sent_it_again(tmp_path: Path) -> None:
    experiment = small(energy={"p": 0.25}, epochs=6)
    grid = Wire(experiment, tmp_path / "nodes")

    def forgetful(wire: Wire, message: Message) -> Message:
        for name in ("model.fallow", "sight.fallow"):
            for path in (tmp_path / "nodes").rglob(name):
                if path.parent.name == f"client-00000{CLIENT}":
                    path.unlink()
        wire.app = experiment_client(experiment, directory=tmp_path / "nodes")  # nothing is at hand any more
        return wire.honest(message)

    grid.fail("query", 1, CLIENT, forgetful)
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    assert strategy.federation.rounds[0]["updates"] == 0  # so the model was not due to be sent in the next round
    asked = [(client, model) for kind, epoch, client, model in grid.sent if (kind, epoch) == ("query", 1)]
    assert asked.count((CLIENT, True)) == 1
    assert [row["answered"] for row in strategy.federation.rounds] == [6] * 6
