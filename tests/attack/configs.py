"""Hostile configs, ``--set`` values, command lines, traces and archives: each goes well, or ends in one sentence.

python -m tests.attack.configs --seconds 300 --seed 1
"""

import argparse
import io
import os
import shlex
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import torch  # noqa: F401  # no time limit may fall into its import, which would leave half of it

from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.cli.commands import COMMANDS
from fallow.data import DATASETS, PARTITIONS
from fallow.energy import ENERGY_MODELS
from fallow.experiment import Experiment
from fallow.models import MODELS
from fallow.objectives import OBJECTIVES
from fallow.plugins.nested import flatten
from fallow.plugins.options import describe_options
from fallow.policies import POLICIES
from tests.attack.command_line import find_complaint, workplace
from tests.attack.values import FLOATS, TEXTS, VALUES, WHOLE, change_bytes

CONFIG = """clients = 4
epochs = 2
slots_per_epoch = 5
[energy]
p = 0.5
[battery]
initial = 20
[policy]
k = 2
[output]
events = false
"""
LEARNING = """[data]
name = "synthetic"
samples = 40
test_samples = 8
height = 8
width = 8
classes = 3
[model]
name = "mlp"
hidden = [4]
[learning]
mode = "train"
[cost]
train = 2
[compute]
workers = 1
"""
UNITS = "one,two,three,four\n" + "1,0,2,1\n0,0,1,3\n2,2,2,2\n"
WATTS = "time,watts\n" + "".join(f"2025-06-21T1{hour}:00:00Z,0.{hour}\n" for hour in range(6))
POWER = ["energy.model=watts", "energy.path=trace.csv", "slot_seconds=600", "unit_joules=1"]

CHOSEN = {
    "policy.name": POLICIES,
    "energy.model": ENERGY_MODELS,
    "data.name": DATASETS,
    "data.partition": PARTITIONS,
    "model.name": MODELS,
    "objective.name": OBJECTIVES,
    "aggregation.name": AGGREGATIONS,
    "staleness.name": STALENESS,
}
"""What has names, by setting."""

OWN = {key: value for key, value in flatten(Experiment().table()).items() if key not in CHOSEN}
"""The settings that belong to nothing chosen, with their defaults; options of the default choices among them."""

SETTINGS = sorted(
    {*OWN, *CHOSEN}
    | {f"device.0.{key}" for key in ("name", "share", "samples", "capacity_joules", "train", "profile", "radio")}
    | {"device", "policy", "energy", "nothing", "policy.nothing", "grid.seed", "a.b.c.d"}
)

Attempt = Callable[[Random], list[str]]
"""Writes what it needs into the working directory, and returns a command."""


def attack_settings(chance: Random) -> list[str]:
    """Settings of ``fallow run``: a name that exists, and hostile values for its options or for any setting."""
    Path("config.toml").write_text(CONFIG + (LEARNING if chance.random() < 0.6 else ""))
    Path("trace.csv").write_text(UNITS)
    settings, known = {}, dict(OWN)
    if chance.random() < 0.7:
        key = chance.choice(sorted(CHOSEN))
        name = chance.choice(sorted(CHOSEN[key]))
        options = {option: default for option, (default, _) in describe_options(CHOSEN[key][name]).items()}
        known = {f"{key.partition('.')[0]}.{option}": default for option, default in options.items()} or known
        settings = {"energy.path": "trace.csv"} if name in ("trace", "watts") else {}
        settings[key] = name
        if key == "data.name":
            settings |= {"data.samples": "40"} if "samples" in options else {}
        for section, option in (("energy", "p"), ("data", "samples"), ("data", "height"), ("model", "hidden")):
            if key.startswith(section) and option not in options:
                settings[f"{section}.{option}"] = DROPPED
    for _ in range(chance.randint(1, 2)):
        key = chance.choice(sorted(known) if chance.random() < 0.8 else SETTINGS)
        settings[key] = chance.choice(_alike(known.get(key)) if chance.random() < 0.8 else VALUES)
    if settings.get("model.name") == "resnet18-gn" and settings.get("model.width") in LARGE_RESNETS:
        settings["model.width"] = "0.1"  # what is asked for is minutes of honest work
    text = "".join(_without(Path("config.toml").read_text(), settings))
    Path("config.toml").write_text(text)
    given = [f"--set={key}={value}" for key, value in settings.items() if value is not DROPPED]
    return ["run", "config.toml", "--out=out", *given]


DROPPED = "dropped"
LARGE_RESNETS = ("1", "2", "3")
"""Widths of ResNet-18 with 11, 45 and 101 million parameters."""


def _alike(default: object) -> tuple[str, ...]:
    """Returns values of the type of a default, most of them hostile."""
    if isinstance(default, bool):
        return "true", "false"
    if isinstance(default, int | float):
        return (*WHOLE, *FLOATS)
    return (*TEXTS, "[1]", "[1, 2, 3, 4]", "[]", f"[{2**31}]", "[1e38]") if default is not None else VALUES


