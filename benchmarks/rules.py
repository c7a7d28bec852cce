"""What each aggregation rule costs beside `received`: seconds an epoch and peak memory, each in a process of its own.

Two tables. The first is the rule alone: N clients, the full-width paper CNN's parameters, some updates an epoch, with
the checkpoint's writes counted apart. The second is whole runs on CIFAR-10 with tables and checkpoints, if it is here.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fallow.aggregation import AGGREGATIONS, Update, aggregate
from fallow.data import is_ready
from fallow.experiment import Experiment
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.state import pack
from fallow.storage.checkpoints import CheckpointFile

RULES: dict[str, dict[str, Any]] = {
    "received": {},
    "received by changes": {"by": "changes"},
    "all": {},
    "shrinkage": {},
    "buffered": {},
    "fedasync": {},
    "fedbuff": {},
    "fedopt": {},
    "mifa": {},
    "mifa float16": {"memory": "float16"},
    "mifa disk": {"where": "disk"},
    "mifa float16 disk": {"memory": "float16", "where": "disk"},
    "fedvarp": {},
    "fedvarp float16": {"memory": "float16"},
    "fedvarp disk": {"where": "disk"},
}
"""Options of each rule; the first word is its name."""


@dataclass(frozen=True)
class Kept:
    """A state as small as a checkpoint's can be: the model and the rule's memory.

    Attributes:
        weights: w, shape (P,), float32.
        rule: The rule's memory.
    """

    weights: np.ndarray[Any, np.dtype[np.float32]]
    rule: Any


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(title: str, clients: int, size: int, updates: int, epochs: int) -> tuple[float, float, float]:
    """Returns seconds an epoch of a rule alone, seconds of a checkpoint, and the peak in MB."""
    rule = AGGREGATIONS[title.split()[0]](**RULES[title])
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(size, dtype=np.float32)
    changes = [rng.standard_normal(size, dtype=np.float32) * np.float32(0.01) for _ in range(updates)]
    state = rule.init(size, np.full(clients, 300))
    inside = written = 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = CheckpointFile(Path(folder) / "checkpoint", Path(folder) / "rows")
        for epoch in range(epochs):
            who = rng.choice(clients, updates, replace=False).tolist()
            received = [Update(i, 0, weights + change, weights, 300) for i, change in zip(who, changes, strict=True)]
            begin = time.perf_counter()
            state, weights = aggregate(rule, state, weights, received)
            inside += time.perf_counter() - begin
            if epoch % 10 == 9:
                begin = time.perf_counter()
                arrays, notes = pack(Kept(weights, state))
                file.write(arrays, {"state": notes})
                written += time.perf_counter() - begin
    return inside / epochs, written / max(epochs // 10, 1), peak_mb()


def whole(title: str, clients: int, epochs: int) -> tuple[float, float, float]:
    """Returns seconds an epoch of a run, the seconds of these in the rule, and the peak in MB."""
    settings = {
        "clients": clients,
        "epochs": epochs,
        "energy": {"p": 0.1},
        "battery": {"initial": 20},
        "data": {"name": "cifar10"},
        "learning": {"mode": "train", "eval_every": epochs},
        "aggregation": {"name": title.split()[0]} | RULES[title],
    }
    engine = Engine(Experiment.parse(settings))
    assert engine.learner is not None
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        with RunWriter(engine, Path(folder) / "run") as run:
            run.write(engine)
        total = time.perf_counter() - begin
    return total / epochs, engine.learner.seconds["aggregate"] / epochs, peak_mb()


def table(measure: Callable[..., tuple[float, float, float]], second: str, titles: list[str], *arguments: int) -> None:
    print(f"{'rule':22} {'s an epoch':>10} {'× received':>10} {second:>14} {'peak MB':>8}")
    first = None
    for title in titles:
        # A new process each: the peak of one must not be that of the one before.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            seconds, other, peak = pool.submit(measure, title, *arguments).result()
        first = first or seconds
        print(f"{title:22} {seconds:10.4f} {seconds / first:10.2f} {other:14.4f} {peak:8.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--size", type=int, default=845_738, help="parameters of the rule alone; full width by default")
    parser.add_argument("--updates", type=int, default=10, help="updates an epoch, for the rule alone")
    parser.add_argument("--epochs", type=int, default=40, help="of the rule alone")
    parser.add_argument("--run-epochs", type=int, default=20, help="of a whole run; 0 makes none")
    parser.add_argument("--rule", action="append", choices=list(RULES), help="may be repeated; default: every one")
    options = parser.parse_args()
    titles = ["received", *(title for title in options.rule or RULES if title != "received")]
    print(f"The rule alone: {options.clients} clients, {options.size} parameters, {options.updates} updates an epoch")
    table(alone, "s a checkpoint", titles, options.clients, options.size, options.updates, options.epochs)
    if options.run_epochs and is_ready("cifar10"):
        print(f"Whole runs: {options.clients} clients, CIFAR-10, paper-cnn, {options.run_epochs} epochs")
        table(whole, "s in the rule", titles, options.clients, options.run_epochs)
    elif options.run_epochs:
        print("Whole runs: left out, run `fallow data fetch cifar10` first")


if __name__ == "__main__":
    main()
