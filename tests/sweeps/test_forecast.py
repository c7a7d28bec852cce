"""How long runs will take, from a few worlds and single steps."""

from pathlib import Path

import pytest

from fallow.experiment import Experiment
from fallow.simulation.engine import Engine
from fallow.sweeps import forecast as forecasts
from fallow.sweeps.forecast import forecast
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.timing import Life, Steps, estimate_seconds, live, step_kind, time_steps, until, world_kind

WORLD = {"clients": 20, "epochs": 60, "energy": {"p": 0.5}, "policy": {"k": 4}}
LEARNING = {"learning": {"mode": "train"}, "data": {"samples_per_client": 20}, "compute": {"strategy": "stacked"}}
STEPS = Steps(setup=7.0, training=3.0, probe=2.0, evaluation=1.0, client_evaluation=4.0)


def test_the_estimate_adds_up_the_world_the_trainings_the_probes_and_the_evaluations() -> None:
    experiment = Experiment.parse(WORLD | {"learning": {"mode": "train", "eval_every": 5}})
    often, seldom = Life(0.5, 2.0, 1.0), Life(0.5, 2.0, 0.1)
    assert estimate_seconds(experiment, often, None) == 30
    # the world, the set-up, 120 trainings, the first model and 60 new ones, 12 evaluations, and the clients' once
    assert estimate_seconds(experiment, often, STEPS) == 30 + 7 + 360 + 61 * 2 + 12 + 4
    # 6 new models: an unchanged model is not evaluated again
    assert estimate_seconds(experiment, seldom, STEPS) == 30 + 7 + 360 + 7 * 2 + 7 + 4
    scored = experiment.replace(learning__client_eval_every=25)
    assert estimate_seconds(scored, often, STEPS) == 30 + 7 + 360 + 61 * 2 + 12 + 3 * 4


def test_a_world_that_is_lived_through_counts_what_a_run_has() -> None:
    experiment = Experiment.parse(WORLD)
    records = list(Engine(experiment))
    life = live(experiment, seconds=3600)
    assert life.trainings == sum(record.starts for record in records) / 60 > 0
    assert life.new_models == sum(record.uploads > 0 for record in records) / 60 > 0
    assert life.seconds > 0


def test_a_world_that_takes_too_long_goes_on_as_its_later_half_did() -> None:
    experiment = Experiment.parse(WORLD | {"battery": {"initial": 20}})
    first = Engine(experiment).step()
    life = live(experiment, seconds=0)  # one epoch, and 59 like it
    assert (life.trainings, life.new_models) == (first.starts, first.uploads > 0)
    assert life.trainings > 0


def test_seeds_and_skews_are_of_one_kind_and_whatever_costs_time_is_not() -> None:
    experiment = Experiment.parse(WORLD | LEARNING)
    for same in (experiment.replace(seed=3), experiment.replace(data__alpha=1.0)):
        assert (world_kind(same), step_kind(same)) == (world_kind(experiment), step_kind(experiment))
    for other in (experiment.replace(energy__p=0.1), experiment.replace(policy={"name": "oldest", "k": 4})):
        assert world_kind(other) != world_kind(experiment)
    for other in (
        experiment.replace(model__name="mlp"),
        experiment.replace(policy="fedavg"),
        experiment.replace(clients=9),
    ):
        assert step_kind(other) != step_kind(experiment)


def test_when_time_is_over_some_kinds_were_looked_at_and_one_always() -> None:
    kinds = {f"{number}": Experiment(seed=number) for number in range(5)}
    assert len(until(0.0, kinds, lambda experiment, _: experiment.seed)) == 1
    assert until(3600.0, kinds, lambda experiment, _: experiment.seed) == {kind: int(kind) for kind in kinds}
    assert set(until(3600.0, kinds, lambda _, share: share).values()) == {720.0}


def test_what_was_not_looked_at_is_as_the_mean_of_what_was(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(forecasts, "until", lambda _seconds, kinds, _find: {next(iter(kinds)): Life(0.5, 1.0, 1.0)})
    runs = plan(WORLD, {"energy.p": [0.1, 0.2, 0.3]}, tmp_path)
    assert forecast(runs, workers=3).seconds == 30


def test_single_steps_are_timed_without_a_run(tmp_path: Path) -> None:
    said: list[str] = []
    runs: list[PlannedRun] = plan(WORLD | LEARNING, {"energy.p": [0.1, 1.0], "seed": [0, 1]}, tmp_path / "none")
    found = forecast(runs, 2, said.append)
    assert said == ["Living through 2 of the runs without learning, and timing steps of learning …"]
    assert (found.runs, found.finished, found.at_once) == (4, 0, 2)
    assert found.seconds > 0
    assert not (tmp_path / "none").exists()
    assert min(vars(time_steps(runs[0].experiment)).values()) > 0


@pytest.mark.parametrize("policy", ["fedavg", "unlimited"])
def test_who_probes_nothing_pays_for_no_probe(policy: str) -> None:
    assert time_steps(Experiment.parse(WORLD | LEARNING | {"policy": policy})).probe == 0
