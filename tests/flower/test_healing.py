"""A federation comes back by itself: from mute nodes, lost orders, empty rounds, and updates that would ruin it."""

import itertools
import logging
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from flwr.app import Array, Error, Message

from fallow.errors import ConfigError, DivergenceError
from fallow.flower import FallowStrategy
from fallow.flower.experiment import Scorer, experiment_strategy
from fallow.flower.internals import EXPIRED
from fallow.flower.server import combination, exchange
from fallow.flower.server.federation import FederationDirectory
from fallow.flower.wire.records import UPDATE
from fallow.policies.vaoi import VAoI
from tests.flower.federations import Fault, Wire, federate, small, weights
from tests.flower.test_faults import ALWAYS, CLIENT, EPOCH, changed, lost_reply, set_field, silent


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 1e-3)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(exchange, "time", one)
    return one


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(logging.getLogger("flwr"), "propagate", True)
    caplog.set_level(logging.INFO, "flwr")
    return caplog


def rounds(strategy: FallowStrategy) -> list:
    assert strategy.federation is not None
    return strategy.federation.rounds


def multiplied(factor: float) -> Fault:
    def change(content) -> None:
        for place in [place for place in content.array_records if place.startswith(UPDATE)]:
            arrays = content.array_records[place]
            for name in list(arrays):
                arrays[name] = Array(arrays[name].numpy() * np.float32(factor))

    return changed(change)


def test_a_mute_node_costs_one_query_s_time_and_then_a_short_grace(tmp_path: Path, clock: Clock, told) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch in range(1, experiment.epochs):
        grid.fail("query", epoch, CLIENT, silent)
    strategy, _ = federate(experiment, tmp_path, grid, reply_seconds=3600.0)
    assert [row["answered"] for row in rounds(strategy)] == [6, 5, 5, 5, 5]
    assert clock.now == pytest.approx(300 + 3 * exchange.GRACE, abs=1)
    (sentence,) = [record.getMessage() for record in told.records if "did not answer" in record.getMessage()]
    assert sentence.startswith("'client-000002' (node 1002) did not answer in 300 seconds")


def test_a_node_that_answers_late_is_slow_and_not_mute(tmp_path: Path, clock: Clock) -> None:
    """Else a slow node that missed one query would never be waited for again."""
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    held: list[Message] = []

    def late(wire: Wire, message: Message) -> None:
        held.append(wire.honest(message))

    def hands_in(wire: Wire, message: Message) -> Message:
        for reply in held:  # the answers that it owed have arrived meanwhile
            wire._replies[reply.metadata.reply_to_message_id] = reply
        held.clear()
        return wire.honest(message)

    grid.fail("query", 1, CLIENT, late)
    grid.fail("train", 1, 0, hands_in)
    grid.fail("query", 2, CLIENT, silent)
    federate(experiment, tmp_path, grid, reply_seconds=3600.0)
    assert clock.now == pytest.approx(2 * 300, abs=1)  # in round 3 it is waited for as long as in round 2


def test_what_flower_says_of_a_query_that_expired_is_no_answer(tmp_path: Path, clock: Clock) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("query", 1, CLIENT, lambda _, message: Message(Error(EXPIRED, "too late"), reply_to=message))
    grid.fail("query", 2, CLIENT, silent)
    federate(experiment, tmp_path, grid, reply_seconds=3600.0)
    assert clock.now == pytest.approx(exchange.GRACE, abs=1)


def test_when_all_are_mute_nobody_is_given_less_time(tmp_path: Path, clock: Clock) -> None:
    experiment = small(**ALWAYS, epochs=2)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch, client in itertools.product(range(2), range(6)):
        grid.fail("query", epoch, client, silent)
    federate(experiment, tmp_path, grid, reply_seconds=3600.0)
    assert clock.now == pytest.approx(2 * 300, abs=1)


