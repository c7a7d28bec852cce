"""``fallow bench`` and ``fallow.bench`` from one end to the other, in a suite of seconds."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fallow
from fallow.cli import app
from fallow.errors import ConfigError, PolicyError
from fallow.policies import FedAvg, VAoI
from fallow.study.bench.benchmark import plan_bench
from fallow.study.bench.entrants import built_ins
from fallow.study.bench.renewal import plan_references
from tests.cli.runner import fail, invoke
from tests.study.bench.small import POLICY, SUITE


@dataclass(frozen=True)
class Everyone:
    """Selects all."""

    def init(self, clients: int) -> None:
        return None

    def select(self, state: None, view: fallow.policies.EpochView, rng: np.random.Generator):
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Wrong(Everyone):
    def select(self, state: None, view: fallow.policies.EpochView, rng: np.random.Generator):
        return state, np.ones(view.clients - 1, dtype=np.bool_)


MISSING = "there is no reference, because the built-ins have not been run yet. Nothing is compared or ranked there."


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a policy of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_policy.py").write_text(POLICY)
    yield tmp_path
    sys.modules.pop("own_policy", None)


def read_json(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def finished(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json")}


def test_the_built_ins_are_run_once_and_then_only_the_entrant_is(small: Path, user: Path) -> None:
    reference = ("bench", "--reference", "--policies", "fedavg,random-k", "--suite", str(small), "--out", "runs")
    told = invoke(app, *reference, "--workers", "1")
    assert "8 of 8 runs finished" in told
    assert {path.name for path in small.glob("*.csv")} == {"poor.csv", "rich.csv"}
    tables, runs = (small / "poor.csv").read_bytes(), finished(user / "runs")
    invoke(app, *reference, "--workers", "1")  # nothing is left to do
    assert ((small / "poor.csv").read_bytes(), finished(user / "runs")) == (tables, runs)

    entered = ("bench", "own_policy:Mine", "--suite", str(small), "--out", "runs", "--workers", "1", "--json")
    document = read_json(*entered)
    assert document["notes"] == []
    assert {rank["entrant"] for rank in document["ranks"]} == {"own_policy:Mine", "fedavg", "random-k"}
    assert {(one["scenario"], one["other"], one["seeds"]) for one in document["differences"]} == {
        (scenario, other, 2) for scenario in ("poor", "rich") for other in ("fedavg", "random-k")
    }
    runs = finished(user / "runs")
    assert len(runs) == 8 + 4
    assert read_json(*entered) == document
    own = fallow.bench("fedavg", suite=small, out="runs", workers=1, progress=False)
    assert sorted(own.names) == ["fedavg", "random-k"]  # what is entered stands in for its reference
    assert len(own.scores) == 8
    assert finished(user / "runs") == runs


@pytest.mark.usefixtures("user")
def test_the_reference_of_one_scenario_can_be_made_and_what_lacks_one_is_said_and_not_ranked(small: Path) -> None:
    reference = ("bench", "--reference", "--policies=fedavg", "--suite", str(small), "--out", "runs", "--workers", "1")
    assert "2 of 2 runs finished" in invoke(app, *reference, "--scenario", "rich")
    assert [path.name for path in small.glob("*.csv")] == ["rich.csv"]
    result = fallow.bench(VAoI(k=3), suite=small, out="runs", workers=1, progress=False)
    makes = f"`fallow bench --reference --suite {small} --scenario poor` makes these results."
    assert result.notes == (f"poor: {MISSING}", makes)
    assert {one.scenario for one in result.find_differences("vaoi(k=3)")} == {"rich"}
    assert [rank.cells for rank in result.ranks()] == [2, 2]  # two seeds of the one scenario that has a reference
    alone = fallow.bench(VAoI(k=3), suite=small, out="runs", scenarios=["poor"], workers=1, progress=False)
    assert (alone.scenarios, [rank.cells for rank in alone.ranks()]) == (["poor"], [2])


def test_a_policy_that_was_changed_is_run_again(small: Path, user: Path) -> None:
    (before,) = {run.directory.parent for run in plan_bench(["own_policy:Mine"], {}, small).runs[:2]}
    sys.modules.pop("own_policy")
    (user / "own_policy.py").write_text(POLICY.replace("< self.k", ">= view.clients - self.k"))
    (after,) = {run.directory.parent for run in plan_bench(["own_policy:Mine"], {}, small).runs[:2]}
    assert before.parent == after.parent
    assert before != after


@pytest.mark.usefixtures("user")
def test_python_takes_objects_and_classes_and_a_rule(small: Path) -> None:
    (small / "suite.toml").write_text(SUITE.replace("seeds = 2", "seeds = 1"))
    result = fallow.bench(Everyone, VAoI(k=3), aggregation="shrinkage", suite=small, workers=1, progress=False)
    assert result.entrants == ("Everyone + shrinkage", "vaoi(k=3) + shrinkage")
    assert result.failures == {}
    assert result.notes[0] == f"poor: {MISSING}"
    assert result.notes[-1] == f"`fallow bench --reference --suite {small}` makes these results."
    page = result.report()
    assert page == Path("runs/bench/small/bench.html")
    assert "· suite small · 2 scenarios · 1 seed<" in page.read_text(encoding="utf-8")
    assert list(result.table().seeds) == [1] * 4


def test_the_k_of_a_scenario_is_that_of_names_and_classes_and_objects_have_their_own(small: Path) -> None:
    def k_of(policy: object) -> int:
        (planned,) = {run.experiment.policy.options["k"] for run in plan_bench([policy], {}, small).runs}
        return planned

    assert [k_of(policy) for policy in ("vaoi", VAoI, VAoI(k=4))] == [2, 2, 4]


def test_an_object_is_told_apart_from_the_built_in_of_its_name(small: Path) -> None:
    names = [plan_bench([policy], {}, small).entrants[0].name for policy in (VAoI(k=3), FedAvg(), "vaoi")]
    assert names == ["vaoi(k=3)", "fedavg", "vaoi"]


def test_an_entrant_is_a_whole_method_and_its_name_says_so(small: Path) -> None:
    method = {"aggregation": "shrinkage", "objective.name": "balanced-softmax", "learning.average": 0.9}
    planned = plan_bench([VAoI(k=3)], {"policy.reserve": True, **method}, small)
    (entrant,) = planned.entrants
    assert entrant.name == "vaoi(k=3) + reserve=True + shrinkage + balanced-softmax + average=0.9"
    experiment = planned.runs[0].experiment
    assert (experiment.policy.reserve, experiment.policy.options["k"]) == (True, 3)
    assert (experiment.aggregation.name, experiment.objective.name) == ("shrinkage", "balanced-softmax")
    assert experiment.learning.average == 0.9
    assert experiment.learning.eval_every == 1  # the scenario's


def test_the_references_are_every_policy_and_every_other_rule(small: Path) -> None:
    names = [entrant.name for entrant in plan_references(small).entrants]
    assert names == [entrant.name for entrant in built_ins() if entrant.name != "vaoi + received"]
    assert {*fallow.policies.POLICIES} < {*names}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "A benchmark needs an entrant: a policy, as in my_policy:Mine, or an aggregation rule."),
        (("fedavgg",), "There is no policy 'fedavgg'; did you mean 'fedavg'?"),
        (("fedavg", "--suite", "quik"), "There is no suite 'quik'; did you mean 'quick'?"),
        (("fedavg", "--aggregation", "shrinkag"), "There is no aggregation 'shrinkag'; did you mean 'shrinkage'?"),
        (("fedavg", "--set", "energy.p=0.5"), "energy.p is the scenario's; an entrant may set policy, aggregation,"),
        (("fedavg", "fedavg"), "The entrant fedavg is given twice."),
        (("fedavg", "--latex", "--json"), "choose one of the two"),
        (("fedavg", "--policies", "vaoi"), "--policies and --rules choose built-ins to run with --reference"),
        (("fedavg", "--reference"), "--reference runs the built-ins"),
        (("--reference", "--rules", "received,mean"), "There is no built-in aggregation 'mean'"),
    ],
)
def test_a_careless_call_is_one_sentence(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, told = fail(capsys, monkeypatch, "bench", *arguments)
    assert code == 2
    assert sentence in " ".join(told.split())
    assert list(tmp_path.iterdir()) == []


def test_a_policy_that_breaks_its_contract_is_not_entered(small: Path) -> None:
    with pytest.raises(PolicyError, match=r"Wrong can't be entered: The policy's select returned an array of shape"):
        plan_bench([Wrong()], {}, small)


def test_a_dataset_that_is_not_there_is_said_before_anything_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fallow.errors.FallowError, match="fallow data fetch cifar10"):
        fallow.bench("fedavg", suite="full", progress=False)


def test_a_misspelt_argument_and_a_policy_by_keyword_are_said() -> None:
    with pytest.raises(ConfigError, match=r"There is no setting 'suit'; did you mean 'suite'\?"):
        fallow.bench("vaoi", suit="quick")
    with pytest.raises(ConfigError, match="An entrant's policy is given first"):
        fallow.bench(policy="vaoi")


def test_a_k_above_the_clients_is_said_with_the_scenario(small: Path) -> None:
    with pytest.raises(ConfigError, match=r"vaoi\(k=7\) in the scenario poor: policy.k = 7 is more than clients = 6"):
        plan_bench([VAoI(k=7)], {}, small)
