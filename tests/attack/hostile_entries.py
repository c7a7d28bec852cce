"""Puts links, folders, pipes and rubbish where a run has its files, then resumes and overwrites the run.

    python -m tests.attack.hostile_entries --seconds 120 --seed 1

Whatever is there, the answer is a run or one sentence, nobody waits for a pipe, and nothing outside the run is touched.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from fallow.errors import FallowError
from fallow.experiment import Experiment
from fallow.runs.execute import begin_or_resume, run
from fallow.runs.layout import FILES
from fallow.runs.run import load_run
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine

SMALL = {"clients": 4, "epochs": 6, "policy": {"k": 2}, "energy": {"p": 0.5}, "output": {"checkpoint_every": 2}}
NAMES = (*FILES, "config.toml", *(f"{name}.part" for name in FILES), "events", "rows", "client_scores", "tensorboard")
PARTS = ("events/000000004.parquet", "events/000000004.open", "rows/a.npy", "client_scores/x.parquet", "mlflow/id")
HARMLESS = ("notes.txt", "report", "epochs.csv~", ".events")
LINKS = {"file link": "thesis.tex", "folder link": "folder", "dangling link": "nowhere"}
KINDS = (*LINKS, "hard link", "folder", "pipe", "rubbish")


def live(directory: Path, epochs: int) -> Path:
    """Lives through some epochs of a run, and stops as a kill would."""
    with RunWriter(Engine(Experiment.parse(SMALL)), directory) as open_run:
        open_run.write(islice(open_run.engine, epochs))
    return directory


def put(path: Path, kind: str, outside: Path, chance: random.Random) -> None:
    """Puts something hostile in a place, instead of what is there."""
    if not path.parent.exists() and not path.parent.is_symlink():
        path.parent.mkdir()
    if path.parent.is_symlink() or not path.parent.is_dir():
        return  # another hostile thing is in the way
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "folder":
        path.mkdir()
        (path / "mine.txt").write_text("mine")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "rubbish":
        path.write_bytes(chance.randbytes(chance.choice([0, 40])))
    elif kind == "hard link":
        os.link(outside / "thesis.tex", path)
    else:
        path.symlink_to(outside / LINKS[kind])


def meet(directory: Path, *, overwrite: bool) -> str:
    """Returns what came of a hostile directory that is overwritten or resumed, and then read."""
    try:
        if overwrite:
            run(Experiment.parse(SMALL), directory, overwrite=True, progress=False)
            outcome = "replaced"
        else:
            with begin_or_resume(None, directory) as open_run:
                if open_run:
                    open_run.write(open_run.engine)
            outcome = "went on" if open_run else "finished"
        load_run(directory)
    except FallowError as error:
        if "\n" in str(error):
            raise AssertionError(f"more than a sentence: {error}") from error
        return "refused"
    return outcome


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def repeat(tries: int | None, seconds: float, seed: int) -> Counter[str]:
    """Attacks until there were so many tries, or so many seconds; returns how often each outcome was.

    Raises:
        AssertionError: Something outside was touched, or an error is more than a sentence.
    """
    chance, outcomes = random.Random(seed), Counter[str]()  # noqa: S311
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        place, outside = Path(name), Path(name) / "outside"
        specimens = [live(place / "whole", 6), live(place / "stopped", 3), live(place / "begun", 1)]
        (outside / "folder").mkdir(parents=True)
        (outside / "thesis.tex").write_text("years of work")
        (outside / "folder" / "000000009.parquet").write_text("mine")
        before = contents(outside)
        while time.monotonic() < deadline and (tries is None or outcomes.total() < tries):
            shutil.copytree(chance.choice(specimens), place / "run")
            done = [
                (chance.choice(chance.choice([NAMES, PARTS, HARMLESS])), chance.choice(KINDS))
                for _ in range(chance.randint(1, 2))
            ]
            for entry, kind in done:
                put(place / "run" / entry, kind, outside, chance)
            outcomes[meet(place / "run", overwrite=chance.random() < 0.5)] += 1
            assert contents(outside) == before, f"{done}: something outside was touched"
            shutil.rmtree(place / "run")
    return outcomes


def main(seconds: float, seed: int) -> None:
    """Attacks for some seconds, and prints what came of it.

    Args:
        seconds: How long.
        seed: Of the attack; the same seed does the same in the same order.
    """
    try:
        outcomes = repeat(None, seconds, seed)
    except AssertionError as error:
        sys.exit(f"hostile entries, seed {seed}: {error}")
    print(f"hostile entries, seed {seed}: {json.dumps(outcomes)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    main(**vars(parser.parse_args()))
