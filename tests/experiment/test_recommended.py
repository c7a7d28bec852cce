"""The combination that Fallow recommends."""

from pathlib import Path

import pytest

import fallow
from fallow.errors import ConfigError

CONFIG = Path(__file__).parents[2] / "configs" / "recommended.toml"


def test_the_config_and_the_function_are_the_same_experiment() -> None:
    assert fallow.Experiment.read(CONFIG) == fallow.recommended()


def test_changes_are_those_of_replace() -> None:
    experiment = fallow.recommended(seed=3, policy__k=5, energy__p=0.2)
    assert (experiment.seed, experiment.policy.options["k"], experiment.energy.options["p"]) == (3, 5, 0.2)
    assert experiment.policy.reserve


def test_a_change_that_is_wrong_raises_the_usual_sentence() -> None:
    with pytest.raises(ConfigError, match=r"policy\.k = 10 is more than clients = 5"):
        fallow.recommended(clients=5)


def test_it_learns_within_a_few_epochs() -> None:
    run = fallow.run(fallow.recommended(clients=20, epochs=30, energy__p=0.5), progress=False)
    assert run.summary["f1"] > 0.3
    assert run.summary["stale_uploads"] == 0
