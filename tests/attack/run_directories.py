"""Damages run directories at random, then resumes, verifies and reads them.

    python -m tests.attack.run_directories --seconds 120 --seed 1

A run that was stopped, and is damaged, either ends in the bytes of a run left alone or is refused in one sentence. A
finished one that is damaged is found by ``fallow verify``, and whoever reads it meets one sentence at most. So it is
with checkpoints that were forged: their checksums are right, their content is not.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fallow
from fallow.cli.show import as_table
from fallow.errors import FallowError
from fallow.experiment import Experiment
from fallow.runs import writer
from fallow.runs.reader import read_devices
from fallow.simulation.engine import Engine
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint

SMALL = {"clients": 6, "epochs": 8, "policy": {"k": 2}, "energy": {"p": 0.6}, "output": {"checkpoint_every": 3}}
LEARNING = {
    "learning": {"mode": "train", "client_eval_every": 2},
    "data": {"samples_per_client": 10},
    "compute": {"strategy": "stacked", "workers": 1},
    "aggregation": {"name": "mifa"},
    "cost": {"train": 8},
    "battery": {"capacity": 12},
}
KINDS: dict[str, dict[str, Any]] = {
    "energy": {"device": [{"name": "small", "share": 0.5}, {"name": "large", "share": 0.5}]},
    "learning": LEARNING,
}


class Specimens(NamedTuple):
    """Directories of one experiment, to be copied and damaged.

    Attributes:
        whole: A finished run.
        cut: One that was stopped.
        ended: One that was stopped right after its summary was written.
        other: One with another seed that was stopped, whose files are put in place of others.
    """

    whole: Path
    cut: Path
    ended: Path
    other: Path


def prepare(folder: Path, settings: dict[str, Any]) -> Specimens:
    """Makes the directories of one experiment."""
    found = Specimens(*(folder / name for name in Specimens._fields))
    live(found.whole, 8, settings)
    live(found.cut, 7, settings)
    tidy, writer.tidy = writer.tidy, lambda _: None
    try:
        live(found.ended, 8, settings)
    finally:
        writer.tidy = tidy
    live(found.other, 7, settings | {"seed": 1})
    return found


def live(directory: Path, epochs: int, settings: dict[str, Any]) -> None:
    engine = Engine(Experiment.parse(SMALL | settings))
    with writer.RunWriter(engine, directory) as run:
        run.write(islice(engine, epochs))


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def damage(rng: random.Random, directory: Path, other: Path) -> str:
    """Damages one file, or swaps two, and returns what was done in words."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    path = rng.choice(files)
    content = path.read_bytes()
    kind = rng.choice(["flip", "flip", "flip", "cut", "empty", "zeros", "longer", "gone", "swap", "other", "folder"])
    name = path.relative_to(directory)
    if kind == "flip" and content:
        place, bit = rng.randrange(len(content)), rng.randrange(8)
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        return f"bit {bit} of byte {place} of {name} flipped"
    if kind == "cut" and content:
        os.truncate(path, rng.randrange(len(content)))
    elif kind == "zeros" and content:
        place = rng.randrange(len(content))
        path.write_bytes(content[:place] + bytes(min(64, len(content) - place)) + content[place + 64 :])
    elif kind == "longer":
        path.write_bytes(content + rng.randbytes(rng.randrange(1, 64)))
    elif kind == "swap":
        second = rng.choice(files)
        path.write_bytes(second.read_bytes())
        second.write_bytes(content)
        return f"{name} and {second.relative_to(directory)} swapped"
    elif kind == "other" and (other / name).is_file():
        shutil.copy(other / name, path)
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        if kind == "folder":
            path.mkdir()
    return f"{kind}: {name}"


