"""Kills runs at random moments, resumes them with other numbers of workers, and compares every byte at the end.

    python -m tests.e2e.kill --kills 500
    python -m tests.e2e.kill --kills 40 --policy vaoi --tracker tensorboard
    python -m tests.e2e.kill --kills 40 --policy fedavg --rule mifa --rule fedvarp

Half of the kills come from outside at a random time. The others strike in the middle of writing: right before or right
after a random fsync, rename or truncation. With a tracker, every point that it shows is compared with the table too.
"""

import argparse
import operator
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fallow.cli.run  # what takes long to load is loaded once, before the forks
import fallow.runs.event_table
import fallow.simulation.learner_setup  # noqa: F401
from fallow.aggregation import AGGREGATIONS
from fallow.cli import app
from fallow.policies import POLICIES
from fallow.trackers import TRACKERS
from tests.trackers.points import (
    Points,
    as_float32,
    mlflow_points,
    own_store,
    table_points,
    tensorboard_points,
)

FILES = (
    *("config.toml", "epochs.csv", "events.parquet", "clients.parquet", "client_scores.parquet"),
    *("model.safetensors", "checksums.txt", "summary.json"),
)
SETTINGS = (
    *("clients=20", "epochs=16", "energy.p=0.5", "learning.mode=train", "learning.eval_every=2", "compute.workers=1"),
    *("compute.strategy=stacked", "output.checkpoint_every=3", "cost.train=8", "battery.capacity=12"),
    "learning.client_eval_every=4",
)


def live(arguments: list[str]) -> None:
    """Runs a command in this process, quietly, and ends the process."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    code = 1
    try:
        app(arguments, standalone_mode=False)
        code = 0
    finally:
        os._exit(code)


def strike(rng: random.Random) -> None:
    """Arranges for this process to die around one of its next writes to the disk."""
    left, before = rng.randrange(1, 40), rng.random() < 0.5

    def deadly(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0 and before:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments, **keywords)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    os.fsync, os.truncate = deadly(os.fsync), deadly(os.truncate)
    Path.replace, Path.unlink = deadly(Path.replace), deadly(Path.unlink)  # type: ignore[method-assign]


def attempt(arguments: list[str], rng: random.Random, longest: float) -> bool:
    """Runs a command in a child that is killed; tells whether it was, or ended before that."""
    inside = rng.random() < 0.5
    seed = rng.random()
    child = os.fork()
    if child == 0:
        if inside:
            strike(random.Random(seed))  # noqa: S311
        live(arguments)
    if not inside:
        time.sleep(rng.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"The command {arguments} failed with {os.WEXITSTATUS(status)}.")
    return os.WIFSIGNALED(status)


def finish(arguments: list[str]) -> float:
    """Runs a command to its end in a child; returns how long it took."""
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        live(arguments)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"The command {arguments} failed.")
    return time.perf_counter() - begin


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in FILES}


def shown(tracker: str, directory: Path) -> tuple[Points, Points]:
    """Returns what a tracker shows of a run, and what it should show."""
    expected = table_points(directory)
    if tracker == "tensorboard":
        return tensorboard_points(directory), as_float32(expected)
    return mlflow_points(own_store(directory), directory.name)[0], expected


def torment(policy: str, rule: str, kills: int, rng: random.Random, folder: Path, tracker: str | None = None) -> int:
    """Kills and resumes runs of a policy and a rule until `kills` have struck; returns how many runs that took."""
    tracked = [f"output.trackers={tracker}"] if tracker else []
    named = (f"policy.name={policy}", f"aggregation.name={rule}")
    settings = [f"--set={setting}" for setting in (*SETTINGS, *named, *tracked)]
    longest = finish(["run", *settings, "--out", str(folder / "reference")])
    expected = contents(folder / "reference")
    struck = runs = 0
    while struck < kills:
        runs += 1
        directory = folder / f"run-{runs}"
        command = ["run", *settings, "--out", str(directory)]
        while struck < kills and attempt(command, rng, longest):
            struck += 1
            if (directory / "config.toml").exists():
                command = ["resume", str(directory), "--workers", str(rng.choice([1, 2, 4]))]
        finish(["resume", str(directory)] if (directory / "config.toml").exists() else command)
        found = contents(directory)
        different = [name for name in FILES if found[name] != expected[name]]
        left = {path.name for path in directory.iterdir()} - {*FILES, tracker}
        if different or left:
            sys.exit(f"{policy}: after {struck} kills, different {different}, left over {left}, in {directory}.")
        if tracker and operator.ne(*shown(tracker, directory)):
            sys.exit(f"{policy}: after {struck} kills, {tracker} shows something else than the table, in {directory}.")
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--policy", action="append", choices=list(POLICIES), help="may be repeated; default: every one")
    parser.add_argument(
        "--rule", action="append", choices=list(AGGREGATIONS), help="may be repeated; default: received"
    )
    parser.add_argument("--tracker", choices=list(TRACKERS))
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    rng = random.Random(seed)  # noqa: S311
    policies = options.policy or list(POLICIES)
    pairs = [(policy, rule) for policy in policies for rule in options.rule or ["received"]]
    each = -(-options.kills // len(pairs))
    for policy, rule in pairs:
        with tempfile.TemporaryDirectory() as folder:
            runs = torment(policy, rule, each, rng, Path(folder), options.tracker)
        print(f"{policy}, {rule}: {each} kills in {runs} runs, the same bytes each time (seed {seed})", flush=True)


if __name__ == "__main__":
    main()
