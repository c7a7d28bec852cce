"""The settings under which the runs of the paper's study were made, so that runs of two kinds are never mixed up."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from fallow.errors import FallowError
from fallow.plugins.nested import flatten, nested
from fallow.runs.begun import find_difference
from fallow.storage.files import write_atomically
from fallow.study.grid import RULES
from fallow.study.outcomes import finished_runs
from fallow.study.sensitivity import FOLDER, VARIANTS
from fallow.sweeps.grid import PlannedRun

SETTINGS = "settings.toml"

AXES = ("seed", "epochs", "data.alpha", "energy.p")
"""What may differ between runs of one kind; how many epochs there were is said of each run."""

OWN = ("policy.", "objective.", "aggregation.", "learning.average")
"""What policies and rules set: all runs of the grid share the rest."""

Conditions = dict[str, dict[str, Any]]
"""Settings by their full names; by kind of run, which is its folder in the study and its policy: "runs/vaoi"."""


def planned_conditions(runs: Iterable[PlannedRun], out: Path) -> Conditions:
    """Returns the settings of each kind of run that is planned.

    Args:
        runs: Of the study.
        out: Its folder.
    """
    found: Conditions = {}
    for run in runs:
        kind = f"{run.directory.parent.relative_to(out).as_posix()}/{run.experiment.policy.name}"
        if kind not in found:
            found[kind] = _shared_by_runs(flatten(tomllib.loads(run.experiment.to_toml())))
    return found


def read_conditions(out: Path) -> Conditions:
    """Returns the settings of each kind of run that is finished.

    Args:
        out: The folder of the study; it need not exist.

    Raises:
        RunDirectoryError: A run can't be read.
    """
    found: Conditions = {}
    for folder in [*(rule.folder for rule in RULES.values()), *(f"{FOLDER}/{variant.name}" for variant in VARIANTS)]:
        for settings, _ in finished_runs(out / folder):
            found.setdefault(f"{folder}/{settings['policy.name']}", _shared_by_runs(settings))
    return found


def write_conditions(conditions: Conditions, scale: str | None, folder: Path) -> None:
    """Writes what all kinds of runs share, and what each has of its own.

    Args:
        conditions: By kind of run.
        scale: Of the study; None where it is not known.
        folder: Where the file goes.
    """
    first = next(iter(conditions.values()))
    common = {
        key: value
        for key, value in first.items()
        if all(key in own and own[key] == value for own in conditions.values())
    }
    document: dict[str, Any] = {"scale": scale} if scale else {}
    document["common"] = nested(common)
    for kind, own in sorted(conditions.items()):
        document[kind] = nested({key: value for key, value in own.items() if key not in common})
    write_atomically(folder / SETTINGS, tomli_w.dumps(document).encode())


def load_conditions(folder: Path) -> tuple[Conditions, str | None]:
    """Returns the settings of each kind of run and the scale, as `write_conditions` wrote them; nothing without a file.

    Args:
        folder: Of the tables of a study.

    Raises:
        FallowError: The file can't be read, or is no such file.
    """
    path = folder / SETTINGS
    if not path.exists():
        return {}, None
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        scale = document.pop("scale", None)
        common = flatten(document.pop("common"))
        return {kind: common | flatten(own) for kind, own in document.items()}, scale
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise FallowError(f"{path} can't be read as the settings of a study: {error}.") from error


def check_alike(kept: Conditions, here: Conditions, folder: Path) -> None:
    """Checks that runs may stand in one table: those of a kind share all settings, those of the grid what no rule sets.

    Args:
        kept: Of the runs whose tables were kept.
        here: Of the runs that join them.
        folder: Of the kept tables.

    Raises:
        FallowError: They may not; the sentence has the first difference.
    """
    for kind, settings in here.items():
        for other, stored in kept.items():
            if kind == other:
                difference = find_difference(nested(stored), nested(settings))
            elif any(one.startswith(f"{FOLDER}/") for one in (kind, other)):
                continue  # a variant may change anything
            else:
                difference = find_difference(nested(_shared_by_grid(stored)), nested(_shared_by_grid(settings)))
            if difference:
                raise FallowError(
                    f"{folder} holds runs with {difference} ({kind}); only runs with the same settings can join them."
                )


def _shared_by_runs(flat: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flat.items() if key not in AXES and not key.startswith("output.")}


def _shared_by_grid(flat: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in flat.items() if not key.startswith(OWN)}
