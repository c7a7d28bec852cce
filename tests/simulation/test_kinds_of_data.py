"""Runs that learn from signals and from vectors, of clients who own them."""

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.simulation.engine import Engine

OWN = "tests.own_parts:"
SIGNALS = {"name": "sensors", "samples": 250, "test_samples": 60, "clients": 5, "noise": 0.5}


def learn(data: dict, model: str, strategy: str, **settings) -> Engine:
    engine = Engine(
        Experiment.parse(
            {
                "clients": 5,
                "epochs": 25,
                "slots_per_epoch": 10,
                "energy": {"p": 0.9},
                "cost": {"train": 6},
                "battery": {"capacity": 8},
                "policy": {"k": 3},
                "learning": {"mode": "train", "eval_every": 25},
                "sgd": {"lr": 0.1},
                "data": {"partition": "natural"} | data,
                "model": {"name": OWN + model},
                "compute": {"strategy": strategy, "workers": 2},
            }
            | settings
        )
    )
    engine.last = list(engine)[-1]
    return engine


@pytest.mark.parametrize(
    ("data", "model"), [(SIGNALS, "convolved"), (SIGNALS, "perceptron"), ({"name": OWN + "points"}, "perceptron")]
)
def test_signals_and_vectors_are_learnt_from_by_their_owners_either_way(data: dict, model: str) -> None:
    one, two = (learn(data, model, strategy) for strategy in ("spread", "stacked"))
    np.testing.assert_allclose(one.learner.weights, two.learner.weights, atol=1e-4)
    assert len(set(one.learner.data_sizes.tolist())) > 1
    assert one.last.f1 > 0.5


def test_natural_clients_have_what_the_dataset_says() -> None:
    engine = learn({"name": OWN + "points"}, "perceptron", "spread", epochs=1)
    # 500 = 33 · 15 + 5: client k has k + 1 of each 15, and the last five are of the clients 0, 1, 1, 2 and 2.
    assert engine.learner.data_sizes.tolist() == [33 + 1, 66 + 2, 99 + 2, 132, 165]
