"""What is handed to somebody's code is a copy or read-only: no run can be changed behind its back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fallow
from fallow.errors import TrackerError
from fallow.experiment import Experiment
from fallow.simulation.engine import Engine
from tests.plugins.parts import First, InOrder, Mean, MeanByTorch, MeanInMemory, MeanInPlace, Quitter, Sorting, Vandal

SMALL = {"clients": 4, "epochs": 3, "policy": {"k": 2}, "energy": {"p": 1.0}, "battery": {"initial": 25}}
LEARNS = SMALL | {"learning": {"mode": "train", "eval_every": 1}, "compute": {"strategy": "stacked", "workers": 1}}


def scores(**settings: Any) -> list[tuple[float, ...]]:
    return [(record.f1, record.loss) for record in Engine(Experiment(**LEARNS | settings))]


def test_a_rule_that_works_in_place_has_the_scores_of_one_that_does_not() -> None:
    plain = scores(aggregation=Mean())
    assert len(set(plain)) == 3
    for rule in (MeanInPlace(), MeanInMemory(), MeanByTorch()):
        assert scores(aggregation=rule) == plain, rule


def test_a_partition_that_sorts_the_labels_does_not_relabel_the_samples() -> None:
    assert scores(data={"partition": Sorting()}) == scores(data={"partition": InOrder()})


def test_a_policy_that_writes_into_its_mask_does_not_change_who_is_selected() -> None:
    engine = Engine(Experiment(**SMALL | {"policy": First()}))
    record = next(iter(engine))
    assert (record.selected, record.starts) == (2, 4)  # each has the energy for two trainings
    assert (engine.age_selected == 0).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "world",
    [{}, {"battery": {"capacity": [30, 40, 50, 60], "cutoff": 2, "wake": 4}, "cost": {"download": 1, "probe": 1}}],
)
def test_every_array_that_a_policy_sees_is_read_only(world: dict[str, Any]) -> None:
    seen: list[Any] = []
    engine = Engine(Experiment(**SMALL | world | {"policy": First()}))
    select, start = engine.asked.policy.select, engine.asked.policy.start

    class Watching:
        def select(self, state, view, rng):
            seen.append(view)
            return select(state, view, rng)

        def start(self, state, view):
            seen.append(view)
            return start(state, view)

    engine.asked.policy, engine.asked._starter = Watching(), Watching()
    next(iter(engine))
    for view in (seen[0], seen[1]):
        arrays = {name: value for name, value in vars(view).items() if isinstance(value, np.ndarray)}
        assert len(arrays) >= 6
        assert not [name for name, array in arrays.items() if array.flags.writeable]


def test_a_tracker_changes_neither_the_files_of_a_run_nor_what_the_next_one_is_told(tmp_path: Path) -> None:
    told: list[Any] = []

    class Listener:
        def begin(self, run):
            told.append(dict(run.settings))

        def log(self, rows):
            told.extend(dict(row) for row in rows)

        def end(self, summary):
            told.append(dict(summary))

    plain = fallow.run(Experiment(**SMALL), tmp_path / "plain", progress=False)
    tracked = Experiment(**SMALL, output={"trackers": [Vandal, Listener]})
    fallow.run(tracked, tmp_path / "tracked", progress=False)
    summaries = [json.loads((tmp_path / run / "summary.json").read_text()) for run in ("plain", "tracked")]
    assert summaries[0]["energy_total"] == summaries[1]["energy_total"] == plain.summary["energy_total"]
    assert summaries[0].keys() == summaries[1].keys()
    assert (tmp_path / "plain/epochs.csv").read_bytes() == (tmp_path / "tracked/epochs.csv").read_bytes()
    assert told[0]["clients"] == 4
    assert [row["energy_total"] for row in told[1:4]] == plain.epochs["energy_total"].tolist()
    assert told[4]["energy_total"] == plain.summary["energy_total"]


def test_a_tracker_that_exits_does_not_end_the_run(tmp_path: Path) -> None:
    experiment = Experiment(**SMALL, output={"trackers": [Quitter]})
    with pytest.raises(TrackerError, match=r"is finished and whole.*failed in end: SystemExit: 0 \(.*parts.py, line"):
        fallow.run(experiment, tmp_path / "run", progress=False)
    assert json.loads((tmp_path / "run/summary.json").read_text())["epochs"] == 3
