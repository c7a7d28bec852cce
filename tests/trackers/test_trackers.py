"""What every tracker may rely on, and what it can't do to a run."""

import json
import re
import sys
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

import fallow
from fallow.cli import app
from fallow.errors import ConfigError, TrackerError
from fallow.experiment import Experiment
from fallow.reports import write_report
from fallow.runs.execute import begin_or_resume
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint
from fallow.trackers.base import LONGEST, as_text
from tests.cli.runner import fail, invoke
from tests.e2e.test_resume import begin

OWN = '''
import json
from pathlib import Path


class Diary:
    """Writes down what it is told."""

    def begin(self, run):
        self.path = Path("diary.jsonl")
        self.tell(["begin", run.directory.name, run.settings["energy.p"], run.epoch, len(run.past)])

    def log(self, rows):
        self.tell(["log", [row["epoch"] for row in rows], sorted(rows[0])])

    def end(self, summary):
        self.tell(["end", summary["starts"]])

    def tell(self, words):
        with self.path.open("a") as file:
            file.write(json.dumps(words) + "\\\\n")


class NoServer(Diary):
    def begin(self, run):
        raise ConnectionError("no route\\\\nto host")


class Fickle(Diary):
    def log(self, rows):
        raise ConnectionError("gone.")


class Late(Diary):
    def end(self, summary):
        raise ValueError("too late")


class Wants(Diary):
    def __init__(self, url):
        pass


class Deaf:
    def begin(self, run):
        pass


def function():
    pass
'''
FILES = ("epochs.csv", "events.parquet", "clients.parquet", "summary.json")
RUN = ("run", "--set=clients=12", "--set=epochs=8", "--set=policy.k=3", "--set=energy.p=0.5")
RUN = (*RUN, "--set=output.checkpoint_every=3")