@pytest.mark.parametrize("fault", [silent, lost_reply], ids=["never came", "came, and the answer was lost"])
def test_an_order_that_is_lost_is_sent_again_long_before_its_time_is_over(
    fault: Fault, tmp_path: Path, clock: Clock, told
) -> None:
    experiment = small(**ALWAYS)
    undisturbed, _ = federate(experiment, tmp_path / "whole")
    grid = Wire(experiment, tmp_path / "nodes")

    def once(wire: Wire, message: Message) -> Message | None:
        del wire.faults["train", EPOCH, CLIENT]
        return fault(wire, message)

    grid.fail("train", EPOCH, CLIENT, once)
    strategy, _ = federate(experiment, tmp_path, grid, reply_seconds=3600.0)
    assert [row["updates"] for row in rounds(strategy)] == [6] * 5
    assert clock.now == pytest.approx(exchange.CHECK_EVERY, abs=5)
    assert "'client-000002' (node 1002) has lost its order; it is sent again." in told.text
    np.testing.assert_array_equal(weights(strategy), weights(undisturbed))


def test_a_node_at_work_is_not_sent_its_order_again(tmp_path: Path, clock: Clock) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", EPOCH, CLIENT, silent)
    busy = Wire.deliver

    def deliver(wire: Wire, message: Message) -> Message | None:
        looks = message.metadata.message_type == "query" and (CLIENT, True) in wire.orders.get(EPOCH, [])
        asked_at_work = looks and message.metadata.ttl == exchange.CHECK_LIFE
        return None if asked_at_work else busy(wire, message)

    grid.deliver = deliver.__get__(grid)  # type: ignore[method-assign]
    strategy, _ = federate(experiment, tmp_path, grid, reply_seconds=600.0)
    assert [row["silent"] for row in rounds(strategy)] == [0, 0, 1, 0, 0]
    assert grid.orders[EPOCH].count((CLIENT, True)) == 1
    assert clock.now == pytest.approx(600, abs=1)


def test_a_round_with_nobody_connected_does_not_count(tmp_path: Path, clock: Clock, told) -> None:
    experiment = small(**ALWAYS)

    class Gone(Wire):
        looks = 0

        def get_node_ids(self) -> list[int]:
            assert strategy.federation is not None
            self.looks += strategy.federation.epoch == EPOCH
            return [] if 0 < self.looks < 100 else list(self.nodes)

    strategy = experiment_strategy(experiment, tmp_path / "server", patience=5.0, reply_seconds=0.5)
    strategy.start(Gone(experiment, tmp_path / "nodes"), Scorer(experiment).initial(), experiment.epochs)
    assert [row["connected"] for row in rounds(strategy)] == [6] * 5
    assert [row["updates"] for row in rounds(strategy)] == [6] * 5
    assert told.text.count("Nobody is connected; the round waits for the first node.") == 1
    assert clock.now > 60


@pytest.mark.parametrize("factor", [1e30, 1e3, -1e3])
def test_an_update_that_would_ruin_the_model_is_refused_by_name(factor: float, tmp_path: Path, told) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch in range(experiment.epochs):
        grid.fail("train", epoch, CLIENT, multiplied(factor))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert [(row["updates"], row["refused"], row["discarded"]) for row in rounds(strategy)] == [(5, 1, 0)] * 5
    assert np.abs(weights(strategy)).max() < 10
    assert told.text.count("Refused: the update of client-000002 that started in slot") == 5


def test_without_the_guard_one_such_update_ruins_the_model(tmp_path: Path) -> None:
    experiment = small(**ALWAYS, epochs=1)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("train", 0, CLIENT, multiplied(1e30))
    strategy = FallowStrategy(experiment.build("policy"), patience=0.0, reply_seconds=0.5, min_nodes=6, guard=0)
    strategy.start(grid, Scorer(experiment).initial(), 1)
    assert np.abs(weights(strategy)).max() > 1e27


def test_what_the_guard_has_seen_is_kept_with_the_federation(tmp_path: Path) -> None:
    """A node that is alone in its round, after a restart of the server, is compared with what came before."""
    experiment = small(**ALWAYS, epochs=2)
    federate(experiment, tmp_path, rounds=1)
    grid = Wire(experiment, tmp_path / "nodes")
    for client in range(6):
        grid.fail("train", 1, client, multiplied(1e30) if client == CLIENT else silent)
    strategy, _ = federate(experiment, tmp_path, grid)
    assert [(row["updates"], row["refused"]) for row in rounds(strategy)] == [(6, 0), (0, 1)]
    assert strategy.federation is not None
    assert strategy.federation.seen.shape == (6,)


