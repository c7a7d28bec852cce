"""Where the time of an epoch goes: world, probe, train, aggregate, evaluate, write; and the peak memory.

Whole runs with tables, events and checkpoints, so that the next bottleneck is visible.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fallow.data import is_ready
from fallow.experiment import Experiment
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord

COMMON = {"learning": {"mode": "train", "eval_every": 5}, "energy": {"p": 0.1}}
RUNS: dict[str, dict[str, Any]] = {
    "digits, small-cnn, 100 epochs": {"epochs": 100},
    "cifar10, paper-cnn, 5 epochs": {"epochs": 5, "data": {"name": "cifar10"}},
}
KINDS = ("probe", "train", "aggregate", "evaluate")


def measure(settings: dict[str, Any]) -> None:
    engine = Engine(Experiment.parse(COMMON | settings | {"battery": {"initial": 20}}))
    inside = 0.0

    def epochs() -> Iterator[EpochRecord]:
        nonlocal inside
        while engine.epoch < engine.experiment.epochs:
            begin = time.perf_counter()
            record = engine.step()
            inside += time.perf_counter() - begin
            yield record

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        with RunWriter(engine, Path(folder) / "run") as run:
            run.write(epochs())
        total = time.perf_counter() - begin
    learner = engine.learner
    assert learner is not None
    parts = {kind: learner.seconds[kind] for kind in KINDS}
    parts = {"world": inside - sum(parts.values()), **parts, "write": total - inside}
    count, trainings = engine.experiment.epochs, int(engine.world.state.starts.sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  {total / count * 1000:.1f} ms an epoch, {trainings / count:.1f} trainings in each, {learner.strategy}, ",
        end="",
    )
    print(f"{learner.workers.count} workers, peak {peak:.0f} MB")
    print("  " + ", ".join(f"{kind} {seconds / count * 1000:.1f} ms" for kind, seconds in parts.items()))


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for title, settings in RUNS.items():
        name = settings.get("data", {}).get("name", "digits")
        if not is_ready(name):
            print(f"{title}: left out, run `fallow data fetch {name}` first")
            continue
        print(title)
        measure(settings)


if __name__ == "__main__":
    main()