def forge(rng: random.Random, directory: Path) -> str:
    """Changes a checkpoint's notes or arrays, with the right checksum, and returns what was done in words."""
    path = directory / "checkpoint.fallow"
    arrays, notes = read_checkpoint(path)
    if rng.random() < 0.4 and arrays:
        name = rng.choice(sorted(arrays))
        wrong = [np.zeros(0), np.zeros((2, 3), dtype=np.int32), np.array(7), arrays[name].reshape(-1)[:1]]
        arrays[name] = rng.choice(wrong)
        words = f"array {name} is {arrays[name].shape} {arrays[name].dtype}"
    else:
        table, key = _any_place(rng, notes)
        table[key] = rng.choice([None, "x", -1, 10**12, 0.5, [], {}, ["x", 3], {"x": 3}, True])
        words = f"notes: {key!r} is {table[key]!r}"
    write_checkpoint(path, arrays, notes)
    return f"forged {words}"


def _any_place(rng: random.Random, notes: Any) -> tuple[Any, Any]:
    """Returns a table or list in the notes, and a key in it."""
    while True:
        key = rng.choice(list(notes) if isinstance(notes, dict) else range(len(notes)))
        inner = notes[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.2:
            return notes, key
        notes = inner


def read_all(directory: Path) -> None:
    """Reads a run in every way."""
    run = fallow.load(directory)
    assert isinstance(run, fallow.runs.run.Run)
    if run.summary is not None:
        as_table(run.summary)
    repr(run)
    _ = (run.epochs, run.events, run.clients, run.devices, run.client_scores)
    if (directory / "devices.csv").exists():
        read_devices(directory / "devices.csv", finished=True)


def said(act: Callable[[], object]) -> str | None:
    """Returns the sentence with which something is refused; None if it is not. Anything else is raised."""
    try:
        act()
    except FallowError as error:
        words = str(error)
        if "\n" in words or not words.endswith((".", "?")):
            raise AssertionError(f"not one sentence: {words!r}") from error
        return words
    return None


def attack(rng: random.Random, kept: Specimens, folder: Path) -> str:
    """Damages a copy of a directory and does with it what a user would; returns the outcome in a word."""
    which = rng.choice(["cut", "cut", "ended", "whole", "forged"])
    directory = folder / "tried"
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(kept.cut if which == "forged" else kept._asdict()[which], directory)
    before = contents(directory)
    words = forge(rng, directory) if which == "forged" else damage(rng, directory, kept.other)
    try:
        return _meet(which, directory, kept, touched=contents(directory) != before)
    except Exception as error:
        raise AssertionError(f"{which}: {words}: {type(error).__name__}: {error}") from error


def _meet(which: str, directory: Path, kept: Specimens, *, touched: bool) -> str:
    said(lambda: read_all(directory))
    if which == "whole":
        (found,) = fallow.verify(directory)
        assert touched == (found.verdict == "damaged"), f"verify says {found}"
        return found.verdict
    if said(lambda: fallow.resume(directory, progress=False)):
        return "refused"
    assert which == "forged" or contents(directory) == contents(kept.whole), "the resumed run has other bytes"
    return "finished"


def repeat(tries: int | None, seconds: float, seed: int) -> dict[str, int]:
    """Attacks until there were so many tries, or so many seconds; returns how often each outcome was.

    Raises:
        AssertionError: Something was neither right nor refused in a sentence.
    """
    rng, outcomes = random.Random(seed), {}  # noqa: S311
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as place:
        specimens = []
        for name, settings in KINDS.items():
            (Path(place) / name).mkdir()
            specimens.append(prepare(Path(place) / name, settings))
        done = 0
        while time.monotonic() < deadline and (tries is None or done < tries):
            outcome = attack(rng, rng.choices(specimens, [3, 1])[0], Path(place))
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            done += 1
    return outcomes


def main(seconds: float, seed: int) -> None:
    """Attacks for some seconds, and prints what came of it.

    Args:
        seconds: How long.
        seed: Of the damage; the same seed does the same damage in the same order.
    """
    try:
        outcomes = repeat(None, seconds, seed)
    except AssertionError as error:
        sys.exit(f"run directories, seed {seed}: {error}")
    print(f"run directories, seed {seed}: {json.dumps(outcomes)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    main(**vars(parser.parse_args()))
