"""Run directories for tests: real ones by the engine, and made-up ones by the hundred."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fallow.experiment import Experiment
from fallow.runs.event_table import EVENT_SCHEMA, events_table
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.simulation.events import Event

SMALL = {"clients": 6, "epochs": 8, "policy.k": 2, "energy.p": 0.4}


def live(directory: Path, **settings: Any) -> Path:
    """Runs a small experiment for real; dots in names are written as two underscores, and None takes a setting away."""
    given = SMALL | {name.replace("__", "."): value for name, value in settings.items()}
    experiment = Experiment.read(
        None, [f"{name}={json.dumps(value)}" for name, value in given.items() if value is not None]
    )
    engine = Engine(experiment)
    with RunWriter(engine, directory) as run:
        run.write(engine)
    return directory


def make_up(
    directory: Path, *, policy: str = "vaoi", seed: int = 0, p: float = 0.1, epochs: int = 500, ages: bool = True
) -> Path:
    """Writes a run that nobody lived through, with scores, in a few milliseconds; `ages` if they were measured."""
    directory.mkdir(parents=True)
    settings = ["energy.p=" + str(p), f"seed={seed}", f"epochs={epochs}", "learning.mode=train"]
    text = Experiment.read(None, settings).to_toml().replace('name = "vaoi"', f"name = {json.dumps(policy)}")
    (directory / "config.toml").write_text(text, encoding="utf-8")
    rng = np.random.default_rng(seed)
    epoch = np.arange(epochs)
    age = 3 + rng.random(epochs)
    score = 1 - np.exp(-epoch / 90) * (1 + 0.1 * rng.random(epochs))
    rows = [
        f"{t},300,5,1000,{210 * (t + 1)},10,10,"
        f"{f'{age[t]},{age[t] + 1}' if ages else ','},{score[t] if t % 5 == 4 else ''}"
        for t in epoch
    ]
    head = "epoch,harvested,overflow,stored,energy_total,starts,uploads"
    table = "\n".join([f"{head},mean_age_selected,mean_age_delivered,f1", *rows])
    (directory / "epochs.csv").write_text(table + "\n", encoding="utf-8")
    sent = np.sort(rng.permutation(100)[:10])
    events = [Event("upload", int(t) * 30, sent, np.zeros(10, dtype=np.int32)) for t in epoch[:: max(1, epochs // 20)]]
    with pq.ParquetWriter(directory / "events.parquet", EVENT_SCHEMA) as writer:
        for event in events:
            writer.write_table(events_table([(event.slot // 30, [event])]))
    totals = dict.fromkeys(
        ("consumed_train", "consumed_tx", "consumed_probe", "overflow", "starts", "uploads"), 100 + seed
    )
    about = {"policy": policy, "seed": seed, "clients": 100, "epochs": epochs}
    summary = (
        about
        | totals
        | {"energy_total": 210 * epochs, "mean_age_delivered": 4.5 if ages else None, "f1": 0.9, "best_f1": 0.92}
    )
    (directory / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return directory
