"""Which version ages a run records, by what, and at what price."""

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.learning import learner as learner_module
from fallow.paper import next_version_age
from fallow.policies import POLICIES, AnyPolicy, needs_of
from fallow.runs.origins import find_origin
from fallow.runs.summary import Totals, summarise
from fallow.simulation.engine import Engine
from tests.simulation.test_learning_run import experiment


def probes_features(policy: AnyPolicy) -> bool:
    needs = needs_of(policy)
    return needs.distance == "features" or needs.probe_loss


@pytest.fixture
def forward_passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the forward passes that are made for features."""
    made: list[int] = []
    for name in ("probe", "first_moments"):
        work = getattr(learner_module, name)

        def counted(*arguments, _work=work, _name=name, **options):
            if _name == "probe" or arguments[0] == "first-pass":
                made.append(1)
            return _work(*arguments, **options)

        monkeypatch.setattr(learner_module, name, counted)
    return made


@pytest.mark.parametrize("policy", [name for name, cls in POLICIES.items() if not probes_features(cls())])
def test_policies_that_need_no_features_make_no_forward_pass_for_them(policy: str, forward_passes: list[int]) -> None:
    records = list(Engine(experiment(policy={"name": policy}, learning={"first_moment": "first-pass"})))
    assert sum(record.uploads for record in records) > 0
    assert forward_passes == []


@pytest.mark.parametrize("policy", [name for name, cls in POLICIES.items() if probes_features(cls())])
def test_policies_that_need_a_probe_make_one_forward_pass_for_each_new_model(
    policy: str, forward_passes: list[int]
) -> None:
    records = list(Engine(experiment(policy={"name": policy})))
    assert len(forward_passes) == 1 + sum(bool(record.aggregated) for record in records[:-1]) > 2


def test_new_models_are_probed_for_policies_that_need_it_and_where_ages_are_asked_for(
    forward_passes: list[int],
) -> None:
    for settings in ({"policy": {"name": "vaoi"}}, {"policy": {"name": "fedavg"}, "learning": {"ages": "always"}}):
        forward_passes.clear()
        records = list(Engine(experiment(**settings)))
        new_models = 1 + sum(bool(record.aggregated) for record in records[:-1])
        assert len(forward_passes) == new_models > 2


def test_a_run_without_ages_has_empty_cells_and_no_keeps() -> None:
    engine = Engine(experiment(policy={"name": "fedavg"}))
    records, totals = [], Totals()
    for record in engine:
        records.append(record)
        totals.add(record)
    assert engine.ages == "none"
    assert {record.mean_age_selected for record in records} == {record.mean_age_delivered for record in records}
    assert {record.mean_age_delivered for record in records} == {None}
    assert not any(kind in ("keep",) for record in records for kind, *_ in record.events)
    summary = summarise(engine, totals, [find_origin(engine)])
    assert (summary["ages"], summary["mean_age_delivered"]) == ("none", None)


@pytest.mark.parametrize(
    ("settings", "ages"),
    [
        ({"policy": {"name": "vaoi"}}, "features"),
        ({"policy": {"name": "vaoi-parameters"}}, "parameters"),
        ({"policy": {"name": "vaoi-parameters"}, "learning": {"ages": "always"}}, "features"),
        ({"policy": {"name": "fedbacys"}, "learning": {"ages": "always"}}, "features"),
        ({"policy": {"name": "fedbacys"}, "learning": {"mode": "none"}}, "by chance"),
    ],
)
def test_a_run_says_what_its_ages_are_counted_by(settings: dict, ages: str) -> None:
    assert Engine(experiment(**settings)).ages == ages


def ages_by_hand(chosen: Experiment, threshold: float, *, parameters: bool) -> tuple[list[float], list[float]]:
    """The mean ages that a run records, and those of its distances at the end of the first slots."""
    engine = Engine(chosen)
    learner = engine.learner
    name = "parameter_distances" if parameters else "distances"
    seen: list[np.ndarray] = []
    measure = getattr(learner, name)
    setattr(learner, name, lambda *arguments: seen.append(measure(*arguments)) or seen[-1])
    recorded, expected = [], []
    age = np.zeros(chosen.clients, dtype=np.int32)
    for record in engine:
        recorded.append(record.mean_age_delivered)
        age = next_version_age(age, seen[-1], threshold, engine.delivered)
        expected.append(float(age.mean()))
    return recorded, expected


@pytest.mark.parametrize(
    ("settings", "threshold", "parameters"),
    [
        ({"policy": {"name": "vaoi", "mu": 0.2}, "learning": {"mu": 0.9}}, 0.2, False),
        ({"policy": {"name": "vaoi", "mu": 0.2}, "learning": {"mu": 0.9, "ages": "always"}}, 0.9, False),
        ({"policy": {"name": "vaoi-parameters", "threshold": 0.03}}, 0.03, True),
        ({"policy": {"name": "vaoi-parameters", "threshold": 0.03}, "learning": {"ages": "always"}}, 0.5, False),
    ],
)
def test_ages_count_from_the_threshold_that_they_should(settings: dict, threshold: float, parameters: bool) -> None:
    recorded, expected = ages_by_hand(experiment(**settings, sgd={"lr": 0.05}), threshold, parameters=parameters)
    assert recorded == expected
    assert recorded != list(range(1, len(recorded) + 1))


def test_recording_ages_changes_nothing_else_and_costs_no_energy() -> None:
    runs = []
    for ages in ("needed", "always"):
        settings = {"policy": {"name": "fedavg"}, "cost": {"probe": 1}, "learning": {"ages": ages}}
        engine = Engine(experiment(**settings))
        rows = [{k: v for k, v in r.row().items() if not k.startswith("mean_age")} for r in engine]
        runs.append((rows, engine.learner.weights.tobytes()))
    assert runs[0] == runs[1]
    assert all(row["consumed_probe"] == 0 for row in runs[1][0])
