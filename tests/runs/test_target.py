"""Energy and epochs to an F1 score, worked by hand."""

import math

import numpy as np
import pytest

import fallow
from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment
from fallow.runs.target import Reached, check_target, first_reached, reached_by_half

EPOCHS = {
    "energy_total": np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0]),
    "f1": np.array([np.nan, 0.3, np.nan, 0.45, 0.2, 0.6]),
}


def test_the_first_evaluation_that_is_at_least_the_target_counts() -> None:
    assert first_reached(EPOCHS, 0.3) == Reached(energy=20.0, epochs=2)
    assert first_reached(EPOCHS, 0.4) == Reached(energy=40.0, epochs=4)  # that it falls again does not matter
    assert first_reached(EPOCHS, 0.6) == Reached(energy=60.0, epochs=6)
    assert first_reached(EPOCHS, 0.61) is None
    assert first_reached({"energy_total": EPOCHS["energy_total"]}, 0.3) is None


def test_half_of_the_runs_count_those_that_never_arrive() -> None:
    assert reached_by_half([30, 10, 20], runs=3) == 20
    assert reached_by_half([30, 10, 20], runs=4) == 20  # two of four by 20
    assert reached_by_half([30, 10, 20], runs=5) == 30
    assert reached_by_half([30, 10, 20], runs=6) == 30
    assert reached_by_half([30, 10, 20], runs=7) == math.inf
    assert reached_by_half([], runs=1) == math.inf


@pytest.mark.parametrize("target", [0, -0.1, 1.01, 40, "0.4", True, float("nan")])
def test_what_is_no_f1_score_is_one_sentence(target: object) -> None:
    with pytest.raises(ConfigError, match=r"is no F1 score; it must be more than 0 and at most 1, as in 0\.4"):
        check_target(target)


def test_a_run_says_when_it_reached_a_score() -> None:
    settings = {"clients": 10, "epochs": 6, "energy": {"p": 0.8}, "data": {"samples_per_client": 30}}
    run = fallow.run(Experiment.parse(settings | {"learning": {"mode": "train", "eval_every": 2}}), progress=False)
    rows = run.epochs.dropna(subset="f1")
    best = rows.loc[rows.f1.idxmax()]
    found = run.reached(best.f1)
    assert (found.energy, found.epochs) == (best.energy_total, best.epoch + 1)
    assert run.reached(1.0) is None


def test_a_run_without_learning_has_nothing_to_reach() -> None:
    run = fallow.run(Experiment(epochs=2), progress=False)
    with pytest.raises(FallowError, match="'f1' was not measured in this run"):
        run.reached(0.5)
