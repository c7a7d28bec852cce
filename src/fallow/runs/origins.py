"""What the epochs of a run were made with: versions, the processor, and the files and code that its config names."""

import os
import platform
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fallow.errors import RunDirectoryError
from fallow.processors import name_processor
from fallow.simulation.engine import Engine
from fallow.storage.checksums import digest_file

DECISIVE = ("fallow", "numpy", "pyarrow", "torch")
"""Packages of which another version may write other bytes. Python's own version, and the processor, are noted only:
a sweep must be able to go on on another machine."""

NPZ = "npz:"


@dataclass(frozen=True)
class Origin:
    """What a part of a run was made with.

    Attributes:
        first_epoch: The first epoch of the part.
        versions: Of Python and packages, by name, and the processor's name.
        inputs: The SHA-256 of each file that the config names, and of the module of each ``module:Class``.
    """

    first_epoch: int
    versions: dict[str, str]
    inputs: dict[str, str]


def find_origin(engine: Engine) -> Origin:
    """Returns what the next epochs of a run are made with.

    Args:
        engine: The run; what its config names is loaded already.
    """
    packages = ("fallow", "numpy", "pyarrow", *(("torch",) if engine.learner else ()))
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    settings = tomllib.loads(engine.experiment.to_toml())
    settings.pop("output", None)  # trackers change nothing of a run
    found = {}
    for text in sorted(set(_texts(settings))):
        path = _file_of(text)
        if path is not None:
            found[text.removeprefix(NPZ)] = digest_file(path)
    return Origin(engine.epoch, versions | {"processor": name_processor()}, found)


def check_origin(directory: Path, before: Origin, now: Origin) -> None:
    """Checks that a run can go on to the bytes that it would have had without a stop.

    Args:
        directory: Of the run, for the error sentence.
        before: What its epochs so far were made with.
        now: What the next ones would be made with.

    Raises:
        RunDirectoryError: A version or an input changed.
    """
    changes = [
        f"{name} was {before.versions.get(name, 'not used')} and is {now.versions.get(name, 'not used')}"
        for name in DECISIVE
        if before.versions.get(name) != now.versions.get(name)
    ]
    inputs = sorted({*before.inputs, *now.inputs})
    changes += [f"{name} was changed" for name in inputs if before.inputs.get(name) != now.inputs.get(name)]
    if changes:
        raise RunDirectoryError(
            f"Since the run in {directory} was stopped, {', '.join(changes)}, so it may not end in the bytes that it "
            "would have had; go back to what it was begun with, or go on all the same with --accept-changes "
            "(accept_changes=True), and its summary will say which epochs were made with what."
        )


def continue_origins(origins: Sequence[Origin], now: Origin) -> tuple[Origin, ...]:
    """Returns what the parts of a run are made with, the one that begins now included if it differs from the last.

    Args:
        origins: Of the parts so far.
        now: What the next epochs are made with.
    """
    kept = [origin for origin in origins if origin.first_epoch < now.first_epoch]
    if kept and (kept[-1].versions, kept[-1].inputs) == (now.versions, now.inputs):
        return tuple(kept)
    return (*kept, now)


def describe_origins(origins: Sequence[Origin], epochs: int) -> dict[str, Any]:
    """Returns what a summary says of it: the versions at the end, inputs if there are any, and parts if they differ.

    Args:
        origins: Of the parts, the last one at the end.
        epochs: T.
    """
    last = origins[-1]
    said: dict[str, Any] = {"versions": last.versions}
    if last.inputs:
        said["inputs"] = last.inputs
    if len(origins) > 1:
        ends = [*(origin.first_epoch for origin in origins[1:]), epochs]
        said["made_with"] = [
            {"first_epoch": origin.first_epoch, "last_epoch": end - 1, **origin.versions, "inputs": origin.inputs}
            for origin, end in zip(origins, ends, strict=True)
        ]
    return said


def _texts(value: Any) -> Iterator[str]:
    """Yields every text in a table of settings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _file_of(text: str) -> Path | None:
    """Returns the file that a setting names: by its path, as npz:PATH, or as the module of ``module:Class``."""
    path = Path(text.removeprefix(NPZ))
    if (path.suffix or len(path.parts) > 1) and os.path.isfile(path):  # false, not an error, for any text
        return path
    module = sys.modules.get(text.partition(":")[0]) if ":" in text else None
    source = vars(module).get("__file__") if module is not None and module.__name__ != "__main__" else None
    return Path(source) if isinstance(source, str) and os.path.isfile(source) else None
