"""What was damaged or changed between a kill and a resume is noticed before anything is computed, in one sentence."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import fallow
from fallow.cli import app
from fallow.errors import FallowError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs import origins, writer
from fallow.runs.layout import is_finished
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from tests.cli.runner import invoke

SETTINGS = {"clients": 6, "epochs": 8, "policy": {"k": 2}, "energy": {"p": 0.5}, "output": {"checkpoint_every": 3}}
DEVICES = {"device": [{"name": "small", "share": 0.5}, {"name": "large", "share": 0.5}]}


def live(directory: Path, epochs: int, **settings) -> Path:
    engine = Engine(Experiment.parse(SETTINGS | settings))
    with RunWriter(engine, directory) as run:
        run.write(islice(engine, epochs))
    return directory


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


def no_epoch(*_: object) -> None:
    raise AssertionError("an epoch was computed")


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    return live(tmp_path / "cut", 7)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a digit of epochs.csv": (
        lambda run: flip(run / "epochs.csv", -200),
        "epochs.csv is damaged: its checksum is wrong",
    ),
    "epochs.csv gone": (lambda run: (run / "epochs.csv").unlink(), "epochs.csv can't be read: No such file"),
    "a part of the events": (
        lambda run: flip(run / "events" / "000000000.parquet", 40),
        "000000000.parquet is damaged",
    ),
    "a part cut short": (
        lambda run: os.truncate(run / "events" / "000000003.parquet", 9),
        "000000003.parquet is damaged",
    ),
    "a part gone": (
        lambda run: (run / "events" / "000000003.parquet").unlink(),
        "Parts of the table in .* are missing",
    ),
    "config.toml": (lambda run: flip(run / "config.toml", 7), "config"),
    "checkpoint.fallow": (lambda run: flip(run / "checkpoint.fallow", 500), "checkpoint.fallow is damaged"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_noticed_before_anything_is_computed_and_nothing_is_lost(
    name: str, cut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage, words = DAMAGES[name]
    damage(cut)
    before = contents(cut)
    monkeypatch.setattr(Engine, "step", no_epoch)
    with pytest.raises(FallowError, match=words) as caught:
        fallow.resume(cut, progress=False)
    assert "\n" not in str(caught.value)
    assert contents(cut) == before


def test_a_digit_of_devices_csv_is_noticed(tmp_path: Path) -> None:
    cut = live(tmp_path / "cut", 7, **DEVICES)
    flip(cut / "devices.csv", 300)
    with pytest.raises(RunDirectoryError, match=r"devices\.csv is damaged"):
        fallow.resume(cut, progress=False)


def test_what_was_written_after_the_checkpoint_may_be_anything(tmp_path: Path) -> None:
    whole, cut = live(tmp_path / "whole", 8), live(tmp_path / "cut", 7)
    with (cut / "epochs.csv").open("a") as file:
        file.write("half a ro")
    (cut / "events" / "000000006.open").write_bytes(b"half a part")
    (cut / "events" / "000000006.parquet").write_bytes(b"a part that no checkpoint names")
    assert fallow.resume(cut, progress=False).finished
    assert contents(cut) == contents(whole)


@pytest.mark.parametrize("text", ["", "{", '{"policy": "vaoi"}', "null"])
def test_a_damaged_summary_does_not_cost_the_checkpoint(text: str, tmp_path: Path) -> None:
    whole, cut = live(tmp_path / "whole", 8), live(tmp_path / "cut", 7)
    (cut / "summary.json").write_text(text)
    assert not is_finished(cut)
    assert "is finished already" not in invoke(app, "resume", str(cut))
    assert contents(cut) == contents(whole)


def test_the_summary_and_checksums_of_another_run_do_not_end_this_one(tmp_path: Path) -> None:
    whole, other, cut = (live(tmp_path / "whole", 8), live(tmp_path / "other", 8, seed=1), live(tmp_path / "cut", 7))
    for name in ("summary.json", "checksums.txt"):
        shutil.copy(other / name, cut / name)
    fallow.resume(cut, progress=False)
    assert contents(cut) == contents(whole)


def test_a_kill_right_before_the_end_leaves_a_finished_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = live(tmp_path / "whole", 8)
    with monkeypatch.context() as patch:
        patch.setattr(writer, "tidy", lambda _: None)
        cut = live(tmp_path / "cut", 8)
    assert (cut / "checkpoint.fallow").exists()
    assert is_finished(cut)
    monkeypatch.setattr(Engine, "step", no_epoch)
    fallow.resume(cut, progress=False)
    assert contents(cut) == contents(whole)


def test_a_damaged_summary_of_a_finished_run_is_one_sentence_and_not_finished_already(tmp_path: Path) -> None:
    run = live(tmp_path / "run", 8)
    (run / "summary.json").write_text("")
    with pytest.raises(RunDirectoryError, match=r"summary\.json can't be read: Expecting value"):
        fallow.resume(run, progress=False)


def test_a_part_that_is_changed_while_the_run_goes_on_is_one_sentence_at_its_end(tmp_path: Path) -> None:
    engine = Engine(Experiment.parse(SETTINGS))
    with RunWriter(engine, tmp_path / "run") as run:
        run.write(islice(engine, 3))
        flip(tmp_path / "run" / "events" / "000000000.parquet", 50)
        with pytest.raises(RunDirectoryError, match=r"000000000\.parquet is damaged"):
            run.write(engine)
    assert not (tmp_path / "run" / "summary.json").exists()


def changed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    """Makes the versions other ones from now on."""
    real = origins.find_origin

    def find(engine: Engine) -> origins.Origin:
        found = real(engine)
        return replace(found, versions=found.versions | versions)

    monkeypatch.setattr(writer, "find_origin", find)


@pytest.mark.parametrize("package", ["fallow", "numpy", "pyarrow"])
def test_another_version_is_refused_until_it_is_accepted(package: str, cut: Path, monkeypatch) -> None:
    before = contents(cut)
    changed(monkeypatch, **{package: "99.9"})
    with pytest.raises(RunDirectoryError, match=rf"{package} was [\d.]+ and is 99\.9, .* with --accept-changes"):
        fallow.resume(cut, progress=False)
    assert contents(cut) == before
    run = fallow.resume(cut, progress=False, accept_changes=True)
    assert run.summary is not None
    assert run.summary["versions"][package] == "99.9"
    parts = run.summary["made_with"]
    assert [(part["first_epoch"], part["last_epoch"]) for part in parts] == [(0, 5), (6, 7)]
    assert parts[0][package] != parts[1][package] == "99.9"
    assert [found.verdict for found in fallow.verify(cut)] == ["sound"]


def test_another_processor_is_noted_and_not_refused(cut: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(monkeypatch, processor="Abacus 3000")
    summary = fallow.resume(cut, progress=False).summary
    assert summary is not None
    assert [part["processor"] == "Abacus 3000" for part in summary["made_with"]] == [False, True]


def test_versions_that_come_back_before_an_epoch_was_made_leave_no_trace(tmp_path: Path, monkeypatch) -> None:
    whole, cut = live(tmp_path / "whole", 8), live(tmp_path / "cut", 7)
    with monkeypatch.context() as patch:
        changed(patch, numpy="99.9")
        with RunWriter(Engine(Experiment.parse(SETTINGS)), cut, resume=True, accept_changes=True) as run:
            run.write([])
    fallow.resume(cut, progress=False)
    assert contents(cut) == contents(whole)


def test_a_trace_that_changed_is_refused_until_it_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sun.csv").write_text("1\n0\n2\n")
    energy = {"energy": {"model": "trace", "path": "sun.csv"}}
    whole, cut = live(tmp_path / "whole", 8, **energy), live(tmp_path / "cut", 7, **energy)
    Path("sun.csv").write_text("1\n0\n3\n")
    with pytest.raises(RunDirectoryError, match=r"sun\.csv was changed, so it may not end"):
        fallow.resume(cut, progress=False)
    Path("sun.csv").write_text("1\n0\n2\n")
    fallow.resume(cut, progress=False)
    assert contents(cut) == contents(whole)
    assert list(json.loads((whole / "summary.json").read_text())["inputs"]) == ["sun.csv"]


def test_a_policy_whose_code_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "mine_of_before.py"
    module.write_text("from fallow.policies import RandomK as Mine\n")
    cut = live(tmp_path / "cut", 7, policy={"name": "mine_of_before:Mine", "k": 2})
    module.write_text("from fallow.policies import FedAvg as Mine\n")
    with pytest.raises(RunDirectoryError, match="mine_of_before:Mine was changed"):
        fallow.resume(cut, progress=False)


def test_the_files_that_a_config_names_are_its_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.npz", "vaoi"):  # the second is what the policy is called, and no path
        Path(name).write_bytes(b"numbers")
    engine = Engine(Experiment.parse(SETTINGS | {"data": {"name": "npz:mine.npz"}}))
    assert list(origins.find_origin(engine).inputs) == ["mine.npz"]


@pytest.mark.parametrize("name", ["epochs.csv", "checkpoint.fallow", "config.toml", "events/000000000.parquet"])
def test_a_pipe_in_place_of_a_file_is_one_sentence_and_nobody_waits(name: str, cut: Path) -> None:
    (cut / name).unlink()
    os.mkfifo(cut / name)
    with pytest.raises(FallowError, match=r"is no (plain )?file|missing|is no run directory"):
        fallow.resume(cut, progress=False)


def test_a_pipe_in_a_finished_run_is_damage(tmp_path: Path) -> None:
    for name in ("epochs.csv", "checksums.txt", "summary.json"):
        run = live(tmp_path / name, 8)
        (run / name).unlink()
        os.mkfifo(run / name)
        assert [found.verdict for found in fallow.verify(run)] == ["damaged"]
