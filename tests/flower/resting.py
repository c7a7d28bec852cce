"""Asks nodes; as a program, in a process that loads no more than that takes. Nothing here loads PyTorch."""

import json
import sys
from pathlib import Path

import numpy as np
from flwr.app import Context, Message, MessageType
from flwr.clientapp import ClientApp

from fallow.experiment import Experiment
from fallow.flower import LocalData, LocalGrid, Metered, MeterFile, client_app, experiment_client
from fallow.flower.wire.messages import Query
from fallow.flower.wire.records import FIELDS, to_records

NODE = 1000


def app_of_experiment(toml: str, root: Path) -> ClientApp:
    return experiment_client(Experiment.from_toml(toml), directory=root)


def app_with_a_meter(root: Path) -> ClientApp:
    def data(_context: Context) -> LocalData:
        return LocalData(np.ones((5, 1, 8, 8), np.float32), np.arange(5), classes=10)

    def model() -> object:
        from torch import nn

        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))

    return client_app(model, data, Metered(MeterFile(root / "level")), directory=root)


def ask(app: ClientApp, query: Query) -> dict[str, float]:
    """Returns the answer of client 1, by field."""
    grid = LocalGrid(app, {NODE: {"partition-id": 1}})
    reply = grid.deliver(Message(to_records(query), NODE, MessageType.QUERY))
    assert reply is not None
    assert not reply.has_error(), reply.error.reason
    return dict(reply.content.config_records[FIELDS])  # type: ignore[arg-type]


if __name__ == "__main__":
    toml, asked = json.loads(sys.argv[1])
    answers = [
        ask(app_of_experiment(toml, Path(root)) if kind == "experiment" else app_with_a_meter(Path(root)), Query(**one))
        for kind, root, one in asked
    ]
    print(json.dumps([answers, sorted(sys.modules)]))
