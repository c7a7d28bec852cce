"""A federation through Flower does what the simulator does: the same choices, the same updates, the same weights."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.flower.wire.arrays import flattened
from fallow.policies import POLICIES
from tests.flower.federations import federate, simulated, small, weights

NORMALISED: dict[str, Any] = {"name": "tests.oracle.networks:batch_normalised"}
LONG: dict[str, Any] = {"slots_per_epoch": 5, "cost": {"train": 6}, "energy": {"p": 0.6}, "epochs": 14}


def assert_same(experiment: Any, root: Path) -> list[dict[str, Any]]:
    engine, records = simulated(experiment)
    strategy, grid = federate(experiment, root)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    for row, record in zip(rounds, records, strict=True):
        assert (row["selected"], row["trained"], row["updates"]) == (record.selected, record.starts, record.aggregated)
        assert (row["late"] + row["discarded"], row["discarded"]) == (record.stale_uploads, record.dropped)
    for record in records:
        (chosen,) = (set(who.tolist()) for kind, _, who, _ in record.events if kind == "select")
        assert {client for client, selected in grid.orders.get(record.epoch, []) if selected} == chosen
    assert engine.learner is not None
    np.testing.assert_allclose(weights(strategy), engine.learner.weights, rtol=1e-5, atol=1e-6)
    handed_out = flattened(strategy.federation.handed_out, strategy.federation.model)
    np.testing.assert_allclose(handed_out, engine.learner.handed_out, rtol=1e-5, atol=1e-6)
    for record, row in zip(records, rounds, strict=True):
        assert row.get("f1") == pytest.approx(record.f1)
        if not experiment.cost.probe:  # a node that could not pay for its probe has no distance to tell
            assert row.get("mean_age") == pytest.approx(record.mean_age_delivered)
    return rounds


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_chooses_and_learns_as_in_the_simulator(policy: str, tmp_path: Path) -> None:
    rounds = assert_same(small(policy={"name": policy}), tmp_path)
    assert sum(row["updates"] for row in rounds) > 3


@pytest.mark.parametrize(
    "settings",
    [
        {"energy": {"p": 0.3}, "epochs": 8},
        {"cost": {"probe": 1, "transmit": 2}, "epochs": 8},
        {"starts_per_epoch": 1, "cost": {"train": 2}},
        {
            "epochs": 8,
            "energy": {"p": 0.5, "correlation": 0.5, "mean": 0.9},
            "battery": {
                "efficiency": 0.9,
                "self_discharge": 0.01,
                "idle": 0.3,
                "cutoff": 3,
                "wake": 6,
                "capacity": 40,
                "initial": 20,
            },
            "cost": {"train_slots": 5, "transmit_slots": 2, "probe": 1, "listen": 1, "download": 2},
        },
        {
            "epochs": 8,
            "energy": {"p": 0.8},
            "battery": {"capacity": 40, "idle": 0.1},
            "cost": {"transmit_slots": 3, "listen": 1, "download": 2},
            "policy": {"name": "random-k", "reserve": True},
        },
        {"cost": {"train": 2}, "energy": {"p": 1.0}},
        {"aggregation": {"name": "shrinkage"}, "staleness": {"name": "polynomial"}, "cost": {"train": 8}},
        {"aggregation": {"name": "buffered", "m": 4}},
        {"aggregation": {"name": "all"}},
        {"staleness": {"name": "discard", "after": 0}, "cost": {"train": 8}},
        {"policy": {"reset": "aggregated", "mu": 0.01}, "learning": {"first_moment": "first-pass"}},
        {"learning": {"first_moment": "zero", "probe_batch": "fixed"}},
        {"policy": {"name": "fedbacys-odd", "turns": "across-epochs", "groups": 2}, "epochs": 8},
        {"battery": {"initial": 10}, "sgd": {"momentum": 0.9, "proximal": 0.1}},
        {"data": {"sizes": [12, 3, 30, 7, 25, 1], "samples_per_client": 0}, "learning": {"first_moment": "first-pass"}},
        {"data": {"sizes": "lognormal"}, "aggregation": {"name": "all"}},
        # Trainings longer than an epoch: orders without a model, and probes in the slot in which a training ends.
        LONG | {"policy": {"name": "random-k", "k": 2}, "aggregation": {"name": "buffered", "m": 3}},
        LONG | {"policy": {"name": "fedavg"}, "aggregation": {"name": "received", "by": "changes"}},
        LONG | {"policy": {"name": "fedavg"}, "aggregation": {"name": "fedbuff", "k": 3}},
        LONG | {"policy": {"name": "random-k", "k": 4}, "aggregation": {"name": "fedvarp", "eta": 0.5}},
        {"aggregation": {"name": "mifa", "eta": 0.5, "memory": "float16", "where": "disk"}},
        {"aggregation": {"name": "fedopt", "method": "momentum", "eta": 0.3}, "cost": {"train": 8}},
        {"aggregation": {"name": "fedasync"}, "staleness": {"name": "polynomial"}, "cost": {"train": 8}},
        LONG | {"policy": {"name": "vaoi-parameters", "k": 2, "threshold": 0.01}},
        # Local objectives, the reserve, and a running mean, which is scored and handed out.
        {"objective": {"name": "balanced-softmax"}},
        LONG | {"objective": {"name": "fedlc", "tau": 0.5}},
        {"policy": {"reserve": True}, "energy": {"p": 0.9}},
        {"policy": {"name": "fedbacys", "reserve": True}, "epochs": 8, "energy": {"p": 0.9}},
        {"learning": {"average": 0.6, "eval_every": 1}, "objective": {"name": "balanced-softmax", "smoothing": 1.0}},
        {"model": {"name": "tests.oracle.networks:dropping"}},
        {"model": NORMALISED},
        # Two trainings in an epoch, and trainings that end in the slot of a probe.
        {"model": NORMALISED | {"keep_local": True}, "cost": {"train": 2}, "energy": {"p": 1.0}},
        LONG | {"model": NORMALISED | {"keep_local": True}, "policy": {"mu": 0.2}, "sgd": {"lr": 0.1}},
    ],
    ids=str,
)
def test_other_worlds_and_rules_agree_too(settings: dict[str, Any], tmp_path: Path) -> None:
    assert_same(small(**settings), tmp_path)


def test_a_hundred_nodes_agree_with_the_simulator(tmp_path: Path) -> None:
    experiment = small(clients=100, epochs=3, policy={"k": 10})
    rounds = assert_same(experiment, tmp_path)
    assert [row["answered"] for row in rounds] == [100] * 3


def test_the_model_is_sent_once_a_round_and_never_when_it_has_not_changed(tmp_path: Path) -> None:
    experiment = small(energy={"p": 0.25}, epochs=8)
    strategy, grid = federate(experiment, tmp_path)
    assert strategy.federation is not None
    changed = [True] + [row["updates"] > 0 for row in strategy.federation.rounds[:-1]]
    assert not all(changed)
    for epoch, new in enumerate(changed):
        queries = [with_model for kind, at, _, with_model in grid.sent if (kind, at) == ("query", epoch)]
        orders = [with_model for kind, at, _, with_model in grid.sent if (kind, at) == ("train", epoch)]
        assert queries == [new] * experiment.clients
        assert not any(orders)


def test_a_policy_that_makes_no_probe_sends_the_model_to_the_chosen_alone(tmp_path: Path) -> None:
    experiment = small(policy={"name": "random-k", "k": 2})
    _, grid = federate(experiment, tmp_path)
    assert not any(with_model for kind, _, _, with_model in grid.sent if kind == "query")
    for epoch in range(experiment.epochs):
        selected = {client for client, chosen in grid.orders[epoch] if chosen}
        assert {
            client for kind, at, client, sent in grid.sent if (kind, at, sent) == ("train", epoch, True)
        } <= selected
