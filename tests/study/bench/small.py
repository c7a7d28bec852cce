"""A miniature suite, and scores that nothing was run for."""

from pathlib import Path

from fallow.study.bench.scores import Score

SUITE = """
words = "Two scenarios of three epochs."
seeds = 2

[experiment]
clients = 6
epochs = 3

[experiment.policy]
k = 2

[experiment.data]
name = "synthetic"
samples_per_client = 8

[experiment.model]
name = "small-cnn"

[experiment.learning]
mode = "train"
eval_every = 1

[experiment.battery]
initial = 25

[experiment.compute]
strategy = "stacked"

[experiment.output]
events = false
"""

POLICY = """
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Mine:
    k: int = 10

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.arange(view.clients) < self.k
"""


def write_suite(folder: Path) -> Path:
    folder.mkdir()
    (folder / "suite.toml").write_text(SUITE)
    for name, p in (("poor", 0.1), ("rich", 0.8)):
        (folder / f"{name}.toml").write_text(f'version = 1\nwords = "p = {p}"\n[experiment.energy]\np = {p}\n')
    return folder


def score(scenario: str, entrant: str, seed: int, f1: float, energy: float = 100) -> Score:
    return Score(scenario, entrant, seed, {"f1": f1, "energy": energy})
