"""Grids from Python: axes of any kind, objects beside names, and the same bytes as from the command line."""

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.cli import app
from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment
from fallow.policies import FedAvg, FedBacys, VAoI
from fallow.study.sweep import compare, sweep
from fallow.sweeps.axes import list_axes
from fallow.sweeps.grid import plan, read_grid
from tests.cli.runner import invoke

SMALL: dict[str, Any] = {"clients": 12, "epochs": 4, "energy": {"p": 0.5}}
QUICK = [f"--set={s}" for s in ("clients=12", "epochs=4", "energy.p=0.5")]


def small() -> Experiment:
    return Experiment.parse(SMALL | {"policy": {"k": 2}})


def names(grid: dict[str, list[Any]], shared: dict[str, Any] = SMALL) -> list[str]:
    return [run.directory.name for run in plan(shared, grid, Path("out"))]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_an_axis_is_any_iterable_and_is_listed_once() -> None:
    given = {"seed": range(2), "energy__p": (p / 10 for p in (1, 2)), "policy.k": np.arange(1, 3), "clients": {7}}
    assert list_axes(given) == {"seed": [0, 1], "energy.p": [0.1, 0.2], "policy.k": [1, 2], "clients": [7]}
    assert [type(value) for value in list_axes(given)["policy.k"]] == [int, int]


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"seed": 3}, "The axis seed is the single value 3; give a list of values, as in [3]."),
        ({"seed": "012"}, "The axis seed is the single value '012'; give a list"),
        ({"policy": FedAvg()}, "The axis policy is the single value FedAvg(); give a list of values, as in [FedAvg()]"),
        ({"policy": {"name": "vaoi"}}, "The axis policy is the single value {'name': 'vaoi'}"),
        ({"seed": []}, "The axis seed must be a list of at least one value, not []."),
        ({"seed": iter(())}, "The axis seed must be a list of at least one value"),
        ({"seed": [1, 1]}, "The axis seed holds a value twice: [1, 1]."),
        ({"policy": [VAoI(k=2), {"name": "vaoi", "k": 2}]}, "The axis policy holds a value twice"),
        ({"policy": [VAoI(k=2), VAoI(k=90)]}, "At policy = vaoi(k=90): policy.k = 90 is more than clients = 12"),
        ({"policy": ["vaio"]}, "There is no policy 'vaio'; did you mean 'vaoi'?"),
        ({"worker": 2}, "There is no setting 'worker'; did you mean 'workers'?"),
        ({"polcy": ["vaoi"]}, "There is no setting 'polcy'; did you mean 'policy'?"),
        ({"energy__q": [1]}, "At energy.q = 1: There is no setting 'energy.q'"),
        ({"energy__p": [1.0], "energy.p": [0.5]}, "The axis energy.p is given twice"),
        ({"policy": [VAoI(k=2)], "policy__mu": [0.1]}, "policy and policy.mu can't both be axes"),
        ({"policy": ["vaoi"], "policy__name": ["fedavg"]}, "policy and policy.name can't both be axes"),
        ({"seed": [0], "shard": "3/2"}, "There is no shard '3/2'; in i/n, i goes from 1 to n."),
        ({"seed": [0], "shard": "a"}, "The shard 'a' is not of the form i/n, as in 1/4."),
        ({"seed": [0], "shard": "1/2", "ray": "auto"}, "A shard and a Ray cluster both say who carries out which runs"),
    ],
)
def test_a_wrong_grid_is_one_sentence_before_anything_runs(axes: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        sweep(small(), tmp_path / "out", progress=False, **axes)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("out", "words"), [(None, "out = None must be the path of a folder"), ("", "out = ''")])
def test_out_must_be_a_path(out: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        sweep(small(), out, seed=[0])


def test_a_comparison_needs_a_seed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="seeds = 0 must be at least 1"):
        compare(small(), tmp_path, seeds=0)
    with pytest.raises(ConfigError, match="The axis policies is the single value 'vaoi'"):
        compare(small(), tmp_path, policies="vaoi")


