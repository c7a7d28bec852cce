"""What the page shows, as JSON takes it."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.plugins.nested import flatten
from fallow.reports.activity import ACTS, read_events, uploads_per_client
from fallow.reports.ages import age_map
from fallow.reports.clients import read_ranked_accuracy
from fallow.reports.differences import (
    Place,
    order_lines,
    order_panels,
    order_values,
    place_runs,
    say,
    title,
    varying,
)
from fallow.reports.labels import mix_key, read_label_mix
from fallow.reports.runs import ReportedRun, Unfinished
from fallow.reports.series import MOST_POINTS, age_series, as_numbers, score_series, thin
from fallow.reports.timeline import choose_clients, choose_window, make_window, most_epochs
from fallow.runs.reader import TOTALS
from fallow.runs.target import first_reached

MOST_DETAILED = 12
"""Runs that are shown slot by slot and client by client."""

TOTALS_SHOWN = (*TOTALS, "harvested", "stored", "mean_age_selected", "mean_age_delivered", "jain_index_uploads")
LEARNT_SHOWN = (
    *("f1", "best_f1", "client_accuracy_mean", "client_accuracy_worst_tenth", "client_accuracy_sd"),
    "jain_index_accuracy",
)


def gather(
    runs: Sequence[ReportedRun], unfinished: Sequence[Unfinished], target: float | None = None
) -> dict[str, Any]:
    """Returns everything that the page needs. Equal runs give equal contents.

    Args:
        runs: The finished runs.
        unfinished: The other runs, which are only named.
        target: The F1 score to say of each run when it reached it; None: of none.
    """
    runs, places = _in_order(runs)
    detailed = choose_detailed(places)
    mixes: dict[str, Any] = {}
    mix_number: dict[str, int] = {}
    shown = []
    for number, (run, place) in enumerate(zip(runs, places, strict=True)):
        entry = _entry(run, place)
        if target is not None:
            entry["reached"] = _reached(run, target)
        if number in detailed:
            key = mix_key(run)
            if key not in mixes:
                mix_number[key] = len(mixes)
                mixes[key] = _matrix(read_label_mix(run))
            entry["detail"] = _detail(run) | {"mix": mix_number[key]}
        shown.append(entry)
    settings = [_described(run) for run in runs]
    differ = varying(settings)
    return {
        "runs": shown,
        "target": target,
        "lines": order_lines(place.line for place in places),
        "panels": order_panels(places),
        "filters": [
            {"key": key, "title": title(key), "values": _filter_values(key, places)} for key in places[0].values
        ],
        "unfinished": [[one.name, one.done, one.epochs] for one in unfinished],
        "mixes": list(mixes.values()),
        "common": [[key, value] for key, value in settings[0].items() if key not in differ],
        "differ": {"keys": differ, "rows": [[row.get(key, "–") for key in differ] for row in settings]},
        "thinned": any(len(run.epochs["stored"]) > MOST_POINTS for run in runs),
    }


def _in_order(runs: Sequence[ReportedRun]) -> tuple[list[ReportedRun], list[Place]]:
    """Returns runs and their places by panel, line and seed, as the page lists them."""
    places = place_runs(runs)
    panels, lines = order_panels(places), order_lines(place.line for place in places)

    def rank(number: int) -> tuple[int, int, int, int]:
        place = places[number]
        return panels.index(place.panel), lines.index(place.line), runs[number].settings["seed"], number

    order = sorted(range(len(runs)), key=rank)
    return [runs[number] for number in order], [places[number] for number in order]


def choose_detailed(places: Sequence[Place]) -> set[int]:
    """Returns which runs to show in detail: the first of each line and panel, then others while there is room.

    Args:
        places: Of all runs, in order.
    """
    first: dict[tuple[str, str], int] = {}
    for number, place in enumerate(places):
        first.setdefault((place.panel, place.line), number)
    others = [number for number in range(len(places)) if number not in set(first.values())]
    return set([*first.values(), *others][:MOST_DETAILED])


def _entry(run: ReportedRun, place: Place) -> dict[str, Any]:
    settings = run.settings
    totals = {key: run.summary.get(key) for key in TOTALS_SHOWN}
    if run.learns:
        totals |= {key: run.summary.get(key) for key in LEARNT_SHOWN}
    return {
        "name": run.name,
        "line": place.line,
        "panel": place.panel,
        "values": dict(place.values),
        "clients": settings["clients"],
        "epochs": len(run.epochs["stored"]),
        "totals": {key: None if value is None else as_numbers([value])[0] for key, value in totals.items()},
        "age": age_series(run),
        "score": score_series(run),
        "uploads": _sorted_uploads(run),
        "accuracy": _ranked_accuracy(run),
    }


def _reached(run: ReportedRun, target: float) -> dict[str, float | int] | None:
    """Returns the energy and the epochs until a run reached a score; None if it never did."""
    found = first_reached(run.epochs, target)
    return None if found is None else {"energy": found.energy, "epochs": found.epochs}


def _ranked_accuracy(run: ReportedRun) -> dict[str, Any] | None:
    """Returns the accuracy on each client's own samples, the worst first, thinned; None where it was not measured."""
    ranked = read_ranked_accuracy(run)
    if ranked is None or not ranked.size:
        return None
    kept = thin(len(ranked))
    return {"rank": as_numbers(kept + 1), "accuracy": as_numbers(ranked[kept])}


