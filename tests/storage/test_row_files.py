"""Rows in files of their own: written once, whole or not there, removed when no checkpoint names them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fallow.errors import CheckpointError
from fallow.state import Rows, empty_rows, pack, unpack
from fallow.storage import checkpoints
from fallow.storage.checkpoints import CheckpointFile


@dataclass(frozen=True, eq=False)
class Memory:
    rows: Rows
    total: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
    epoch: int
    rule: Any


KINDS = [("float32", "ram"), ("float32", "disk"), ("float16", "ram"), ("float16", "disk")]


def row(number: float) -> NDArray[np.float32]:
    return np.array([number, -2 * number, 0], dtype=np.float32)


def begun(dtype: Any = "float32", where: Any = "ram") -> Run:
    rows = empty_rows(4, 3, dtype, where).with_rows({0: row(1), 2: row(3)})
    return Run(1, Memory(rows, np.ones(3)))


def further(run: Run, *clients: int) -> Run:
    rows = run.rule.rows.with_rows({client: row(10 * run.epoch + client) for client in clients})
    return Run(run.epoch + 1, Memory(rows, run.rule.total + 1))


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "checkpoint", tmp_path / "rows")


def write(file: CheckpointFile, run: Run) -> None:
    arrays, notes = pack(run)
    file.write(arrays, {"state": notes})


def read(folder: Path, like: Run) -> Run:
    arrays, notes = CheckpointFile(folder / "checkpoint", folder / "rows").read()
    return unpack(Run, arrays, notes["state"], like=like)


def numbers(run: Run) -> list[list[float]]:
    return [run.rule.rows.row(client).tolist() for client in range(4)]


def files(folder: Path) -> dict[str, int]:
    """Returns the files of rows, each with its inode: a file that is written again is another."""
    return {path.name: path.stat().st_ino for path in (folder / "rows").iterdir()}


@pytest.mark.parametrize(("dtype", "where"), KINDS)
def test_rows_come_back_as_they_were(dtype: str, where: str, file: CheckpointFile, tmp_path: Path) -> None:
    run = further(begun(dtype, where), 1, 2)
    write(file, run)
    again = read(tmp_path, begun(dtype, where))
    assert numbers(again) == numbers(run) == [[1, -2, 0], [11, -22, 0], [12, -24, 0], [0, 0, 0]]
    assert [type(kept) for kept in again.rule.rows.kept] == [type(kept) for kept in run.rule.rows.kept]
    assert numbers(further(again, 0)) == numbers(further(run, 0))


@pytest.mark.parametrize(("dtype", "where"), KINDS)
def test_only_rows_that_changed_are_written(dtype: str, where: str, file: CheckpointFile, tmp_path: Path) -> None:
    run = begun(dtype, where)
    write(file, run)
    before = files(tmp_path)
    assert set(before) == {"rule.rows@0.1.npy", "rule.rows@2.1.npy"}
    write(file, further(run, 2, 3))
    after = files(tmp_path)
    assert set(after) == {"rule.rows@0.1.npy", "rule.rows@2.2.npy", "rule.rows@3.1.npy"}
    assert after["rule.rows@0.1.npy"] == before["rule.rows@0.1.npy"]


def test_a_run_that_goes_on_does_not_write_its_rows_again(file: CheckpointFile, tmp_path: Path) -> None:
    write(file, begun())
    before = files(tmp_path)
    again = CheckpointFile(tmp_path / "checkpoint", tmp_path / "rows")
    arrays, notes = again.read()
    write(again, further(unpack(Run, arrays, notes["state"], like=begun()), 1))
    assert before.items() <= files(tmp_path).items()


def test_a_state_of_before_keeps_its_rows() -> None:
    run = begun()
    further(run, 0, 2)
    assert numbers(run) == [[1, -2, 0], [0, 0, 0], [3, -6, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        run.rule.rows.kept[0][0] = 5


@pytest.mark.parametrize("step", ["write_atomically", "sync_folder", "write_checkpoint"])
def test_a_kill_before_the_checkpoint_is_there_leaves_the_one_of_before(
    step: str, file: CheckpointFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun()
    write(file, run)

    def dies(*_arguments: Any, **_keywords: Any) -> None:
        raise OSError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, step, dies)
        with pytest.raises(OSError, match="killed"):
            write(file, further(run, 0, 1, 2))
    assert numbers(read(tmp_path, begun())) == numbers(run)
    write(file, further(run, 0))
    assert set(files(tmp_path)) == {"rule.rows@0.2.npy", "rule.rows@2.1.npy"}  # what was left over is gone
    assert numbers(read(tmp_path, begun())) == numbers(further(run, 0))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "which the checkpoint needs, can't be read: No such file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"!"), "is damaged: its checksum is wrong"),
        (lambda path: path.write_bytes(b""), "is damaged: its checksum is wrong"),
    ],
)
def test_a_row_that_is_missing_or_damaged_is_one_sentence(
    damage: Any, words: str, file: CheckpointFile, tmp_path: Path
) -> None:
    write(file, begun())
    damage(tmp_path / "rows" / "rule.rows@2.1.npy")
    with pytest.raises(CheckpointError, match=words):
        read(tmp_path, begun())


def test_without_rows_there_is_no_folder(file: CheckpointFile, tmp_path: Path) -> None:
    file.write({"w": np.ones(2)}, {})
    assert not (tmp_path / "rows").exists()
    arrays, notes = file.read()
    assert (arrays["w"].tolist(), notes) == ([1, 1], {})
