"""In what runs differ: which of them a chart may average, which line and panel each belongs to, and the filters.

Runs that differ in their seed alone make one line with a band. Those that differ in the policy or its options are
lines of one panel; those that differ elsewhere stand in panels of their own, so no mean mixes unlike things.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fallow.plugins.nested import by_name
from fallow.policies import POLICIES
from fallow.reports.runs import ReportedRun, natural

SYMBOLS = {"data.alpha": "α", "energy.p": "p_bc", "policy.mu": "μ", "policy.k": "k", "clients": "N", "epochs": "T"}
"""What people call a setting."""

NOTHING = "–"
"""Shown where a run has no such setting."""

NO_MATTER = ("seed", "compute.workers", "compute.strategy", "compute.device", "output.")
"""Settings that may differ within a line: the seed makes its band, the others do not change what is simulated."""

ALWAYS = ("data.alpha", "energy.p")
"""Settings with a filter even where all runs agree."""


@dataclass(frozen=True)
class Place:
    """Where a run is drawn.

    Attributes:
        line: The policy, with those of its options that differ between runs of it.
        panel: The other settings that differ, in words; empty where none does.
        values: What each filter compares, by setting.
    """

    line: str
    panel: str
    values: Mapping[str, str]


def place_runs(runs: Sequence[ReportedRun]) -> list[Place]:
    """Returns the place of each run.

    Args:
        runs: All runs of the report.
    """
    settings = [by_name(run.settings) for run in runs]
    panel_keys = [key for key in varying(settings) if matters(key) and not key.startswith("policy.")]
    panel_keys = [key for key in panel_keys if not _implied(key, panel_keys, settings)]
    by_policy: dict[str, list[Mapping[str, Any]]] = {}
    for table in settings:
        by_policy.setdefault(table["policy.name"], []).append(table)
    line_keys = {name: varying(own) for name, own in by_policy.items()}
    filters = dict.fromkeys((*ALWAYS, *panel_keys))
    places = []
    for table in settings:
        name = table["policy.name"]
        own = [key for key in line_keys[name] if key.startswith("policy.")]
        line = ", ".join([name, *_named(table, own)])
        values = {"line": line} | {key: say(table.get(key)) for key in filters}
        values["seed"] = str(table["seed"])
        places.append(Place(line, ", ".join(_named(table, panel_keys)), values))
    return places


def varying(tables: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the keys whose values are not the same in all tables, in the order in which they first appear.

    Args:
        tables: Settings by key, a table for each run.
    """
    rows = list(tables)
    keys = dict.fromkeys(key for row in rows for key in row)
    return [key for key in keys if any(row.get(key) != rows[0].get(key) for row in rows)]


def matters(key: str) -> bool:
    """Returns whether a setting changes what is simulated. The seed does not count.

    Args:
        key: As in "policy.name".
    """
    return not any(key == one or (one.endswith(".") and key.startswith(one)) for one in NO_MATTER)


def say(value: Any) -> str:
    """Returns a setting in a few words. A long list is shown as its range and four letters that identify it.

    Args:
        value: Of the setting.
    """
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list) and len(value) > 4 and all(isinstance(one, int | float) for one in value):
        mark = sha256(json.dumps(value).encode()).hexdigest()[:4]
        return f"{min(value):g} to {max(value):g} ({len(value)} values, {mark})"
    return ", ".join(say(one) for one in value) if isinstance(value, list) else str(value)


def order_lines(lines: Iterable[str]) -> list[str]:
    """Returns the lines, each once: Fallow's own policies first, in the order of its table.

    Args:
        lines: With repetitions.
    """
    own = list(POLICIES)

    def rank(line: str) -> tuple[int, Any]:
        policy = line.split(",")[0]
        return own.index(policy) if policy in own else len(own), natural(line)

    return sorted(set(lines), key=rank)


def order_values(values: Iterable[str]) -> list[str]:
    """Returns values, each once: numbers by size, then words.

    Args:
        values: With repetitions.
    """

    def rank(value: str) -> tuple[int, float, tuple[Any, ...]]:
        try:
            return 0, float(value), ()
        except ValueError:
            return 1, 0.0, natural(value)

    return sorted(set(values), key=rank)


def order_panels(places: Sequence[Place]) -> list[str]:
    """Returns the panels, each once, ordered by the values that tell them apart.

    Args:
        places: Of all runs.
    """
    ranks = {key: order_values(place.values[key] for place in places) for key in places[0].values}
    first: dict[str, tuple[int, ...]] = {}
    for place in places:
        rank = tuple(ranks[key].index(value) for key, value in place.values.items() if key not in ("line", "seed"))
        first[place.panel] = min(rank, first.get(place.panel, rank))
    return sorted(first, key=lambda panel: first[panel])


def title(key: str) -> str:
    """Returns what a setting is called on the page.

    Args:
        key: As in "policy.name".
    """
    return {"line": "Policy", "seed": "Seed"}.get(key) or SYMBOLS.get(key, key.removesuffix(".name"))


def _implied(key: str, others: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> bool:
    """Returns whether a setting follows from its section's name, as `aggregation.m` where only shrinkage has one."""
    section = key.split(".")[0]
    for name in (f"{section}.name", f"{section}.model"):
        if name in others and name != key:
            pairs = {(json.dumps(run.get(name)), json.dumps(run.get(key))) for run in settings}
            return len(pairs) == len({chosen for chosen, _ in pairs})
    return False


def _named(settings: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    return [f"{title(key).removeprefix('policy.')} = {say(settings.get(key))}" for key in keys]