def _sorted_uploads(run: ReportedRun) -> dict[str, Any] | None:
    """Returns the updates received of each client, the most first, thinned; None without events."""
    if not run.has_events:
        return None
    counts = uploads_per_client(read_events(run, ("upload",)), run.settings["clients"])
    ranked = np.sort(counts)[::-1]
    kept = thin(len(ranked))
    return {"rank": as_numbers(kept + 1), "count": as_numbers(ranked[kept])}


def _detail(run: ReportedRun) -> dict[str, Any]:
    if not run.has_events:
        return {"ages": None, "window": None, "why": "This run kept no events (output.events = false)."}
    clients, epochs = run.settings["clients"], len(run.epochs["stored"])
    values, exact = age_map(run)
    ages = {"map": _matrix(values), "exact": exact}
    limit = most_epochs(run)
    if limit < 1:
        return {"ages": ages, "window": None, "why": f"A timeline is not drawn for as many as {clients:,} clients."}
    starts = read_events(run, ("start",))
    window = choose_window(starts, epochs, limit)
    shown = choose_clients(starts, window, clients)
    try:
        made = make_window(run, read_events(run, ACTS, window[1]), window, shown)
    except (FallowError, KeyError, TypeError, ValueError) as error:  # a config that somebody has edited
        return {"ages": ages, "window": None, "why": f"A timeline can't be drawn: {error}"}
    return {
        "ages": ages,
        "why": made.why_no_battery,
        "window": {
            "first": made.first_epoch,
            "slots": made.slots_per_epoch,
            "clients": made.clients,
            "states": made.states,
            "selected": made.selected,
            "battery": None if made.battery is None else made.battery.tolist(),
            "harvest": None if made.harvest is None else made.harvest.tolist(),
            "capacity": made.capacity,
        },
    }


def _matrix(values: NDArray[Any] | None) -> dict[str, Any] | None:
    """Returns a matrix as rows, columns and its whole numbers in base64, 16 bits each, the low byte first."""
    if values is None:
        return None
    whole = np.clip(np.rint(values), 0, 65535).astype("<u2")
    return {"rows": whole.shape[0], "columns": whole.shape[1], "cells": base64.b64encode(whole.tobytes()).decode()}


def _described(run: ReportedRun) -> dict[str, str]:
    """Returns every setting and version of a run in words."""
    versions = flatten({"versions": run.summary.get("versions", {})})
    return {key: say(value) for key, value in (dict(run.settings) | versions).items()}


def _filter_values(key: str, places: Sequence[Place]) -> list[str]:
    values = [place.values[key] for place in places]
    return order_lines(values) if key == "line" else order_values(values)
