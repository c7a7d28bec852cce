"""What users of a notebook get wrong: one sentence each, before long work starts."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fallow
from fallow.errors import FallowError
from fallow.policies import FedAvg, VAoI


@dataclass(frozen=True)
class NoSelect:
    """Forgot its one job."""

    def init(self, clients: int) -> None:
        """Remembers nothing."""


@dataclass(frozen=True)
class Raises(NoSelect):
    """Has a bug that shows in epoch 2, with a message of two lines."""

    def select(self, state: None, view: Any, rng: Any) -> tuple[None, Any]:
        """Selects everyone, as long as it can."""
        if view.epoch == 2:
            raise ValueError("first line\nsecond line")
        return state, np.ones(len(view.battery), dtype=np.bool_)


@dataclass(frozen=True)
class Interrupted(NoSelect):
    """Stands for Ctrl-C while epoch 3 goes on."""

    def select(self, state: None, view: Any, rng: Any) -> tuple[None, Any]:
        """Selects everyone, until the user has seen enough."""
        if view.epoch == 3:
            raise KeyboardInterrupt
        return state, np.ones(len(view.battery), dtype=np.bool_)


def small(**settings: Any) -> fallow.Experiment:
    return fallow.Experiment(**{"clients": 10, "epochs": 5, "policy": VAoI(k=2)} | settings)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a file, a config, an empty folder, a run and a study, and no data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "config.toml").write_text("epochs = 3\n")
    fallow.run(small(), "finished", progress=False)
    fallow.sweep(small(), "study", policy=[VAoI(k=2), FedAvg()], workers=1, progress=False)
    return tmp_path


def unfetched() -> fallow.Experiment:
    return small(data="cifar10", learning="train")


NO_EXPERIMENT = "give a fallow.Experiment, as in fallow.Experiment(epochs=100, policy='vaoi')."
READ_IT = "The experiment can't be the path 'config.toml'; read it with fallow.Experiment.read('config.toml')."
NO_PATH = "must be the path of a folder, as in"
TAKEN = "notes.txt is a file; choose another out (--out)."

SLIPS: dict[str, tuple[Callable[[], object], str]] = {
    # The experiment itself.
    "misspelt setting": (lambda: small(epcohs=3), "There is no setting 'epcohs'; did you mean 'epochs'?"),
    "misspelt option": (
        lambda: small(policy={"name": "vaoi", "kk": 3}),
        "There is no setting 'policy.kk'; did you mean 'k'?",
    ),
    "misspelt policy": (lambda: small(policy="vaio"), "There is no policy 'vaio'; did you mean 'vaoi'?"),
    "wrong type": (lambda: small(epochs="ten"), "epochs = 'ten' must be a whole number."),
    "wrong type of option": (lambda: small(policy=VAoI(k=2.5)), "policy.k = 2.5 must be a whole number."),
    "k above N": (lambda: small(policy=VAoI(k=11)), "policy.k = 11 is more than clients = 10; set policy.k to at most"),
    "class without select": (lambda: small(policy=NoSelect), "NoSelect' has no method 'select'; it must have init and"),
    "a lambda": (
        lambda: small(policy=lambda *_: None),
        "The policy is a lambda, for which a config has no name; write",
    ),
    "no such config": (lambda: fallow.Experiment.read("confg.toml"), "The config confg.toml can't be read: No such"),
    # Something else in its place.
    "run of a path": (lambda: fallow.run("config.toml"), READ_IT),
    "run of a Path": (lambda: fallow.run(Path("config.toml")), READ_IT),
    "sweep of a path": (lambda: fallow.sweep("config.toml", "new", seed=[0]), READ_IT),
    "engine of a path": (lambda: fallow.Engine("config.toml"), READ_IT),
    "run of a policy": (lambda: fallow.run(VAoI()), f"of the type VAoI; {NO_EXPERIMENT}"),
    "compare of a policy": (lambda: fallow.compare(VAoI(), "new"), NO_EXPERIMENT),
    "run of a class": (lambda: fallow.run(fallow.Experiment), "the class Experiment"),
    "run of a dict": (lambda: fallow.run({"epochs": 3}), "with fallow.Experiment(**settings)."),
    # Where it goes.
    "out that is taken": (lambda: fallow.run(small(), "finished"), "finished holds a finished run; choose another out"),
    "out that is a file": (lambda: fallow.run(small(), "notes.txt"), TAKEN),
    "out below a file": (lambda: fallow.run(small(), "notes.txt/run"), TAKEN),
    "out of a sweep that is a file": (lambda: fallow.sweep(small(), "notes.txt", seed=[0]), TAKEN),
    "out of a sweep that is a run": (
        lambda: fallow.sweep(small(), "finished", seed=[0]),
        "finished holds a run; choose",
    ),
    "out that is a number": (lambda: fallow.run(small(), 5), f"out = 5 {NO_PATH} out='runs/mine'."),
    "out that is empty": (lambda: fallow.run(small(), ""), f"out = '' {NO_PATH}"),
    # What it needs.
    "no data": (lambda: fallow.run(unfetched()), "run `fallow data fetch cifar10` to fetch it."),
    "no data, kept": (lambda: fallow.run(unfetched(), "new"), "run `fallow data fetch cifar10` to fetch it."),
    "no data, sweep": (lambda: fallow.sweep(unfetched(), "new", seed=[0, 1]), "run `fallow data fetch cifar10` to"),
    # Sweeps.
    "one value": (lambda: fallow.sweep(small(), "new", seed=3), "The axis seed is the single value 3; give a list of"),
    "one text": (
        lambda: fallow.sweep(small(), "new", policy="vaoi"),
        "The axis policy is the single value 'vaoi'; give",
    ),
    "one policy": (
        lambda: fallow.compare(small(), "new", policies=VAoI()),
        "The axis policies is the single value VAoI(",
    ),
    "no axis": (lambda: fallow.sweep(small(), "new"), "A sweep needs an axis, as in seed=range(3); fallow.run carries"),
    "misspelt axis": (lambda: fallow.sweep(small(), "new", sed=[0]), "There is no setting 'sed'; did you mean 'seed'?"),
    "misspelt argument": (lambda: fallow.sweep(small(), "new", worker=[2]), "'worker'; did you mean 'workers'?"),
    "k above N at one point": (
        lambda: fallow.sweep(small(), "new", policy__k=[2, 11]),
        "At policy.k = 11: policy.k = 11 is more than clients = 10; set policy.k to at most 10.",
    ),
    "no workers": (
        lambda: fallow.sweep(small(), "new", seed=[0], workers=-1),
        "workers = -1 must be a whole number of",
    ),
    "no threads": (lambda: fallow.run(small(), workers=-1), "workers = -1 must be a whole number of at least 0; 0 is"),
    "workers in words": (lambda: fallow.resume("finished", workers="two"), "workers = 'two' must be a whole number"),
    "shard beyond": (lambda: fallow.sweep(small(), "new", seed=[0], shard="5/4"), "There is no shard '5/4'; in i/n, i"),
    "shard of numbers": (lambda: fallow.sweep(small(), "new", seed=[0], shard=(1, 4)), "as in shard='1/4'."),
    "ray=True": (lambda: fallow.sweep(small(), "new", seed=[0], ray=True), "ray = True must be an address, as in"),
    # What came of it.
    "misspelt metric": (
        lambda: fallow.load("study").differences("enregy_total", to="fedavg"),
        "There is no metric 'enregy_total'; did you mean 'energy_total'?",
    ),
    "metric that is a number": (
        lambda: fallow.load("study").differences(5, to="fedavg"),
        "There is no metric '5'; valid",
    ),
    "misspelt baseline": (
        lambda: fallow.load("study").differences("energy_total", to="fedav"),
        "No run of this study has policy = fedav; its policies are fedavg, vaoi.",
    ),
    "misspelt column": (
        lambda: fallow.load("finished").plot("enrgy_total"),
        "'enrgy_total'; did you mean 'energy_total'?",
    ),
    "load of an empty folder": (lambda: fallow.load("empty"), "empty is no run directory: it has no config.toml."),
    "load of nothing": (lambda: fallow.load(None), f"directory = None {NO_PATH}"),
    "load of a run": (lambda: fallow.load(fallow.load("finished")), NO_PATH),
    "report of an empty folder": (lambda: fallow.report("empty"), "There is no run in empty; a run directory holds"),
    "report of a list": (lambda: fallow.report(["finished"]), f"directory = ['finished'] {NO_PATH}"),
    "resume of an empty folder": (lambda: fallow.resume("empty"), "empty is no run directory: it has no config.toml."),
    "resume of a study": (lambda: fallow.resume("study"), "study is no run directory: it holds 2; give one, such as"),
    "resume of an experiment": (lambda: fallow.resume(small()), NO_PATH),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence(slip: str, desk: Path) -> None:
    act, words = SLIPS[slip]
    before = sorted(desk.rglob("*"))
    with pytest.raises(FallowError) as caught:
        act()
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert message.endswith((".", "?"))
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.splitlines()[-1].endswith(message)
    assert shown.count("Traceback (most recent call last)") == 1, "a cause that adds nothing"
    assert "pydantic" not in shown
    assert sorted(desk.rglob("*")) == before, "work had begun"


def test_seeds_may_come_from_a_generator(tmp_path: Path) -> None:
    seeds = (2 * number for number in range(2))
    study = fallow.compare(small(), tmp_path, policies=["fedavg"], seeds=seeds, workers=1, progress=False)
    assert [run.seed for run in study.members] == [0, 2]


def test_a_finished_run_that_is_resumed_is_returned(desk: Path) -> None:
    before = {path: path.read_bytes() for path in (desk / "finished").iterdir()}
    assert fallow.resume("finished", progress=False).finished
    assert {path: path.read_bytes() for path in (desk / "finished").iterdir()} == before


def test_a_policy_that_raises_is_named_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(FallowError) as caught:
        fallow.run(small(policy=Raises()), progress=False)
    message = str(caught.value)
    assert "Raises' failed in select, epoch 2: ValueError: first line second line (" in message
    assert f"{Path(__file__).name}, line " in message
    assert "\n" not in message
    assert isinstance(caught.value.__cause__, ValueError), "its author wants to see the way to it"
    with pytest.raises(FallowError) as caught:
        fallow.sweep(small(), tmp_path, policy=[Raises()], seed=[0, 1], workers=1, progress=False)
    assert str(caught.value).startswith("2 of 2 runs failed; the first, policy=Raises,seed=0: The policy '")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (VAoI, "The policy is the class VAoI; give an object, as in VAoI()."),
        (NoSelect(), "The policy has no method 'select'."),
        ("vaoi", "The policy must be a frozen dataclass: decorate it with @dataclass(frozen=True)."),
        (Raises(), "The policy's select raised ValueError: first line second line (tests/test_careless.py, line 32)."),
    ],
)
def test_the_check_of_a_policy_says_what_is_wrong(policy: Any, words: str) -> None:
    assert fallow.check_policy(policy)[0] == words


def test_an_interrupt_in_a_policy_is_the_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = small(policy=Interrupted())
    run = fallow.run(experiment, progress=False)
    assert (len(run.epochs), run.finished) == (3, False)
    assert capsys.readouterr().err == "Stopped after 3 of 5 epochs; the run so far is returned.\n"
    kept = fallow.run(experiment, tmp_path / "kept", progress=False)
    assert (len(kept.epochs), kept.finished) == (3, False)
    assert "fallow.resume(" in capsys.readouterr().err
