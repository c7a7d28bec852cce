"""A warm process for tests: it has an experiment's data and network, and each child of it trains."""

import json
import os
import random
import sys
from pathlib import Path

import numpy as np
import torch

from fallow.flower.experiment import _parts
from fallow.flower.node.warm import WarmProcess
from fallow.learning.forking import without_threads
from tests.flower.federations import small

TOML = small(clients=2).to_toml()


def train() -> float:
    """Returns the loss of client 1's first training."""
    parts = _parts(TOML)
    return parts.task(1).train(parts.network.weights(), 0).loss


def answer() -> None:
    draws = [random.random(), np.random.random(), torch.rand(1).item()]  # noqa: NPY002, S311
    print(json.dumps({"arguments": sys.argv[1:], "parent": os.getppid(), "draws": draws, "loss": train()}))
    if sys.argv[1:] == ["fail"]:
        raise RuntimeError("on purpose")


if __name__ == "__main__":
    without_threads()
    _parts(TOML)
    WarmProcess(Path(sys.argv[1]), answer, lambda: None, int(sys.argv[2])).serve()
