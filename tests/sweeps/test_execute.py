"""Carrying out the runs of a sweep, and who hears of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fallow.errors import RunDirectoryError
from fallow.runs.progress import Bar
from fallow.sweeps import progress
from fallow.sweeps.execute import execute
from fallow.sweeps.grid import plan
from fallow.sweeps.progress import OnScreen

SMALL = {"clients": 12, "epochs": 4, "energy": {"p": 0.5}}


class Recorder:
    """Writes down all that it hears."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int, int]] = []
        self.done: dict[str, int] = {}
        self.ended: list[str] = []
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    @contextmanager
    def watch(self, left: int, total: int, epochs: int) -> Iterator["Recorder"]:
        self.begun.append((left, total, epochs))
        yield self

    def advance(self, name: str, done: int, epochs: int) -> None:
        assert done <= epochs
        self.done[name] = done

    def end(self, name: str) -> None:
        self.ended.append(name)


def test_an_observer_hears_of_every_run_and_nothing_is_printed(tmp_path: Path, capsys) -> None:
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    heard = Recorder()
    result = execute(runs, tmp_path, workers=1, observer=heard)
    assert heard.begun == [(2, 2, 8)]
    assert heard.done == {"seed=0": 4, "seed=1": 4}
    assert sorted(heard.ended) == ["seed=0", "seed=1"]
    assert (result.runs, result.share, len(result.rows), result.failures) == (2, 2, 2, {})
    assert result.seconds is not None
    again = Recorder()
    assert execute(runs, tmp_path, observer=again).seconds is None
    assert (again.begun, again.ended) == ([(0, 2, 0)], [])
    assert capsys.readouterr() == ("", "")


def test_a_run_that_can_not_begin_is_a_failure_of_its_own(tmp_path: Path) -> None:
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    runs[1].directory.mkdir()
    (runs[1].directory / "mine.txt").write_text("precious")
    result = execute(runs, tmp_path, workers=1)
    assert len(result.rows) == 1
    assert "is not empty and not a run" in result.failures["seed=1"]


def test_a_stranger_s_config_is_not_loaded_to_see_that_it_is_another_run(tmp_path: Path) -> None:
    (run,) = plan(SMALL, {}, tmp_path)
    run.directory.mkdir()
    there = run.experiment.to_toml().replace('name = "vaoi"', 'name = "not_there:Policy"')
    (run.directory / "config.toml").write_text(there)
    with pytest.raises(RunDirectoryError, match=r"with policy\.name = not_there:Policy, not vaoi"):
        execute([run], tmp_path)


class Screen:
    """Bars that a test can look at."""

    def __init__(self) -> None:
        self.bars: dict[int, tuple[str, int]] = {}
        self.removed: list[int] = []

    def add(self, description: str, total: int, done: int) -> int:
        self.bars[len(self.bars)] = (description, done)
        return len(self.bars) - 1

    def update(self, number: int, done: int, description: str) -> None:
        self.bars[number] = (description, done)

    def remove(self, number: int) -> None:
        self.removed.append(number)

    def close(self) -> None:
        self.removed.append(0)


def test_the_bar_of_the_whole_counts_the_epochs_of_all_runs(monkeypatch) -> None:
    screen = Screen()
    monkeypatch.setattr(progress, "show_progress", lambda total, text, *, show: Bar(screen, total, text, whole=show))
    with OnScreen().watch(left=2, total=3, epochs=20) as watch:
        watch.advance("a", 4, 10)
        watch.advance("b", 3, 10)
        watch.advance("a", 10, 10)
        watch.end("a")
        assert screen.bars == {0: ("epochs, 2 of 3 runs done", 13), 1: ("a", 10), 2: ("b", 3)}
        assert screen.removed == [1]
    assert screen.removed == [1, 2, 0]  # Ctrl-C leaves no bar behind
