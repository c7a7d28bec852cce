from pathlib import Path

import numpy as np

from fallow.data import label_mix
from fallow.experiment import Experiment
from fallow.reports.labels import read_label_mix
from fallow.reports.runs import ReportedRun, read_runs
from fallow.simulation.learner_setup import load_dataset, split
from tests.reports.made_runs import live, make_up


def test_the_label_mix_is_that_of_the_run(tmp_path: Path) -> None:
    directory = make_up(tmp_path / "run", seed=4, epochs=5)
    (run,), _ = read_runs([directory])
    experiment = Experiment.read(directory / "config.toml")
    dataset = load_dataset(experiment)
    expected = label_mix(dataset.y, split(experiment, dataset), dataset.classes)
    mix = read_label_mix(run)
    assert mix is not None
    assert np.array_equal(mix, expected)


def test_without_learning_there_is_none(tmp_path: Path) -> None:
    (run,), _ = read_runs([live(tmp_path / "run")])
    assert read_label_mix(run) is None


def test_a_dataset_that_is_not_here_is_done_without(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path / "nothing"))
    (run,), _ = read_runs([make_up(tmp_path / "run", epochs=5)])
    for name in ("cifar10", "my_module:function", "npz:nowhere.npz"):
        other = ReportedRun(run.name, run.directory, {**run.settings, "data.name": name}, run.summary, run.epochs)
        assert read_label_mix(other) is None
