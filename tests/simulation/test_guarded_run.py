"""A run whose updates pass a guard: one client's sensor is broken, and what it learns ruins the model."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fallow.data import Dataset
from fallow.experiment import Experiment
from fallow.simulation.engine import Engine
from fallow.state import pack
from tests.own_parts import points

BROKEN = 2


def broken_sensor(seed: int) -> Dataset:
    """Points of five clients; one of them measures three hundred times too much."""
    data = points(seed)
    assert data.client is not None
    return replace(data, x=np.where(data.client[:, None] == BROKEN, 300 * data.x, data.x).astype(np.float32))


def engine(**sections: Any) -> Engine:
    settings: dict[str, Any] = {
        "clients": 5,
        "epochs": 4,
        "energy": {"p": 1.0},
        "battery": {"initial": 20},
        "policy": {"name": "fedavg"},
        "starts_per_epoch": 1,
        "data": {"name": f"{__name__}:broken_sensor", "partition": "natural"},
        "model": {"name": "tests.own_parts:perceptron"},
        "learning": {"mode": "train", "eval_every": 1},
        "compute": {"strategy": "spread", "workers": 1},
    }
    return Engine(Experiment.parse(settings | sections))


def test_without_a_guard_a_broken_client_ruins_the_model() -> None:
    run = engine()
    assert [record.dropped for record in run] == [0] * 4
    assert np.abs(run.learner.weights).max() > 30


def test_with_a_guard_its_updates_are_dropped_and_its_age_grows() -> None:
    run = engine(aggregation={"guard": 10})
    records = list(run)
    assert [(record.uploads, record.aggregated, record.dropped) for record in records] == [(5, 4, 1)] * 4
    assert np.abs(run.learner.weights).max() < 3
    assert run.delivered.tolist() == [True, True, False, True, True]
    drops = [event.clients.tolist() for record in records for event in record.events if event.kind == "drop"]
    assert drops == [[BROKEN]] * 4


def test_a_guard_that_refuses_nothing_changes_nothing() -> None:
    sound = {"data": {"name": "tests.own_parts:points", "partition": "natural"}}
    plain, guarded = engine(**sound), engine(**sound, aggregation={"guard": 10})
    assert [record.dropped for record in plain] == [record.dropped for record in guarded] == [0] * 4
    np.testing.assert_array_equal(plain.learner.weights, guarded.learner.weights)


@pytest.mark.parametrize("cut", [1, 3])
def test_what_a_guard_has_seen_outlives_a_checkpoint(cut: int) -> None:
    whole, first, second = (engine(aggregation={"guard": 10}) for _ in range(3))
    list(whole)
    for _ in range(cut):
        first.step()
    second.restore(second.unpack(*pack(first.state)))
    assert len(second.learner.seen) == 4 * cut
    list(second)
    np.testing.assert_array_equal(second.learner.weights, whole.learner.weights)
    np.testing.assert_array_equal(second.learner.seen, whole.learner.seen)
