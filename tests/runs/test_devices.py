"""A run with classes of devices: devices.csv, the class of each client, kills and sweeps."""

from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import fallow
from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.execute import run
from fallow.runs.run import load_run
from fallow.runs.writer import RunWriter
from fallow.simulation.device_rows import DEVICE_COLUMNS, LOSSES
from fallow.simulation.engine import Engine

DEVICES = [
    {"name": "small", "share": 1, "capacity": 8, "train": 4, "energy": {"p": 0.9}},
    {"name": "large", "share": 2, "capacity": 60},
]


def experiment(**changes: object) -> Experiment:
    settings = {"clients": 6, "epochs": 12, "policy": {"k": 3}, "energy": {"p": 0.4}, "device": DEVICES}
    return Experiment(**(settings | {"output": {"checkpoint_every": 5}} | changes))


def test_devices_csv_has_a_row_for_each_class_and_epoch_and_sums_to_epochs_csv(tmp_path: Path) -> None:
    found = run(experiment(), tmp_path / "run", progress=False)
    devices, epochs = found.devices, found.epochs
    assert tuple(devices.columns) == tuple(name for name in DEVICE_COLUMNS if name not in LOSSES)
    assert devices["device"].tolist() == ["small", "large"] * 12
    assert devices["clients"].tolist()[:2] == [2, 4]
    assert devices["capacity"].tolist()[:2] == [16, 240]
    by_epoch = devices.groupby("epoch").sum(numeric_only=True)
    for name in ("stored", "harvested", "overflow", "starts", "uploads"):
        assert by_epoch[name].tolist() == epochs[name].tolist(), name
    consumed = epochs[["consumed_train", "consumed_tx", "consumed_probe"]].sum(axis=1)
    assert by_epoch["consumed"].tolist() == consumed.tolist()


LOSSY = [
    DEVICES[0] | {"cutoff": 1, "wake": 3, "efficiency": 0.75, "self_discharge": 0.05},
    DEVICES[1] | {"idle": 0.25, "transmit_slots": 2},
]


def test_every_loss_is_in_the_books_of_its_class(tmp_path: Path) -> None:
    found = run(experiment(device=LOSSY, epochs=20), tmp_path / "run", progress=False)
    devices, epochs = found.devices, found.epochs
    assert tuple(devices.columns) == DEVICE_COLUMNS
    by_epoch = devices.groupby("epoch").sum(numeric_only=True)
    for name in ("stored", "harvested", "overflow", *LOSSES):
        assert by_epoch[name].tolist() == epochs[name].tolist(), name
    for name, own in devices.groupby("device"):
        change = np.diff(own["stored"], prepend=0)
        uses = own[["consumed", "overflow", "conversion_loss", "leakage"]].sum(axis=1)
        assert own["harvested"].tolist() == (uses + change).tolist(), name
    small, large = (devices[devices["device"] == name] for name in ("small", "large"))
    assert small["conversion_loss"].sum() > 0
    assert small["asleep"].sum() > 0
    assert large["conversion_loss"].sum() == large["leakage"].sum() == large["asleep"].sum() == 0


def test_clients_have_their_class(tmp_path: Path) -> None:
    found = run(experiment(), tmp_path / "run", progress=False)
    assert found.clients["device"].tolist() == ["small"] * 2 + ["large"] * 4
    assert pq.read_table(tmp_path / "run" / "clients.parquet")["device"].to_pylist() == ["small"] * 2 + ["large"] * 4
    assert (found.clients["stored"][:2] <= 8).all()


def test_a_run_in_memory_has_the_same_rows(tmp_path: Path) -> None:
    stored, memory = run(experiment(), tmp_path / "run", progress=False), run(experiment(), progress=False)
    assert memory.devices.equals(stored.devices)
    assert memory.clients["device"].tolist() == stored.clients["device"].tolist()


def test_without_classes_nothing_of_it_is_written(tmp_path: Path) -> None:
    found = run(experiment(device=()), tmp_path / "run", progress=False)
    assert not (tmp_path / "run" / "devices.csv").exists()
    assert found.devices is None
    assert "device" not in found.clients


@pytest.mark.parametrize(
    ("stop_after", "devices"), [(3, DEVICES), (5, DEVICES), (8, DEVICES), (11, DEVICES), (8, LOSSY)]
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(tmp_path: Path, stop_after: int, devices: list) -> None:
    run(experiment(device=devices), tmp_path / "whole", progress=False)
    engine = Engine(experiment(device=devices))
    with RunWriter(engine, tmp_path / "again") as opened:
        opened.write(islice(engine, stop_after))
    with (tmp_path / "again" / "devices.csv").open("a") as file:
        file.write("11,half a ro")
    assert load_run(tmp_path / "again").devices["epoch"].max() < 12
    fallow.resume(tmp_path / "again", progress=False)
    for name in ("config.toml", "epochs.csv", "devices.csv", "events.parquet", "clients.parquet", "summary.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_devices_csv_that_lost_rows_is_refused(tmp_path: Path) -> None:
    engine = Engine(experiment())
    with RunWriter(engine, tmp_path / "run") as opened:
        opened.write(islice(engine, 7))
    (tmp_path / "run" / "devices.csv").write_text("epoch\n")
    with pytest.raises(RunDirectoryError, match=r"devices.csv is shorter than the checkpoint says"):
        fallow.resume(tmp_path / "run", progress=False)


def test_a_damaged_devices_csv_is_one_sentence(tmp_path: Path) -> None:
    run(experiment(), tmp_path / "run", progress=False)
    (tmp_path / "run" / "devices.csv").write_text("epoch,device\nzero,small\n")
    with pytest.raises(RunDirectoryError, match=r"devices.csv can't be read"):
        _ = load_run(tmp_path / "run").devices


def test_sweeps_take_classes_and_vary_one_of_their_numbers(tmp_path: Path) -> None:
    study = fallow.sweep(
        experiment(epochs=2), **{"device.small.capacity": [8, 20]}, seed=[0, 1], out=tmp_path / "sweep", progress=False
    )
    assert study.table()["device.small.capacity"].tolist() == [8, 20]
    capacities = {load_run(path.parent).devices["capacity"][0] for path in (tmp_path / "sweep").glob("*/config.toml")}
    assert capacities == {16, 40}


def test_classes_change_nothing_for_clients_whose_class_says_nothing() -> None:
    alike = [{"name": "a"}, {"name": "b"}]
    plain, classed = (run(experiment(device=device), progress=False) for device in ((), alike))
    assert plain.epochs.equals(classed.epochs)
    assert np.array_equal(plain.clients["energy"], classed.clients["energy"])