@pytest.fixture
def diary(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fallow.runs.tracking.PAUSE", 1e9)
    (tmp_path / "own_trackers.py").write_text(OWN.replace("\\\\n", "\\n"))
    yield tmp_path / "diary.jsonl"
    sys.modules.pop("own_trackers", None)


def told(diary: Path) -> list:
    return [json.loads(line) for line in diary.read_text().splitlines()]


def test_a_tracker_of_ones_own_hears_every_epoch_before_its_checkpoint(diary: Path) -> None:
    invoke(app, *RUN, "--set=output.trackers=own_trackers:Diary", "--out", "run")
    first, *logs, last = told(diary)
    assert first == ["begin", "run", 0.5, 0, 0]
    assert [words[1] for words in logs] == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert set(logs[0][2]) == set((Path("run") / "epochs.csv").read_text().splitlines()[0].split(","))
    assert last == ["end", json.loads((Path("run") / "summary.json").read_text())["starts"]]


def test_slow_epochs_are_told_one_by_one(diary: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.runs.tracking.PAUSE", 0.0)
    invoke(app, *RUN, "--set=output.trackers=own_trackers:Diary", "--out", "run")
    assert [words[1] for words in told(diary)[1:-1]] == [[epoch] for epoch in range(8)]


def test_a_run_that_goes_on_tells_what_is_behind_it(diary: Path) -> None:
    begin(Path("run"), 7, output={"checkpoint_every": 3, "trackers": ["own_trackers:Diary"]})
    diary.unlink()
    invoke(app, "resume", "run")
    assert told(diary)[0] == ["begin", "run", 0.5, 6, 6]
    assert [words[1] for words in told(diary)[1:-1]] == [[6, 7, 8], [9]]


@pytest.mark.usefixtures("diary")
def test_trackers_change_no_byte_of_the_results() -> None:
    invoke(app, *RUN, "--out", "plain")
    trackers = '["tensorboard", "own_trackers:Diary"]'
    invoke(app, *RUN, f"--set=output.trackers={trackers}", "--out", "tracked")
    assert all((Path("plain") / name).read_bytes() == (Path("tracked") / name).read_bytes() for name in FILES)
    plain, tracked = ((Path(name) / "config.toml").read_text() for name in ("plain", "tracked"))
    where = tracked.index("trackers = ")
    assert plain == tracked[:where] + "trackers = []\n"
    assert {path.name for path in Path("tracked").iterdir()} == {*FILES, "config.toml", "checksums.txt", "tensorboard"}


@pytest.mark.usefixtures("diary")
def test_one_that_can_not_begin_stops_the_run_before_any_epoch(capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, *RUN, "--set=output.trackers=own_trackers:NoServer", "--out", "run")
    assert code == 2
    place = r"\(own_trackers.py, line \d+\)"
    assert re.fullmatch(
        rf"Error: The tracker 'own_trackers:NoServer' failed in begin: ConnectionError: no route {place}\.\n", words
    )
    assert len((Path("run") / "epochs.csv").read_text().splitlines()) == 1
    invoke(app, *RUN, "--set=output.trackers=own_trackers:Diary", "--out", "run")  # nothing holds the directory


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Fickle", "failed in log, epoch 0: ConnectionError: gone"), ("Late", "failed in end: ValueError: too late")],
)
def test_one_that_fails_stops_nothing_and_is_named_at_the_end(
    name: str, reason: str, diary: Path, capsys, monkeypatch
) -> None:
    invoke(app, *RUN, "--out", "plain")
    trackers = f'["own_trackers:{name}", "own_trackers:Diary"]'
    code, words = fail(capsys, monkeypatch, *RUN, f"--set=output.trackers={trackers}", "--out", "run")
    assert code == 2
    told_first = f"Error: The run in run is finished and whole. The tracker 'own_trackers:{name}' {reason} ("
    assert words.startswith(told_first)
    assert re.fullmatch(r"own_trackers.py, line \d+\)\.\n", words.removeprefix(told_first))
    assert all((Path("plain") / file).read_bytes() == (Path("run") / file).read_bytes() for file in FILES)
    assert sum(words[0] == "end" for words in told(diary)) == 1  # the other one heard it all
    assert sum(len(words[1]) for words in told(diary) if words[0] == "log") == (8 if name == "Fickle" else 16)


@pytest.mark.parametrize(
    ("trackers", "words"),
    [
        ("tensorbord", "There is no tracker 'tensorbord'; did you mean 'tensorboard'?"),
        ("own_trackers:Nobody", "module 'own_trackers' has no 'Nobody'"),
        ("own_trackers:function", "must be a class"),
        ("own_trackers:Deaf", "The tracker 'own_trackers:Deaf' has no method 'log'; it must have begin, log and end."),
        ("own_trackers:Wants", "The tracker 'own_trackers:Wants' can't be made: TypeError: "),
        ('["tensorboard", "tensorboard"]', "output.trackers names 'tensorboard' twice."),
        ("3", "output.trackers = 3 must be a list."),
        ('["mlflow", 3]', "output.trackers[1] = 3 must be a text."),
    ],
)
@pytest.mark.usefixtures("diary")
def test_what_is_no_tracker_is_one_sentence_and_leaves_nothing_behind(
    trackers: str, words: str, capsys, monkeypatch
) -> None:
    code, said = fail(capsys, monkeypatch, *RUN, f"--set=output.trackers={trackers}", "--out", "run")
    assert code == 2
    assert words in said
    assert said.count("\n") == 1
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("name", "module"), [("tensorboard", "tensorboard"), ("mlflow", "mlflow"), ("mlflow", "sqlalchemy")]
)
@pytest.mark.parametrize("command", ["run", "sweep", "compare"])
def test_an_extra_that_is_not_installed_is_one_sentence_before_any_work(
    command: str, name: str, module: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    out = tmp_path / "out"
    code, words = fail(capsys, monkeypatch, command, f"--set=output.trackers={name}", "--out", str(out))
    assert code == 2
    assert f"The tracker '{name}' is not installed: pip install 'fallow[{name}]'." in words
    assert words.count("\n") == 1
    assert not out.exists()


def test_a_finished_run_can_be_read_where_its_tracker_is_not_installed(tmp_path: Path, monkeypatch) -> None:
    begin(tmp_path / "run", 10, output={"trackers": ["tensorboard"]})
    begin(tmp_path / "cut", 5, output={"trackers": ["tensorboard"]})
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert "energy consumed" in invoke(app, "show", str(tmp_path / "run"))
    assert "is finished already" in invoke(app, "resume", str(tmp_path / "run"))
    assert fallow.load(tmp_path / "run").settings["output"]["trackers"] == ["tensorboard"]
    assert write_report([tmp_path / "run"], tmp_path / "report").runs == 1
    with pytest.raises(ConfigError, match="is not installed"):
        app(["resume", str(tmp_path / "cut")], standalone_mode=False)


def test_an_overwritten_run_leaves_nothing_to_its_trackers(tmp_path: Path) -> None:
    arguments = ("run", "--set=epochs=2", "--out", str(tmp_path / "run"))
    invoke(app, *arguments, "--set=output.trackers=tensorboard")
    assert (tmp_path / "run" / "tensorboard").exists()
    invoke(app, *arguments, "--overwrite")
    assert not (tmp_path / "run" / "tensorboard").exists()


def test_every_run_of_a_sweep_is_tracked(tmp_path: Path) -> None:
    invoke(
        app, "sweep", "--set=epochs=3", "--set=output.trackers=tensorboard", "--grid=seed=0,1", "--out", str(tmp_path)
    )
    assert len(list(tmp_path.glob("seed=*/tensorboard/events.out.tfevents.*"))) == 2


def test_a_run_begun_before_a_setting_was_there_can_be_resumed_twice(tmp_path: Path) -> None:
    begin(tmp_path / "whole", 10)
    begin(tmp_path / "cut", 3)
    config = tmp_path / "cut" / "config.toml"
    config.write_text(config.read_text().replace("trackers = []\n", ""))
    arrays, notes = read_checkpoint(tmp_path / "cut" / "checkpoint.fallow")
    notes["run"]["config"] = sha256(config.read_bytes()).hexdigest()
    write_checkpoint(tmp_path / "cut" / "checkpoint.fallow", arrays, notes)
    with begin_or_resume(None, tmp_path / "cut") as run:
        run.write(islice(run.engine, 4))
    invoke(app, "resume", str(tmp_path / "cut"))
    assert (tmp_path / "whole" / "epochs.csv").read_bytes() == (tmp_path / "cut" / "epochs.csv").read_bytes()
    assert "trackers" not in config.read_text()


def test_a_name_alone_is_a_list_of_one() -> None:
    assert Experiment.parse({"output": {"trackers": "tensorboard"}}).output.trackers == ("tensorboard",)


def test_a_long_setting_is_cut_short() -> None:
    assert as_text([1, 2]) == "[1, 2]"
    assert as_text("x" * LONGEST) == "x" * LONGEST
    assert as_text("x" * 9999) == "x" * (LONGEST - 1) + "…"


@pytest.mark.usefixtures("diary")
def test_two_failures_are_both_told() -> None:
    with pytest.raises(TrackerError, match=r"Fickle' failed in log.*Late' failed in end"):
        begin(Path("run"), 10, output={"trackers": ["own_trackers:Fickle", "own_trackers:Late"]})