def test_a_federation_whose_trainings_all_diverge_stops_and_keeps_the_last_sound_model(tmp_path: Path, told) -> None:
    experiment = small(**ALWAYS, epochs=9, sgd={"lr": 1e30})
    strategy = experiment_strategy(experiment, tmp_path / "server", patience=0.0, reply_seconds=0.5)
    first = Scorer(experiment).initial()
    with pytest.raises(
        DivergenceError, match=r"the last 3 rounds .* stops after round 3; the last sound model is kept"
    ):
        strategy.start(Wire(experiment, tmp_path / "nodes"), first, experiment.epochs)
    again = FederationDirectory(
        tmp_path / "server", strategy.policy, strategy.aggregation, strategy._description()
    ).read()
    assert again is not None
    assert (again.epoch, again.fruitless) == (3, 3)
    assert all(np.array_equal(array, first[name].numpy()) for name, array in again.model.items())
    sentence = next(record.getMessage() for record in told.records if "diverged" in record.getMessage())
    assert "The training of client-000000 that started in slot 0 diverged at step" in sentence
    assert not sentence.endswith("..")


def test_a_round_of_use_is_enough_to_go_on(tmp_path: Path) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    for epoch, client in itertools.product(range(5), range(6)):
        if epoch % 3:
            grid.fail("train", epoch, client, multiplied(1e30))
    strategy, _ = federate(experiment, tmp_path, grid)
    assert [row["updates"] for row in rounds(strategy)] == [6, 0, 0, 6, 0]


def test_a_rule_that_leaves_the_numbers_behind_does_not_cost_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told
) -> None:
    experiment = small(**ALWAYS, epochs=1)
    before = combination.aggregate
    monkeypatch.setattr(
        combination, "aggregate", lambda *given: (before(*given)[0], np.full_like(given[2], np.inf))
    )  # as a rule does whose step is too long
    strategy, _ = federate(experiment, tmp_path)
    assert [(row["updates"], row["refused"]) for row in rounds(strategy)] == [(0, 6)]
    assert np.isfinite(weights(strategy)).all()
    assert "the model of the round before is kept" in told.text


def test_a_node_that_fails_is_called_by_its_name(tmp_path: Path, told) -> None:
    experiment = small(**ALWAYS)
    grid = Wire(experiment, tmp_path / "nodes")
    grid.fail("query", EPOCH, CLIENT, changed(set_field("battery", -1)))
    federate(experiment, tmp_path, grid)
    assert "Refused: 'client-000002' (node 1002): it can't stand at" in told.text


@pytest.mark.parametrize("guard", [-1.0, float("nan"), float("inf")])
def test_a_guard_that_can_not_be_is_refused(guard: float) -> None:
    with pytest.raises(ConfigError, match="guard"):
        FallowStrategy(VAoI(), guard=guard)


def test_a_client_process_that_died_before_it_fetched_its_message_is_answered_for(monkeypatch) -> None:
    """Otherwise its SuperNode waits for a reply for ever, online and mute."""
    from flwr.app import RecordDict
    from flwr.supercore.object_store import ObjectStoreFactory
    from flwr.supernode.nodestate.in_memory_nodestate import InMemoryNodeState

    from fallow.flower.internals import act_as_server, set_message_id, supernode_program

    monkeypatch.setattr(InMemoryNodeState, "_on_task_tokens_expired", InMemoryNodeState._on_task_tokens_expired)
    supernode_program()
    act_as_server()
    state = InMemoryNodeState(ObjectStoreFactory().store())
    message = Message(RecordDict(), 7, "query")
    set_message_id(message, "the message")
    state.store_message(message)
    state._on_task_tokens_expired([SimpleNamespace(run_id=message.metadata.run_id, type="flwr-clientapp")])
    (reply,) = state.get_messages_legacy(is_reply=True)
    assert reply.metadata.reply_to_message_id == "the message"
    assert reply.has_error()


def test_what_a_node_remembers_is_its_owner_s_alone(tmp_path: Path) -> None:
    federate(small(epochs=1), tmp_path)
    memories = list((tmp_path / "nodes").rglob("memory.fallow"))
    assert len(memories) == 6
    assert {path.parent.stat().st_mode & 0o777 for path in memories} == {0o700}
