"""The totals of a run."""

import json
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord


@dataclass
class Totals:
    """Sums over the epochs of a run, kept in its checkpoints."""

    harvested: int = 0
    consumed_train: int = 0
    consumed_tx: int = 0
    consumed_probe: int = 0
    overflow: int = 0
    selected: int = 0
    starts: int = 0
    finishes: int = 0
    uploads: int = 0
    stale_uploads: int = 0
    mean_age_selected: float = 0.0
    mean_age_delivered: float = 0.0
    dropped: int = 0
    best_f1: float | None = None
    f1: float | None = None
    accuracy: float | None = None
    loss: float | None = None

    def add(self, record: EpochRecord) -> None:
        """Adds an epoch; of the scores the latest stay."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + (getattr(record, name) or 0))
        if record.f1 is not None:
            self.f1, self.accuracy, self.loss = record.f1, record.accuracy, record.loss
            self.best_f1 = max(record.f1, self.best_f1 or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """Returns the totals as JSON takes them."""
        return asdict(self)


SCORES = ("f1", "best_f1", "accuracy", "loss")
MEANS = ("mean_age_selected", "mean_age_delivered")
SUMS = tuple(name for name in Totals.__dataclass_fields__ if name not in SCORES)


def summarise(engine: Engine, totals: Totals) -> dict[str, Any]:
    """Returns the summary of a finished run. Nothing in it depends on the clock, so equal runs have equal bytes."""
    experiment, world = engine.experiment, engine.world
    counted = [name for name in SUMS if name not in (*MEANS, "dropped")]
    learnt = {name: getattr(totals, name) for name in (*SCORES, "dropped")} if engine.learner else {}
    packages = ("fallow", "numpy", "pyarrow", *(("torch",) if engine.learner else ()))
    return {
        "policy": experiment.policy.name,
        "ages": engine.ages,
        "seed": experiment.seed,
        "clients": experiment.clients,
        "epochs": experiment.epochs,
        **learnt,
        **{name: getattr(totals, name) for name in counted},
        "stored": int(world.battery.sum(dtype=np.int64)),
        "energy_total": engine.energy_total,
        "energy_per_client_epoch": engine.energy_total / experiment.clients / experiment.epochs,
        **{name: None if engine.ages == "none" else getattr(totals, name) / experiment.epochs for name in MEANS},
        "clients_never_delivered": int(np.count_nonzero(world.uploads == 0)),
        "jain_index_uploads": jain_index(world.uploads.astype(np.float64)),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


def jain_index(shares: NDArray[np.float64]) -> float | None:
    """Returns Jain's fairness index, 1 for equal shares and 1/N for one taker; None if there was nothing to share."""
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (shares.size * squares) if squares else None


def to_json(summary: dict[str, Any]) -> bytes:
    """Returns the bytes of summary.json."""
    return (json.dumps(summary, indent=2) + "\n").encode()