def test_objects_show_the_options_that_are_not_defaults() -> None:
    policies = [VAoI(k=2, mu=0.1), VAoI, "fedavg", {"name": "fedbacys", "groups": 3}]
    assert names({"policy": policies, "seed": [0]}) == [
        "policy=vaoi(k=2,mu=0.1),seed=0",
        "policy=vaoi,seed=0",
        "policy=fedavg,seed=0",
        "policy=fedbacys(groups=3),seed=0",
    ]


def test_names_alone_are_the_axis_of_the_command_line() -> None:
    assert names({"policy": ["fedavg", "fedbacys"]}) == names({"policy.name": ["fedavg", "fedbacys"]})
    assert names({"energy": ["bernoulli"]}, {"clients": 12}) == ["model=bernoulli"]


@dataclass(frozen=True)
class Picks:
    """Chooses nobody; one of two classes of the same name."""

    path: str = ""

    def init(self, clients: int) -> None:
        return None

    def select(self, state: None, view: Any, rng: Any) -> tuple[None, Any]:
        return state, np.zeros(view.clients, dtype=bool)


def test_labels_are_unique_and_safe_for_files() -> None:
    runs = names({"policy": [Picks(path='a/b:"c"'), Picks(path="d e")]})
    assert runs == ["policy=Picks(path=a_b__c_)", "policy=Picks(path=de)"]


def test_options_that_all_share_go_to_the_policies_that_have_them() -> None:
    shared = SMALL | {"policy": {"groups": 2, "k": 3}}
    runs = plan(shared, {"policy.name": ["vaoi", "fedbacys", "fedavg"]}, Path("out"))
    assert [run.experiment.build("policy") for run in runs] == [VAoI(k=3), FedBacys(groups=2), FedAvg()]


def test_an_option_that_no_policy_of_the_grid_has_is_an_error() -> None:
    with pytest.raises(
        ConfigError, match=r"policy\.groups is an option of fedbacys, fedbacys-odd, cycp, not of the policy"
    ):
        plan(SMALL | {"policy": {"groups": 2}}, {"policy.name": ["vaoi", "fedavg"]}, Path("out"))


def test_an_object_has_all_of_its_options_and_shares_none() -> None:
    runs = plan(SMALL | {"policy": {"name": "vaoi", "k": 3}}, {"policy": [VAoI(k=5), "vaoi"]}, Path("out"))
    assert [run.experiment.build("policy").k for run in runs] == [5, 3]


def test_sections_of_other_kinds_are_axes_too() -> None:
    runs = plan({"battery": {"initial": 5}}, {"battery": [{"capacity": 30}, {"capacity": 40}]}, Path("out"))
    assert [(run.experiment.battery.capacity, run.experiment.battery.initial) for run in runs] == [(30, 5), (40, 5)]


def test_the_command_line_and_objects_give_the_same_bytes(tmp_path: Path) -> None:
    invoke(app, "sweep", *QUICK, "--grid", "policy.k=2,3", "--grid", "seed=0,1", "--out", str(tmp_path / "strings"))
    study = sweep(small(), tmp_path / "objects", policy=[VAoI(k=2), VAoI(k=3)], seed=range(2), progress=False)
    assert len(study) == 4
    for k in (2, 3):
        for seed in (0, 1):
            one = files(tmp_path / "strings" / f"k={k},seed={seed}")
            assert one == files(tmp_path / "objects" / f"policy=vaoi(k={k}),seed={seed}")
            assert {"config.toml", "epochs.csv", "events.parquet", "summary.json"} <= one.keys()


def test_a_comparison_is_that_of_the_command_line(tmp_path: Path) -> None:
    study = compare(small(), tmp_path, policies=["vaoi", "fedavg"], seeds=2, progress=False)
    assert [run.directory.name for run in study.members][:2] == ["name=vaoi,seed=0", "name=vaoi,seed=1"]
    command = ("compare", *QUICK, "--set=policy.k=2", "--policies=vaoi,fedavg", "--seeds=2", "--out", str(tmp_path))
    assert "4 of 4 runs finished;" in invoke(app, *command)  # there was nothing left to do


