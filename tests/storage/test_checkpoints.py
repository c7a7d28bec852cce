import os
import random
from pathlib import Path

import numpy as np
import pytest

from fallow.errors import CheckpointError
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint

ARRAYS = {
    "weights": np.arange(40, dtype=np.float32),
    "mask": np.array([True, False]),
    "count": np.array(7, dtype=np.int64),
    "none": np.zeros((0, 0), dtype=np.float32),
    "turned": np.arange(6).reshape(2, 3).T,
}
NOTES = {"table_bytes": 120, "totals": {"f1": None, "age": 0.1}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "checkpoint", ARRAYS, NOTES)
    return tmp_path / "checkpoint"


def test_a_checkpoint_comes_back_as_it_was(path: Path) -> None:
    arrays, notes = read_checkpoint(path)
    assert notes == NOTES
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(arrays[name], array)


def test_every_flipped_byte_is_detected(path: Path) -> None:
    content = path.read_bytes()
    rng = random.Random(1)  # noqa: S311
    places = [*range(90), *rng.sample(range(90, len(content)), 410)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(bytes(flipped))
        with pytest.raises(CheckpointError):
            read_checkpoint(path)


@pytest.mark.parametrize("length", [0, 1, 50, 89, 90, 200])
def test_a_cut_checkpoint_is_detected(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(CheckpointError, match="damaged"):
        read_checkpoint(path)


def test_another_format_is_refused_by_its_number(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"checkpoint 5 ", b"checkpoint 1 ", 1))
    with pytest.raises(CheckpointError, match=r"has the checkpoint format 1 and this version of Fallow reads format 5"):
        read_checkpoint(path)


def test_a_missing_checkpoint_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="can't be read: No such file"):
        read_checkpoint(tmp_path / "nowhere")


def test_a_write_that_fails_leaves_the_one_before_and_nothing_else(path: Path, monkeypatch) -> None:
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_checkpoint(path, ARRAYS, {"table_bytes": 999})
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["checkpoint"]
