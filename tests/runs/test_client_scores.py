"""The global model on each client's own samples, as runs keep it."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import fallow
from fallow.cli import app
from fallow.experiment import Experiment
from fallow.runs.run import Run, load_run
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from tests.cli.runner import invoke

SETTINGS = {
    "clients": 12,
    "epochs": 11,
    "energy": {"p": 0.5},
    "cost": {"train": 6},
    "battery": {"capacity": 9},
    "policy": {"k": 4},
    "output": {"checkpoint_every": 3},
    "learning": {"mode": "train", "client_eval_every": 4},
    "data": {"samples_per_client": 30},
    "compute": {"strategy": "stacked", "workers": 1},
}


def one_by_one(engine: Engine) -> tuple[list[float], list[float]]:
    """Loss and accuracy of each client, a sample at a time, with nothing but the module."""
    task = engine.learner.task
    network = task.network.replica()
    network.load(engine.learner.handed_out)
    losses, accuracies = [], []
    for own in task.shards:
        loss, hits = 0.0, 0
        for sample in own:
            images, labels = task.train.batch(np.array([sample]))
            with torch.no_grad():
                logits = network.module(images)
            loss += cross_entropy(logits, labels).item()
            hits += int(logits.argmax(1).item() == labels.item())
        losses.append(loss / len(own))
        accuracies.append(hits / len(own))
    return losses, accuracies


@pytest.mark.parametrize("average", [0.0, 0.6])
def test_what_a_run_records_is_what_a_loop_over_its_clients_finds(average: float, tmp_path: Path) -> None:
    learning = SETTINGS["learning"] | {"average": average}
    engine = Engine(Experiment.parse(SETTINGS | {"learning": learning}))
    expected = {}

    def lived():
        for record in engine:
            if record.client_scores is not None:
                expected[record.epoch] = one_by_one(engine)
            yield record

    with RunWriter(engine, tmp_path / "run") as open_run:
        summary = open_run.write(lived())
    run = load_run(tmp_path / "run")
    assert list(expected) == [3, 7, 10]  # every fourth, and the last
    rows = run.client_scores
    assert list(rows.columns) == ["epoch", "client", "loss", "accuracy"]
    for epoch, (loss, accuracy) in expected.items():
        own = rows[rows.epoch == epoch]
        assert list(own.client) == list(range(12))
        assert list(own.accuracy) == accuracy
        np.testing.assert_allclose(own.loss, loss, rtol=1e-5)
    assert len(rows) == 36
    assert list(run.clients.accuracy) == expected[10][1]
    assert list(run.clients.loss) == list(rows[rows.epoch == 10].loss)
    assert expected[3][1] != expected[10][1]
    last = np.array(expected[10][1])
    assert summary["client_accuracy_mean"] == pytest.approx(last.mean())
    assert summary["client_accuracy_worst_tenth"] == last.min()  # one of twelve
    assert summary["client_accuracy_sd"] == pytest.approx(last.std())
    assert summary["jain_index_accuracy"] == pytest.approx(last.sum() ** 2 / (12 * (last**2).sum()))


def test_without_being_asked_clients_are_scored_at_the_end_alone(tmp_path: Path) -> None:
    settings = SETTINGS | {"learning": {"mode": "train"}}
    kept, held = (fallow.run(Experiment.parse(settings), out, progress=False) for out in (tmp_path / "run", None))
    for run in (kept, held):
        assert run.client_scores is None
        assert run.clients.accuracy.between(0, 1).all()
    assert kept.clients.equals(held.clients)
    assert kept.summary == held.summary
    assert not (tmp_path / "run" / "client_scores.parquet").exists()


def test_a_run_in_memory_and_one_on_disk_keep_the_same_scores(tmp_path: Path) -> None:
    kept, held = (fallow.run(Experiment.parse(SETTINGS), out, progress=False) for out in (tmp_path / "run", None))
    assert len(kept.client_scores) == 36
    assert kept.client_scores.equals(held.client_scores)


def test_scoring_clients_changes_nothing_else(tmp_path: Path) -> None:
    for name, every in (("with", 2), ("without", 0)):
        learning = {"mode": "train", "client_eval_every": every}
        fallow.run(Experiment.parse(SETTINGS | {"learning": learning}), tmp_path / name, progress=False)
    for file in ("epochs.csv", "events.parquet", "clients.parquet", "model.safetensors", "summary.json"):
        assert (tmp_path / "with" / file).read_bytes() == (tmp_path / "without" / file).read_bytes(), file


@pytest.mark.parametrize("epochs", [0, 3, 5, 8, 9, 10])
def test_a_run_stopped_anywhere_keeps_every_score_once(epochs: int, tmp_path: Path) -> None:
    for name, lived in (("whole", 11), ("cut", epochs)):
        engine = Engine(Experiment.parse(SETTINGS))
        with RunWriter(engine, tmp_path / name) as open_run:
            open_run.write(islice(engine, lived))
    stopped = load_run(tmp_path / "cut")
    settled = epochs - epochs % 3
    assert sorted(set(stopped.client_scores.epoch)) == [epoch for epoch in (3, 7, 10) if epoch < settled]
    invoke(app, "resume", str(tmp_path / "cut"), "--workers", "2")
    names = {path.name for path in (tmp_path / "whole").iterdir()}
    assert names == {path.name for path in (tmp_path / "cut").iterdir()}
    assert "client_scores.parquet" in names
    for name in names:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "cut" / name).read_bytes(), name


def test_a_lost_part_of_the_scores_is_one_sentence(tmp_path: Path) -> None:
    engine = Engine(Experiment.parse(SETTINGS))
    with RunWriter(engine, tmp_path / "run") as open_run:
        open_run.write(islice(engine, 7))
    (part,) = (tmp_path / "run" / "client_scores").iterdir()
    part.unlink()
    with pytest.raises(fallow.errors.RunDirectoryError, match=r"client_scores are missing; the run must be started"):
        fallow.resume(tmp_path / "run", progress=False)


@pytest.mark.parametrize("out", [None, "run"])
def test_an_energy_only_run_has_no_scores_and_says_nothing_of_them(out: str | None, tmp_path: Path) -> None:
    settings = {"epochs": 5, "clients": 12, "learning": {"client_eval_every": 2}}
    run: Run = fallow.run(Experiment.parse(settings), tmp_path / out if out else None, progress=False)
    assert run.client_scores is None
    assert not {"accuracy", "loss"} & set(run.clients.columns)
    assert not [key for key in run.summary if "accuracy" in key]
    assert "own samples" not in run._repr_html_()
    if out:
        assert not (tmp_path / out / "client_scores.parquet").exists()
