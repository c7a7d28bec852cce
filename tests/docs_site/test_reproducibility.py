"""The table of what changes bytes, row by row."""

from pathlib import Path

import pytest

from fallow.cli import app
from tests.cli.runner import invoke

SETTINGS = (
    *("clients=12", "epochs=6", "energy.p=0.5", "policy.k=3", "learning.mode=train"),
    *("compute.strategy=stacked", "compute.workers=1"),
)
ALL = {"config.toml", "epochs.csv", "events.parquet", "model.safetensors", "summary.json"}


def run(directory: Path, *more: str) -> dict[str, bytes]:
    invoke(app, "run", *(f"--set={setting}" for setting in (*SETTINGS, *more)), "--out", str(directory))
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> dict[str, bytes]:
    return run(tmp_path_factory.mktemp("runs") / "reference")


def column(table: bytes, name: str) -> list[str]:
    head, *rows = (line.split(",") for line in table.decode().splitlines())
    return [row[head.index(name)] for row in rows]


@pytest.mark.parametrize(
    ("setting", "differs"),
    [
        ("compute.workers=1", set()),  # only the directory and the time are others
        ("compute.workers=2", {"config.toml"}),
        ("output.checkpoint_every=2", {"config.toml"}),
        ("output.trackers=tensorboard", {"config.toml"}),
        ("output.events=false", {"config.toml", "events.parquet"}),
        ("compute.strategy=spread", {"config.toml", "epochs.csv", "model.safetensors", "summary.json"}),
        ("seed=1", ALL),
        ("clients=13", ALL),
    ],
)
def test_what_differs_is_what_the_page_says(setting: str, differs: set[str], reference, tmp_path: Path) -> None:
    found = run(tmp_path / "run", setting)
    assert {name for name in ALL if found.get(name) != reference[name]} == differs


def test_evaluating_more_often_leaves_the_model_alone(reference, tmp_path: Path) -> None:
    found = run(tmp_path / "run", "learning.eval_every=2")
    assert found["model.safetensors"] == reference["model.safetensors"]
    assert found["epochs.csv"] != reference["epochs.csv"]


def test_a_longer_run_begins_with_the_same_epochs(reference, tmp_path: Path) -> None:
    found = run(tmp_path / "run", "epochs=9")
    assert found["epochs.csv"].splitlines()[:6] == reference["epochs.csv"].splitlines()[:6]


def test_another_policy_meets_the_same_harvest_and_another_number_of_clients_does_not(
    reference, tmp_path: Path
) -> None:
    same = run(tmp_path / "fedavg", "policy.name=fedavg")
    assert column(same["epochs.csv"], "harvested") == column(reference["epochs.csv"], "harvested")
    other = run(tmp_path / "more", "clients=13")
    assert column(other["epochs.csv"], "harvested") != column(reference["epochs.csv"], "harvested")
