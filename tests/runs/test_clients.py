from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.runs.clients import client_columns
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine

SETTINGS = {"clients": 7, "epochs": 12, "energy": {"p": 0.4}, "cost": {"train": 5, "transmit": 2, "probe": 1}}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_clients_add_up_to_the_run(policy: str, tmp_path: Path) -> None:
    engine = Engine(Experiment.parse(SETTINGS | {"policy": {"name": policy, "k": 3}}))
    with RunWriter(engine, tmp_path / "run") as run:
        summary = run.write(engine)
    table = pq.read_table(tmp_path / "run" / "clients.parquet").to_pydict()
    assert table["client"] == list(range(7))
    totals = {"starts": "starts", "updates": "uploads", "energy": "energy_total"}
    totals |= {name: name for name in ("harvested", "overflow", "stored")}
    for column, key in totals.items():
        assert sum(table[column]) == summary[key], column
    for harvested, energy, overflow, stored in zip(
        table["harvested"], table["energy"], table["overflow"], table["stored"], strict=True
    ):
        assert harvested == energy + overflow + stored


def test_each_client_pays_for_what_it_does() -> None:
    """Client 1 harvests a unit a slot and starts one training for 3, too late to send; client 0 never has any."""
    settings = {"clients": 2, "epochs": 1, "slots_per_epoch": 5, "energy": {"p": [0.0, 1.0]}}
    engine = Engine(Experiment.parse(settings | {"cost": {"train": 3, "transmit": 2}, "policy": {"name": "fedavg"}}))
    list(engine)
    found = client_columns(engine.world, 1)
    assert found["starts"].tolist() == [0, 1]
    assert found["energy"].tolist() == [0, 3]
    assert found["harvested"].tolist() == [0, 5]
    assert found["stored"].tolist() == [0, 2]
    assert found["energy"].dtype == np.int64


def test_an_outage_is_an_idle_client_without_the_energy_to_train() -> None:
    """Both lack 3 units as the first epoch opens; as the second opens, client 1 has an update to send."""
    settings = {"clients": 2, "epochs": 2, "slots_per_epoch": 5, "energy": {"p": [0.0, 1.0]}}
    engine = Engine(Experiment.parse(settings | {"cost": {"train": 3, "transmit": 2}, "policy": {"name": "fedavg"}}))
    list(engine)
    assert client_columns(engine.world, engine.epoch)["outage"].tolist() == [1.0, 0.5]
