"""A running mean of the iterates: what is evaluated and handed out, while clients train from the newest."""

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.learning.evaluation import evaluate
from fallow.simulation.engine import Engine
from fallow.state import pack


def experiment(**learning) -> Experiment:
    return Experiment(
        clients=6,
        epochs=10,
        energy={"p": 0.9},
        policy="fedavg",
        data={"name": "digits", "samples_per_client": 30},
        learning={"mode": "train", "eval_every": 3} | learning,
        compute={"workers": 1, "strategy": "stacked"},
    )


def test_the_mean_keeps_its_share_and_takes_the_rest_of_the_newest() -> None:
    engine = Engine(experiment(average=0.75))
    mean = engine.learner.weights.astype(np.float64)
    for record in engine:
        mean = 0.75 * mean + 0.25 * engine.learner.weights
        np.testing.assert_allclose(engine.learner.handed_out, mean, atol=1e-6)
        if record.f1 is not None:
            scores = evaluate(engine.learner.workers, engine.learner.mean_weights, engine.learner.task.test)
            assert record.f1 == scores.f1


def test_clients_train_as_if_there_were_no_mean() -> None:
    with_mean, without = Engine(experiment(average=0.75)), Engine(experiment())
    assert [record.train_loss for record in with_mean] == [record.train_loss for record in without]
    np.testing.assert_array_equal(with_mean.learner.weights, without.learner.weights)
    assert without.learner.handed_out is without.learner.weights


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_a_run_goes_on_from_its_state_to_the_same_bytes(average: float) -> None:
    whole, first, second = (Engine(experiment(average=average)) for _ in range(3))
    records = list(whole)
    for _ in range(4):
        first.step()
    second.restore(second.unpack(*pack(first.state)))
    assert [record.f1 for record in second] == [record.f1 for record in records[4:]]
    np.testing.assert_array_equal(second.learner.handed_out, whole.learner.handed_out)
