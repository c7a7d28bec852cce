"""Every energy model and its scalar transcription give the same units, in thousands of random small worlds."""

import random

import pytest

from fallow.energy import unit_rows
from fallow.experiment import Experiment
from tests.oracle.harvest import literal_harvest, some_energy


def some_experiment(rng: random.Random) -> Experiment:
    return Experiment.parse(
        {
            "seed": rng.randrange(2**63),
            "clients": rng.randint(1, 9),
            "epochs": rng.randint(1, 8),
            "slots_per_epoch": rng.randint(1, 20),
            "energy": some_energy(rng.choice),
            "policy": {"name": "fedavg"},
        }
    )


def assert_agreement(experiment: Experiment) -> None:
    harvest = experiment.build_harvest()
    epochs = list(range(experiment.epochs))
    random.Random(experiment.seed).shuffle(epochs)  # noqa: S311 - any order gives the same
    rows = {
        epoch: [
            row
            for part in unit_rows(harvest(epoch), experiment.clients, experiment.slots_per_epoch)
            for row in part.tolist()
        ]
        for epoch in epochs
    }
    found = [row for epoch in sorted(rows) for row in rows[epoch]]
    assert found == literal_harvest(experiment), experiment.to_toml()


def test_models_and_their_transcriptions_agree() -> None:
    rng = random.Random(14)  # noqa: S311
    for _ in range(300):
        assert_agreement(some_experiment(rng))


@pytest.mark.slow
def test_models_and_their_transcriptions_agree_in_worlds_never_seen_before() -> None:
    rng = random.Random()  # noqa: S311
    for _ in range(5000):
        assert_agreement(some_experiment(rng))