def _without(text: str, settings: dict[str, str]) -> Iterator[str]:
    """Yields the lines of a config but for the options that another choice does not have."""
    section = ""
    for line in text.splitlines(keepends=True):
        section = line.strip().strip("[]") if line.startswith("[") else section
        if settings.get(f"{section}.{line.partition(' =')[0]}") is not DROPPED:
            yield line


def attack_configs(chance: Random) -> list[str]:
    """A config with a hostile value, or with some of its bytes changed."""
    text = CONFIG + (LEARNING if chance.random() < 0.3 else "")
    if chance.random() < 0.5:
        section, _, key = chance.choice(SETTINGS).rpartition(".")
        text = f"{text}[{section}]\n" if section and f"[{section}]" not in text else text
        head = f"[{section}]\n" if section else ""
        text = (
            text.replace(head, f"{head}{key} = {chance.choice(VALUES)}\n", 1)
            if head
            else f"{key} = {chance.choice(VALUES)}\n{text}"
        )
    content = text.encode("utf-8", "surrogateescape")
    Path("config.toml").write_bytes(content if chance.random() < 0.3 else change_bytes(content, chance))
    command = chance.choice(
        (["run", "config.toml", "--out=out"], ["sweep", "config.toml", "--grid=seed=-1"], ["plan", "config.toml"])
    )
    return list(command)


def attack_traces(chance: Random) -> list[str]:
    """A trace of units or of watts with some of its bytes changed."""
    Path("config.toml").write_text(CONFIG)
    units = chance.random() < 0.5
    Path("trace.csv").write_bytes(change_bytes((UNITS if units else WATTS).encode(), chance))
    settings = ["energy.model=trace", "energy.path=trace.csv"] if units else POWER
    if chance.random() < 0.3:
        settings = [
            *settings,
            f"energy.{chance.choice(('mean', 'end', 'gap', 'fill', 'timezone', 'start'))}={chance.choice(VALUES)}",
        ]
    # The one of units has the probability p no more.
    Path("config.toml").write_text(CONFIG.replace("p = 0.5\n", ""))
    return ["run", "config.toml", "--out=out", *(f"--set={setting}" for setting in settings)]


def attack_archives(chance: Random) -> list[str]:
    """An archive of arrays of odd types and shapes, oddly packed, or with some of its bytes changed."""
    Path("config.toml").write_text(
        CONFIG
        + LEARNING.replace('name = "synthetic"', 'name = "npz:mine.npz"').replace(
            "samples = 40\ntest_samples = 8\nheight = 8\nwidth = 8\nclasses = 3\n", ""
        )
    )
    x, y = np.zeros((40, 1, 4, 4), dtype=np.float32), np.arange(40) % 3
    arrays: dict[str, object] = {"x": x, "y": y, "x_test": x[:8], "y_test": y[:8]}
    if chance.random() < 0.5:
        arrays[chance.choice(("x", "y", "x_test", "y_test", "classes", "client", "kind"))] = chance.choice(ARRAYS)
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    content = _repacked(packed.getvalue(), chance) if chance.random() < 0.5 else packed.getvalue()
    Path("mine.npz").write_bytes(change_bytes(content, chance) if chance.random() < 0.6 else content)
    return ["run", "config.toml", "--out=out"]


ARRAYS = (
    *(
        np.zeros(0),
        np.float64(np.nan),
        np.array(["a"]),
        np.array([b"x"]),
        np.full((40, 1, 4, 4), 1e300),
        np.arange(40) * 10**12,
    ),
    *(
        np.zeros((40, 1, 4, 4), dtype=complex),
        np.zeros(40, dtype=[("a", "i4")]),
        np.array("2025", dtype="M8[D]"),
        np.arange(-20, 20),
    ),
    *(
        np.arange(40) + 99_960,
        np.full(40, 2**63, dtype=np.uint64),
        np.zeros((40, 1, 4, 4), order="F"),
        np.ones((40,) + (1,) * 20),
    ),
    *(
        np.zeros((40, 1, 4, 4), dtype=">f2"),
        np.array(True),
        np.zeros((2, 0, 3)),
        np.inf,
        2**40,
        -5,
        "signals",
        "vectors",
        "images",
    ),
)


