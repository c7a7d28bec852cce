"""An attack on the doors for somebody's own parts: each answer of each kind of part, bent in every way.

What must come of it is a sentence, or the very run that honest parts give; never another error, never another run.
``python -m tests.attack.plugins --seconds 120 --seed 1`` goes on until the time is over, and tells what went wrong.
"""

import argparse
import contextlib
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from fallow.errors import FallowError
from fallow.experiment import Experiment
from fallow.runs.execute import begin_or_resume
from fallow.simulation.engine import Engine
from tests.attack import parts
from tests.attack.bends import BENDS
from tests.attack.parts import HOOKS, plan

EPOCHS = 4
THEIRS = {"dataset.load", "dataset.x", "dataset.y", "policy.init", "policy.select", "rule.init", "rule.combine"}
"""Hooks whose arrays stay their author's: data, which may be a mapped file, and memories; the check looks there."""


MAY_DIFFER = {
    "policy.importance": {"float16", "int8", "uint64", "no axis", "beyond"},
    "partition.part": {"short"},
    "dataset.x": {"float16", "int8", "uint64", "negative", "beyond"},
    "energy.mean": {"beyond"},
    "objective.offset": {"None"},
}
"""Bends that are other answers, and within the contract."""


def experiment(hook: str, rows: bool) -> Experiment:
    """Returns a small experiment with the parts that a hook belongs to; what does not learn is many times faster."""
    energy: dict[str, Any] = {"model": parts.Sun, "rows": rows}
    if hook == "energy.mean":
        energy["mean"] = 0.5
    world = {
        "clients": 4,
        "epochs": EPOCHS,
        "slots_per_epoch": 6,
        "policy": parts.Policy(),
        "energy": energy,
        "cost": {"train": 3, "train_slots": 2},
    }
    learning = {
        "data": {"name": parts.points, "partition": parts.Strides},
        "model": parts.network,
        "objective": parts.Shares,
        "aggregation": parts.Momentum,
        "staleness": parts.Halves,
        "learning": {"mode": "train", "eval_every": 1},
        "compute": {"strategy": "spread", "workers": 1},
    }
    kind = hook.partition(".")[0]
    if kind == "tracker":
        return Experiment(**world, output={"trackers": [parts.Diary]})
    learns = kind not in ("policy", "energy") or hook == "policy.importance"
    return Experiment(**world, **(learning if learns else {}))


def live(what: Experiment) -> tuple[Any, ...]:
    """Returns what comes of a run: every record, the last model, or the files of a run with a tracker."""
    if what.output.trackers:
        return _write(what)
    engine = Engine(what)
    records = tuple(repr(record) for record in engine)
    model = engine.learner.weights.tobytes() if engine.learner else b""
    return records, model


def _write(what: Experiment) -> tuple[Any, ...]:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        try:
            with begin_or_resume(what, directory) as open_run:
                if open_run is not None:
                    open_run.write(open_run.engine)
        except FallowError as error:
            if "finished and whole" not in str(error):
                raise
        return ((directory / "epochs.csv").read_bytes(),)


_honest: dict[tuple[str, bool], tuple[Any, ...]] = {}


def honest_run(hook: str, rows: bool) -> tuple[Any, ...]:
    """Returns what comes of the same experiment if nobody bends anything."""
    plan.hook = ""
    plan.later.clear()
    if (hook, rows) not in _honest:
        _honest[hook, rows] = live(experiment(hook, rows))
    return _honest[hook, rows]


def attempt(hook: str, bend: str, call: int, rows: bool = False) -> str:
    """Bends one answer, and returns what went wrong; "" if a sentence or the honest run came of it.

    Args:
        hook: Whose answer is bent.
        bend: How.
        call: Which answer of it, from 0.
        rows: Whether the harvest comes row by row.
    """
    expected = honest_run(hook, rows)
    plan.hook, plan.bend, plan.call, plan.calls = hook, BENDS[bend], call, 0
    plan.later.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = live(experiment(hook, rows))
    except FallowError as error:
        words = str(error)
        whole = "\n" not in words and words.endswith((".", "?")) and len(words) > 20
        return "" if whole else f"no sentence: {words!r}"
    except BaseException as error:  # noqa: BLE001  # that is what is looked for
        return f"raised {type(error).__name__}: {str(error)[:200] if bend != 'MuteError' else ''}"
    finally:
        plan.hook = ""
    right = found == expected or bend in MAY_DIFFER.get(hook, ())
    return "" if right else "another run than that of honest parts, without a word"


def draw(rng: random.Random) -> tuple[str, str, int, bool]:
    """Returns a hook, a bend, which call is bent, and whether the harvest comes row by row."""
    hook = rng.choice(HOOKS)
    bends = [bend for bend in BENDS if bend != "scribble later" or hook not in THEIRS]
    return hook, rng.choice(bends), rng.choice((0, 0, 1, 2, 5)), hook == "energy.row" or rng.random() < 0.2


def main() -> int:
    """Attacks until the time is over; returns 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, end, tries, faults = random.Random(options.seed), time.monotonic() + options.seconds, 0, set()  # noqa: S311
    while time.monotonic() < end:
        drawn = draw(rng)
        with contextlib.redirect_stdout(sys.stderr):
            fault = attempt(*drawn)
        tries += 1
        if fault and (drawn[:2], fault) not in faults:
            faults.add((drawn[:2], fault))
            print(f"{drawn}: {fault}", flush=True)
    print(f"{tries} tries, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
