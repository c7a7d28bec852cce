"""Checkpoints that somebody made, with the right checksum and the wrong content: one sentence, and nothing is lost."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fallow
from fallow.errors import FallowError
from fallow.simulation.engine import Engine
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint
from tests.runs.test_damage import contents, live, no_epoch

FORGERIES: dict[str, Callable[[dict, dict], object]] = {
    "no notes of the run": lambda _, notes: notes.pop("run"),
    "no state": lambda _, notes: notes.pop("state"),
    "a state that is a list": lambda _, notes: notes.update(state=[1, 2]),
    "an epoch in words": lambda _, notes: notes["state"].update(epoch="three"),
    "an epoch that is never": lambda _, notes: notes["state"].update(epoch=10**9),
    "an epoch before the first": lambda _, notes: notes["state"].update(epoch=-1),
    "tables in words": lambda _, notes: notes["run"].update(tables="all of them"),
    "a table elsewhere": lambda _, notes: notes["run"]["tables"].__setitem__(
        0, ["../x.csv", {"size": 0, "sha256": ""}]
    ),
    "a part elsewhere": lambda _, notes: notes["run"]["parts"][0][1].append(["../../x.parquet", "0"]),
    "no origins": lambda _, notes: notes["run"].update(origins=3),
    "totals of text": lambda _, notes: notes["run"]["totals"].update(mean_age_selected="old"),
    "rows that are none": lambda _, notes: notes.update({"row files": {"../../secret": "0" * 64}}),
    "an array gone": lambda arrays, _: arrays.pop("world.battery"),
    "an array too short": lambda arrays, _: arrays.update({"world.battery": np.zeros(2, dtype=np.int32)}),
    "an array of other numbers": lambda arrays, _: arrays.update({"age_selected": np.zeros(6, dtype=np.float64)}),
    "an array of two axes": lambda arrays, _: arrays.update({"delivered": np.zeros((6, 6), dtype=np.bool_)}),
    "an array named by a list": lambda _, notes: notes["state"]["world"].update(battery=[]),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_checkpoint_is_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = live(tmp_path / "cut", 7)
    arrays, notes = read_checkpoint(cut / "checkpoint.fallow")
    FORGERIES[name](arrays, notes)
    write_checkpoint(cut / "checkpoint.fallow", arrays, notes)
    before = contents(cut)
    monkeypatch.setattr(Engine, "step", no_epoch)
    with pytest.raises(FallowError) as caught:
        fallow.resume(cut, progress=False)
    assert "\n" not in str(caught.value)
    assert contents(cut) == before


TRAIN = {
    "learning": {"mode": "train"},
    "data": {"samples_per_client": 20},
    "compute": {"strategy": "stacked", "workers": 1},
    "aggregation": {"name": "mifa"},
    "cost": {"train": 40},
    "battery": {"capacity": 60},
    "energy": {"p": 0.9},
}
LEARNT_FORGERIES: dict[str, Callable[[dict, dict], object]] = {
    "no learning": lambda _, notes: notes["state"].update(learning=None),
    "a shorter model": lambda arrays, _: arrays.update({"learning.weights": np.zeros(3, dtype=np.float32)}),
    "a training of nobody": lambda _, notes: notes["state"]["learning"]["held"][0].update(client=77),
    "a training of another model": lambda arrays, notes: arrays.update(
        {notes["state"]["learning"]["held"][0]["weights"]: np.zeros(5, dtype=np.float32)}
    ),
    "rows without files": lambda _, notes: notes.update({"row files": {}}),
}


def test_forged_learning_is_one_sentence_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = live(tmp_path / "cut", 7, **TRAIN)
    content = (cut / "checkpoint.fallow").read_bytes()
    monkeypatch.setattr(Engine, "step", no_epoch)
    for forge in LEARNT_FORGERIES.values():
        (cut / "checkpoint.fallow").write_bytes(content)
        arrays, notes = read_checkpoint(cut / "checkpoint.fallow")
        forge(arrays, notes)
        write_checkpoint(cut / "checkpoint.fallow", arrays, notes)
        with pytest.raises(FallowError) as caught:
            fallow.resume(cut, progress=False)
        assert "\n" not in str(caught.value)
