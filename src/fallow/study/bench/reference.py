"""The built-ins' results: a table and its description for each scenario, read, compared with the code, and made anew.

``<scenario>.csv`` has a row for each built-in and seed. ``<scenario>.json`` says of which scenario, by which code, on
which processor each built-in was run. They stand in the folder of their suite, inside the package, because that is what
an installed Fallow can read.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, FallowError
from fallow.plugins.nested import flatten, thawed
from fallow.storage.files import write_atomically
from fallow.study.bench.entrants import Entrant, built_ins
from fallow.study.bench.fingerprint import code_fingerprint
from fallow.study.bench.origin import PACKAGES, describe_origin
from fallow.study.bench.scenarios import Scenario
from fallow.study.bench.scores import Score, find_columns

PLACE = ("entrant", "seed")
FREE = ("seed", "policy.", "compute.", "output.")
"""Settings that are not the scenario's: they are the entrant's, or change nothing."""


@dataclass(frozen=True)
class Reference:
    """The built-ins' results in a scenario.

    Attributes:
        scores: A row for each built-in and seed.
        made: How each built-in's were made, by name.
        notes: What a reader must know, a sentence each.
    """

    scores: tuple[Score, ...] = ()
    made: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ranked(self) -> list[str]:
        """The built-ins that compete; the others are bounds."""
        return [name for name, own in self.made.items() if own.get("ranked", True)]


def read_reference(scenario: Scenario, folder: Path) -> Reference:
    """Returns the built-ins' results in a scenario, with a note where they were made by another version.

    Args:
        scenario: Results of another version of it are left out.
        folder: With the tables.

    Raises:
        ConfigError: A file is there and can't be read.
    """
    stored = _read_stored(scenario, folder)
    if stored is None:
        missing = f"{scenario.name}: there is no reference, because the built-ins have not been run yet."
        return Reference(notes=(f"{missing} Nothing is compared or ranked there.",))
    scores, description = stored
    reason = _other_scenario(scenario, description)
    if reason:
        return Reference(
            notes=(f"{scenario.name}: the built-ins were run in another version of the scenario: {reason}.",)
        )
    made = description["entrants"]
    stale = [name for name in made if made[name]["code"] != _current_code(name, scenario)]
    return Reference(tuple(scores), made, _say_stale(scenario, stale, len(made)))


def write_reference(scenario: Scenario, entrants: Sequence[Entrant], scores: Sequence[Score], folder: Path) -> Path:
    """Writes the results of built-ins in a scenario, beside those of the others that are there; returns the table.

    Args:
        scenario: Where they were run.
        entrants: Who was run.
        scores: Of their runs.
        folder: With the tables.

    Raises:
        FallowError: The folder can't be written to.
    """
    names = {entrant.name for entrant in entrants}
    stored = _read_stored(scenario, folder)
    kept, made = (
        ([], {}) if stored is None or _other_scenario(scenario, stored[1]) else (stored[0], stored[1]["entrants"])
    )
    rows = [score for score in kept if score.entrant not in names] + list(scores)
    origin = describe_origin()
    made = {name: own for name, own in made.items() if name not in names} | {
        entrant.name: {
            "ranked": entrant.is_ranked(scenario),
            "code": code_fingerprint(entrant.experiment(scenario)),
            **origin,
        }
        for entrant in entrants
    }
    order = {name: place for place, name in enumerate(known.name for known in built_ins())}
    table = _to_csv(sorted(rows, key=lambda row: (order.get(row.entrant, len(order)), row.entrant, row.seed)))
    description = {
        "scenario": scenario.name,
        "version": scenario.version,
        "fingerprint": scenario.fingerprint,
        "table": sha256(table).hexdigest(),
        "entrants": dict(sorted(made.items(), key=lambda own: order.get(own[0], len(order)))),
        "settings": _resolved(scenario),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{scenario.name}.csv", table)
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        write_atomically(folder / f"{scenario.name}.json", text.encode())
    except OSError as error:
        raise FallowError(f"The references can't be written to {folder}: {error.strerror or error}.") from error
    return folder / f"{scenario.name}.csv"


def say_origins(references: Iterable[Reference]) -> tuple[str, ...]:
    """Returns how the built-ins' results were made, a sentence for each way.

    Args:
        references: Of all scenarios.
    """
    ways: dict[str, set[str]] = {}
    for made in (part.made for part in references):
        for name, own in made.items():
            versions = ", ".join(f"{package} {own[package]}" for package in ("python", *PACKAGES) if package in own)
            commit = f"commit {own['commit']}, " if own.get("commit") else ""
            ways.setdefault(f"{commit}{versions}, on {own.get('processor', 'an unknown processor')}", set()).add(name)
    return tuple(
        f"Results of {', '.join(sorted(names)) if len(ways) > 1 else 'the built-ins'}: {way}."
        for way, names in ways.items()
    )


def _read_stored(scenario: Scenario, folder: Path) -> tuple[list[Score], dict[str, Any]] | None:
    """Returns the rows and the description of a table; None if there is none, or the two do not belong together."""
    table, description = (folder / f"{scenario.name}.{kind}" for kind in ("csv", "json"))
    if not table.exists() or not description.exists():
        return None
    try:
        told = json.loads(description.read_bytes())
        if told["table"] != sha256(table.read_bytes()).hexdigest():
            return None  # a writer was stopped between the two files
        rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
        scores = [
            Score(
                scenario.name,
                row["entrant"],
                int(row["seed"]),
                {name: float(value) for name, value in row.items() if name not in PLACE and value},
            )
            for row in rows
        ]
        for own in told["entrants"].values():
            own["code"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"The reference {table} can't be read ({error!r}); make it anew with --reference.") from None
    return scores, told


def _to_csv(scores: Sequence[Score]) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, [*PLACE, *find_columns(scores)], lineterminator="\n")
    writer.writeheader()
    for score in scores:
        writer.writerow(
            {"entrant": score.entrant, "seed": score.seed}
            | {k: f"{v:g}" if v == int(v) else v for k, v in score.values.items()}
        )
    return file.getvalue().encode()


def _resolved(scenario: Scenario) -> dict[str, Any]:
    """Returns every setting of a scenario, also those that it leaves to their defaults."""
    table = flatten(thawed(scenario.experiment.table()))
    return {key: value for key, value in table.items() if not key.startswith(FREE)}


def _other_scenario(scenario: Scenario, description: Mapping[str, Any]) -> str:
    """Returns in what way results are of another experiment than a scenario is now; empty if they are of the same."""
    if description.get("fingerprint") != scenario.fingerprint:
        return f"version {description.get('version')}, not {scenario.version}, or other settings"
    now = _resolved(scenario)
    for key, was in description.get("settings", {}).items():
        if now.get(key) != was:
            return f"{key} = {was}, not {now.get(key)}"
    return ""  # a setting that is new since has a default that changes nothing


def _current_code(name: str, scenario: Scenario) -> str:
    """Returns the fingerprint that the results of a built-in would have now; empty if there is no such built-in."""
    entrant = {known.name: known for known in built_ins()}.get(name)
    return code_fingerprint(entrant.experiment(scenario)) if entrant else ""


def _say_stale(scenario: Scenario, stale: Sequence[str], of: int) -> tuple[str, ...]:
    if not stale:
        return ()
    whose = "the built-ins" if len(stale) == of else ", ".join(stale)
    return (f"{scenario.name}: the reference of {whose} was made by another version of the code.",)