def test_shared_options_work_on_the_command_line(tmp_path: Path) -> None:
    shared, grid = read_grid(None, ["policy.groups=2"], ["policy.name=vaoi,fedbacys"])
    runs = plan(SMALL | shared, grid, tmp_path)
    assert runs[1].experiment.build("policy").groups == 2


def test_some_failures_are_a_warning_and_all_are_an_error(tmp_path: Path) -> None:
    crash = {"name": "tests.policies.test_check:Crash"}
    with pytest.warns(UserWarning, match=r"1 of 2 runs failed; the first, policy=Crash: The policy"):
        study = sweep(Experiment.parse(SMALL), tmp_path / "some", policy=[crash, FedAvg()], progress=False)
    assert (len(study), list(study.failures)) == (1, ["policy=Crash"])
    with pytest.raises(FallowError, match="1 of 1 run failed; the first, policy=Crash: The policy"):
        sweep(Experiment.parse(SMALL), tmp_path / "all", policy=[crash], progress=False)


def test_a_class_of_a_function_runs_here_and_goes_on_here(tmp_path: Path, capsys, monkeypatch) -> None:
    @dataclass(frozen=True)
    class Local(Picks):
        """Known to this process alone."""

        stops: bool = False

        def select(self, state: None, view: Any, rng: Any) -> tuple[None, Any]:
            if self.stops and view.epoch == 3 and "go on" not in os.environ:
                raise KeyboardInterrupt
            return state, np.arange(view.clients) < 2

    experiment = Experiment(**SMALL, output={"checkpoint_every": 1})
    ask = partial(sweep, experiment, tmp_path, policy=[Local(), Local(stops=True)], workers=2)
    with pytest.raises(KeyboardInterrupt):
        ask()
    assert "Local is defined in this program alone" in capsys.readouterr().err
    assert (tmp_path / "policy=Local(stops=True)" / "checkpoint.fallow").exists()
    monkeypatch.setenv("go on", "")
    one, two = (files(run.directory)["epochs.csv"] for run in ask(progress=False).members)
    assert one == two
    assert capsys.readouterr().err == ""


SCRIPT = """
from dataclasses import dataclass
import numpy as np
from fallow.experiment import Experiment
from fallow.study.sweep import sweep

@dataclass(frozen=True)
class Mine:
    k: int = 2
    def init(self, clients): return None
    def select(self, state, view, rng): return state, np.arange(view.clients) < self.k

experiment = Experiment.parse({"clients": 12, "epochs": 4, "energy": {"p": 0.5}})
study = sweep(experiment, "out", policy=POLICIES, seed=range(2), workers=2, **MORE)
print(sorted(run.directory.name for run in study.members))
"""


def run_script(folder: Path, policies: str, more: str = "{}") -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(SCRIPT.replace("POLICIES", policies).replace("MORE", more))
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)


def test_a_script_needs_no_guard_around_a_sweep(tmp_path: Path) -> None:
    told = run_script(tmp_path, "['vaoi', 'fedavg']")
    assert told.stdout == "['name=fedavg,seed=0', 'name=fedavg,seed=1', 'name=vaoi,seed=0', 'name=vaoi,seed=1']\n"


def test_a_class_of_the_script_itself_runs_in_its_process_and_says_so(tmp_path: Path) -> None:
    told = run_script(tmp_path, "[Mine(k=3), Mine()]")
    assert "policy=Mine(k=3),seed=0" in told.stdout, told.stderr
    assert told.stderr.count("Mine is defined in this program alone") == 1
    assert "one after the other" in told.stderr
    again = run_script(tmp_path, "[Mine(k=3), Mine()]")
    assert (again.stdout, again.stderr) == (told.stdout, "")  # there was nothing left to do


def test_a_class_of_the_script_itself_can_not_go_to_a_cluster(tmp_path: Path) -> None:
    told = run_script(tmp_path, "[Mine()]", "{'ray': 'local'}")
    assert "so a Ray cluster can't load it; put it into a module that all nodes can import" in told.stderr
    assert not (tmp_path / "out").exists()
