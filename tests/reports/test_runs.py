from pathlib import Path

import numpy as np
import pytest

from fallow.errors import RunDirectoryError
from fallow.plugins.nested import flatten
from fallow.reports.runs import find_runs, natural, read_runs
from tests.reports.made_runs import live, make_up


def test_runs_are_found_at_any_depth_once_and_in_natural_order(tmp_path: Path) -> None:
    for name in ("run-10", "deep/er/run-2", "run-2"):
        make_up(tmp_path / name, epochs=5)
    found = find_runs([tmp_path, tmp_path / "run-2"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["deep/er/run-2", "run-2", "run-10"]


def test_names_begin_below_what_the_runs_have_in_common(tmp_path: Path) -> None:
    make_up(tmp_path / "a" / "x", epochs=5)
    make_up(tmp_path / "b" / "y", epochs=5)
    runs, _ = read_runs([tmp_path / "a", tmp_path / "b"])
    assert [run.name for run in runs] == ["a/x", "b/y"]
    assert read_runs([tmp_path / "a" / "x"])[0][0].name == "x"


def test_a_real_run_is_read(tmp_path: Path) -> None:
    (run,), unfinished = read_runs([live(tmp_path / "run", seed=3)])
    assert unfinished == []
    assert (run.settings["seed"], run.settings["energy.p"], run.settings["policy.name"]) == (3, 0.4, "vaoi")
    assert run.epochs["energy_total"][-1] == run.summary["energy_total"]
    assert not run.learns
    assert run.has_events


def test_scores_that_were_not_measured_are_nan(tmp_path: Path) -> None:
    (run,), _ = read_runs([make_up(tmp_path / "run", epochs=10)])
    assert np.flatnonzero(~np.isnan(run.epochs["f1"])).tolist() == [4, 9]
    assert run.learns


def test_unfinished_runs_are_told_apart(tmp_path: Path) -> None:
    make_up(tmp_path / "done", epochs=5)
    (make_up(tmp_path / "stopped", epochs=7) / "summary.json").unlink()
    runs, (unfinished,) = read_runs([tmp_path])
    assert [run.name for run in runs] == ["done"]
    assert (unfinished.name, unfinished.done, unfinished.epochs) == ("stopped", 7, 7)


def test_wrong_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        RunDirectoryError, match=r"^There is no run in .*; a run directory holds config.toml and epochs.csv\.$"
    ):
        read_runs([tmp_path])
    with pytest.raises(RunDirectoryError, match=r"nowhere does not exist; give run directories"):
        read_runs([tmp_path / "nowhere"])
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(RunDirectoryError, match=r"file is a file; give run directories"):
        read_runs([file])


def test_if_no_run_is_finished_it_says_so(tmp_path: Path) -> None:
    (make_up(tmp_path / "stopped", epochs=5) / "summary.json").unlink()
    with pytest.raises(RunDirectoryError, match=r"^The run in .* is not finished; `fallow resume DIR` goes on"):
        read_runs([tmp_path])
    (make_up(tmp_path / "another", epochs=5) / "summary.json").unlink()
    with pytest.raises(RunDirectoryError, match=r"^None of the 2 runs in .* is finished; `fallow resume DIR` goes on"):
        read_runs([tmp_path])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("config.toml", "seed = ", "is not valid TOML"),
        ("config.toml", "seed = 1", "has no 'clients'"),
        ("summary.json", "{", "can't be read"),
        ("summary.json", "{}", "has no 'policy'"),
        ("summary.json", "[]", "has no 'policy'"),
        ("summary.json", '{"policy": "vaoi", "clients": 1, "epochs": 1}', "has no 'consumed_train'"),
        ("epochs.csv", "epoch,stored\n0,1\n", "has no column 'harvested'"),
        ("epochs.csv", "epoch,harvested,overflow,stored,energy_total,starts,uploads\n", "holds no epochs"),
        ("epochs.csv", "epoch,harvested,overflow,stored,energy_total,starts,uploads\n0,1,1,many,1,1,1\n", "can't be"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    run = make_up(tmp_path / "run", epochs=5)
    (run / name).write_text(text)
    with pytest.raises(RunDirectoryError, match=f"{name} {words}") as caught:
        read_runs([run])
    assert "\n" not in str(caught.value)


def test_flatten_and_natural_order() -> None:
    assert flatten({"a": 1, "b": {"c": [2], "d": {}}}) == {"a": 1, "b.c": [2]}
    assert sorted(["p10", "p9", "p"], key=natural) == ["p", "p9", "p10"]
