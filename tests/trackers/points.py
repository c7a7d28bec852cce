"""What a tracker shows, read back with the tracker's own library: {(name, step): value}. A point twice is an error."""

import csv
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Points = dict[tuple[str, int], float]


def once(points: Iterable[tuple[str, int, float]]) -> Points:
    found: Points = {}
    for name, step, value in points:
        assert (name, step) not in found, f"{name} has two points in epoch {step}"
        found[name, step] = value
    return found


def table_points(directory: Path) -> Points:
    """What epochs.csv says."""
    with (directory / "epochs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        (name, int(row["epoch"])): float(cell) for row in rows for name, cell in row.items() if cell and name != "epoch"
    }


def as_float32(points: Points) -> Points:
    """TensorBoard keeps 32 bits of a number."""
    return {key: struct.unpack("f", struct.pack("f", value))[0] for key, value in points.items()}


def accumulate(directory: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(directory / "tensorboard"), size_guidance={"scalars": 0, "tensors": 0}).Reload()


def tensorboard_points(directory: Path) -> Points:
    events = accumulate(directory)
    return once((name, point.step, point.value) for name in events.Tags()["scalars"] for point in events.Scalars(name))


def mlflow_runs(address: str) -> tuple[Any, list[Any]]:
    """A client, and every run of a store that was not deleted."""
    from mlflow import MlflowClient

    client = MlflowClient(address)
    return client, client.search_runs([experiment.experiment_id for experiment in client.search_experiments()])


def mlflow_points(address: str, name: str) -> tuple[Points, Points]:
    """The points of the one run with this name, and its totals."""
    client, runs = mlflow_runs(address)
    (run,) = (run for run in runs if run.info.run_name == name)
    assert run.info.status == "FINISHED"
    points = once(
        (key, point.step, point.value)
        for key in run.data.metrics
        for point in client.get_metric_history(run.info.run_id, key)
    )
    totals = {key: value for key, value in points.items() if key[0].startswith("summary/")}
    return {key: value for key, value in points.items() if key not in totals}, totals


def own_store(directory: Path) -> str:
    return f"sqlite:///{directory.resolve() / 'mlflow' / 'mlflow.db'}"