def _repacked(content: bytes, chance: Random) -> bytes:
    """Returns an archive with a header that promises too much, another compression, or flags that are not true."""
    packed = io.BytesIO()
    odd = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w", odd) as new:
        for name in old.namelist():
            member = old.read(name)
            if chance.random() < 0.3:
                member = member.replace(
                    b"(40, 1, 4, 4)", chance.choice((b"(99999999999,)", b"(40, -1, 4, 4)", b"(1e9, 1, 1, 1)"))
                )
            if chance.random() < 0.2:
                member = member.replace(
                    b"'<f4'", chance.choice((b"'|O8'", b"'<U9'", b"'?9!'", b"[('a')]", b"(((((((("))
                )
            new.writestr(name if chance.random() < 0.95 else f"../{name}", member)
    flagged = bytearray(packed.getvalue())
    if chance.random() < 0.3:
        place = flagged.find(chance.choice((b"PK\x01\x02", b"PK\x03\x04")))
        flagged[place + chance.randrange(4, 30)] = chance.randrange(256)
    return bytes(flagged)


ODD_WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "---",
        "-1",
        "0",
        "1",
        "99999999999999999999",
        "9" * 5000,
        "nan",
        "1e400",
        "x" * 5000,
        "a\0b",
        "\udcff",
    ),
    *(
        "pipe",
        "folder",
        "noise.bin",
        "config.toml",
        "nowhere",
        "/dev/zero",
        "/dev/null",
        ".",
        "..",
        "~",
        "a=b",
        "=",
        "[/]",
        "$",
    ),
    *(
        "vaoi",
        "digits",
        "synthetic",
        "policies",
        "1/2",
        "0/0",
        "9/2",
        "é",
        "💧",
        "%s",
        "\n",
        "local",
        "quick",
        "smoke",
        "--help",
    ),
)
OPTIONS = (
    *(
        "--set",
        "--out",
        "--seeds",
        "--policies",
        "--grid",
        "--workers",
        "--shard",
        "--target",
        "--json",
        "--latex",
        "--overwrite",
    ),
    *(
        "--ray",
        "--scale",
        "--suite",
        "--tables",
        "--runs",
        "--harvest",
        "--clients",
        "--alpha",
        "--partition",
        "--data-dir",
        "--seed",
    ),
    *(
        "--policy",
        "--energy",
        "--model",
        "--aggregation",
        "--staleness",
        "--from",
        "--samples-per-client",
        "--sizes",
        "--spread",
    ),
)
QUIET = (
    "show",
    "list",
    "check",
    "config",
    "report",
    "resume",
    "plan",
    "run",
    "data list",
    "data label-mix",
    "data",
    "nothing",
)
"""Commands that take no minutes whatever they are given; the others are given what they must refuse."""


def attack_command_lines(chance: Random) -> list[str]:
    """A command with odd words and options; what would run for long gets an experiment that can't be."""
    Path("config.toml").write_text(CONFIG)
    command = chance.choice((*QUIET, *COMMANDS)).split()
    words = [chance.choice((*ODD_WORDS, *OPTIONS)) for _ in range(chance.randint(0, 4))]
    if " ".join(command) not in QUIET:
        refused = {
            "compare": "--seeds=0",
            "sweep": "--grid=seed",
            "bench": "--suite=nowhere",
            "paper": "--seeds=0",
            "calibrate": "--nothing",
        }
        words = [word for word in words if word not in ("--help",)] + [refused.get(command[0], "--nothing")]
    if command == ["run"]:
        words = [*words, "--set=epochs=2", "--set=clients=10"]
    return [*command, *words]


ATTACKS: dict[str, Attempt] = {
    "settings": attack_settings,
    "configs": attack_configs,
    "traces": attack_traces,
    "archives": attack_archives,
    "command lines": attack_command_lines,
}


def attempt(kind: str, seed: int) -> tuple[list[str], str | None]:
    """Returns the command of an attempt, in a fresh working directory, and how it broke its promise, if it did."""
    with workplace():
        os.mkfifo("pipe")
        Path("folder").mkdir()
        Path("noise.bin").write_bytes(bytes(range(256)) * 4)
        arguments = ATTACKS[kind](Random(f"{kind} {seed}"))  # noqa: S311  # no secret
        return arguments, find_complaint(arguments)


def main() -> int:
    """Attacks for a time; prints what was found, each with what makes it again, and returns 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=ATTACKS, help="one kind")
    parser.add_argument("--tries", type=int, default=10**9, help="at most so many of each kind")
    given = parser.parse_args()
    kinds = [given.only] if given.only else list(ATTACKS)
    end, tries, found = time.monotonic() + given.seconds, 0, 0
    while time.monotonic() < end and tries < given.tries:
        for kind in kinds:
            arguments, complaint = attempt(kind, given.seed * 1_000_000 + tries)
            if complaint:
                found += 1
                shown = shlex.join(arguments).encode(errors="backslashreplace").decode()
                print(
                    f"{kind} {given.seed * 1_000_000 + tries}: fallow {shown[:300]}\n    {complaint[:600]}", flush=True
                )
        tries += 1
    print(f"{tries} attempts of each of {len(kinds)} kinds, {found} broke the promise.")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
