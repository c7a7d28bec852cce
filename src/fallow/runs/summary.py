"""The totals of a run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fallow.runs.fairness import jain_index, summarise_accuracy
from fallow.runs.origins import Origin, describe_origins
from fallow.simulation.counters import Counters
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord


@dataclass
class Totals:
    """What a run comes to over its epochs, kept in its checkpoints.

    Attributes:
        counters: Sums over the epochs.
        mean_age_selected: Sum of the column of this name.
        mean_age_delivered: Sum of the column of this name.
        dropped: Updates received and not used.
        best_f1: Best of all evaluations.
        f1: Of the latest evaluation.
        accuracy: Of the latest evaluation.
        loss: Of the latest evaluation.
    """

    counters: Counters = field(default_factory=Counters)
    mean_age_selected: float = 0.0
    mean_age_delivered: float = 0.0
    dropped: int = 0
    best_f1: float | None = None
    f1: float | None = None
    accuracy: float | None = None
    loss: float | None = None

    def add(self, record: EpochRecord) -> None:
        """Adds an epoch. Of the scores, the latest are kept.

        Args:
            record: What the engine returned for it.
        """
        self.counters = self.counters.followed_by(record)
        self.mean_age_selected += record.mean_age_selected or 0.0
        self.mean_age_delivered += record.mean_age_delivered or 0.0
        self.dropped += record.dropped or 0
        if record.f1 is not None:
            self.f1, self.accuracy, self.loss = record.f1, record.accuracy, record.loss
            self.best_f1 = max(record.f1, self.best_f1 or 0.0)


def summarise(engine: Engine, totals: Totals, origins: Sequence[Origin]) -> dict[str, Any]:
    """Returns the summary of a finished run. Nothing in it depends on the clock, so equal runs have equal bytes.

    Args:
        engine: The run, at its end.
        totals: Sums over its epochs.
        origins: What its parts were made with.
    """
    experiment, world = engine.experiment, engine.world.state
    scores: dict[str, Any] = {}
    if engine.learner:
        scores = {
            "f1": totals.f1,
            "best_f1": totals.best_f1,
            "accuracy": totals.accuracy,
            "loss": totals.loss,
            "dropped": totals.dropped,
            **summarise_accuracy(engine.learner.evaluate_clients().accuracy),
        }
    counted = engine.ages != "none"
    return {
        "policy": experiment.policy.name,
        "ages": engine.ages,
        "seed": experiment.seed,
        "clients": experiment.clients,
        "epochs": experiment.epochs,
        **scores,
        **totals.counters.written(extended=engine.world.physics.extended),
        **_beyond_the_paper(engine),
        "energy_per_client_epoch": engine.energy_total / experiment.clients / experiment.epochs,
        "mean_age_selected": totals.mean_age_selected / experiment.epochs if counted else None,
        "mean_age_delivered": totals.mean_age_delivered / experiment.epochs if counted else None,
        "clients_never_delivered": int(np.count_nonzero(world.uploads == 0)),
        "jain_index_uploads": jain_index(world.uploads.astype(np.float64)),
        **describe_origins(origins, experiment.epochs),
    }


def _beyond_the_paper(engine: Engine) -> dict[str, Any]:
    """Returns what a summary says more where the world has more than the paper's, or units have joules."""
    experiment, physics = engine.experiment, engine.world.physics
    stated = {"slot_seconds": experiment.slot_seconds, "unit_joules": experiment.unit_joules}
    probes = {"probes": physics.probes} if physics.extended else {}
    return probes | (stated if experiment.unit_joules else {})


def to_json(summary: dict[str, Any]) -> bytes:
    """Returns the bytes of summary.json.

    Args:
        summary: As `summarise` returns it.
    """
    return (json.dumps(summary, indent=2) + "\n").encode()
