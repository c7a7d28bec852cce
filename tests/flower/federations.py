"""Federations in this process, and what goes wrong in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import Message, MessageType

from fallow.experiment import Experiment
from fallow.flower import FallowStrategy, LocalGrid, experiment_client, experiment_strategy
from fallow.flower.experiment import Scorer
from fallow.flower.node import client_task
from fallow.flower.wire.arrays import flattened
from fallow.flower.wire.records import FIELDS
from fallow.simulation.engine import Engine

FIRST_NODE = 1000

Fault = Callable[["Wire", Message], Message | None]
"""Stands in for the delivery of a message."""


def small(clients: int = 6, epochs: int = 5, **sections: Any) -> Experiment:
    settings: dict[str, Any] = {
        "clients": clients,
        "epochs": epochs,
        "policy": {"name": "vaoi", "k": min(3, clients)},
        "energy": {"p": 0.7},
        "data": {"samples_per_client": 12},
        "cost": {"train": 6},
        "battery": {"capacity": 10},
        "slots_per_epoch": 10,
        "learning": {"mode": "train", "eval_every": 2},
        "compute": {"strategy": "spread", "workers": 1},
    }
    for name, value in sections.items():
        settings[name] = settings.get(name, {}) | value if isinstance(value, dict) else value
    return Experiment.parse(settings)


class Wire(LocalGrid):
    """A grid that writes down who is told what, and on which faults can be laid. Its nodes tell all that is asked."""

    def __init__(
        self, experiment: Experiment, root: Path, first_node: int = FIRST_NODE, *, share_labels: bool = True
    ) -> None:
        nodes = {
            first_node + number: {"partition-id": number, "share-labels": share_labels}
            for number in range(experiment.clients)
        }
        super().__init__(experiment_client(experiment, directory=root), nodes)
        self.first_node = first_node
        self.orders: dict[int, list[tuple[int, bool]]] = {}
        self.sent: list[tuple[str, int, int, bool]] = []
        self.faults: dict[tuple[str, int, int], Fault] = {}

    def fail(self, kind: str, epoch: int, client: int, fault: Fault) -> None:
        self.faults[kind, epoch, client] = fault

    def deliver(self, message: Message) -> Message | None:
        client = message.metadata.dst_node_id - self.first_node
        fields = message.content.config_records[FIELDS]
        epoch, kind = int(fields["epoch"]), message.metadata.message_type  # type: ignore[arg-type]
        self.sent.append((kind, epoch, client, bool(message.content.array_records)))
        if kind == MessageType.TRAIN:
            self.orders.setdefault(epoch, []).append((client, bool(fields["selected"])))
        fault = self.faults.get((kind, epoch, client))
        return fault(self, message) if fault else super().deliver(message)

    def honest(self, message: Message) -> Message:
        """Delivers a message without a fault."""
        reply = super().deliver(message)
        assert reply is not None
        return reply


def federate(
    experiment: Experiment,
    root: Path,
    grid: Wire | None = None,
    rounds: int | None = None,
    **options: Any,
) -> tuple[FallowStrategy, Wire]:
    """Runs the federation of an experiment in this process."""
    grid = grid or Wire(experiment, root / "nodes")
    strategy = experiment_strategy(experiment, root / "server", **{"patience": 0.0, "reply_seconds": 0.5} | options)
    scorer = Scorer(experiment)
    strategy.start(grid, scorer.initial(), experiment.epochs if rounds is None else rounds, evaluate_fn=scorer)
    return strategy, grid


def weights(strategy: FallowStrategy) -> np.ndarray:
    federation = strategy.federation
    assert federation is not None
    return flattened(federation.model, federation.model)


def simulated(experiment: Experiment) -> tuple[Engine, list[Any]]:
    engine = Engine(experiment, workers=1)
    return engine, list(engine)


class KilledError(BaseException):
    """As good as SIGKILL, for what is only in memory."""


def killed_in_training(monkeypatch: pytest.MonkeyPatch) -> Fault:
    """Returns the fault of a node that dies over its training, and so never answers."""

    def dies(*_arguments: Any) -> None:
        raise KilledError

    def fault(wire: Wire, message: Message) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(client_task, "train", dies)
            with pytest.raises(KilledError):
                wire.honest(message)

    return fault
