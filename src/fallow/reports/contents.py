"""What the page shows, as JSON takes it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fallow.plugins.nested import flatten
from fallow.reports.activity import read_events, uploads_per_client
from fallow.reports.classes import read_classes, read_outage
from fallow.reports.clients import read_ranked_accuracy
from fallow.reports.days import Course, clock_of, day_course, year_course
from fallow.reports.details import detail, matrix
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
from fallow.reports.harvests import Files, scale_of
from fallow.reports.labels import mix_key, read_label_mix
from fallow.reports.runs import ReportedRun, Unfinished
from fallow.reports.series import MOST_POINTS, age_series, as_numbers, score_series, thin
from fallow.reports.timeline import NO_FILES
from fallow.reports.uses import uses_of
from fallow.runs.reader import TOTALS
from fallow.runs.target import first_reached
from fallow.runs.thresholds import age_threshold, say_thresholds
from fallow.runs.uses import USES

MOST_DETAILED = 12
"""Runs that are shown slot by slot and client by client."""

TOTALS_SHOWN = (
    *TOTALS,
    *(key for key, _ in USES if key not in TOTALS),
    "harvested",
    "mean_age_selected",
    "mean_age_delivered",
    "jain_index_uploads",
)
LEARNT_SHOWN = (
    *("f1", "best_f1", "client_accuracy_mean", "client_accuracy_worst_tenth", "client_accuracy_sd"),
    "jain_index_accuracy",
)


def gather(
    runs: Sequence[ReportedRun],
    unfinished: Sequence[Unfinished],
    target: float | None = None,
    files: Files = NO_FILES,
) -> dict[str, Any]:
    """Returns everything that the page needs. Equal runs give equal contents.

    Args:
        runs: The finished runs.
        unfinished: The other runs, which are only named.
        target: The F1 score to say of each run when it reached it; None: of none.
        files: What a harvest may be read from.
    """
    runs, places = _in_order(runs)
    detailed = choose_detailed(places)
    mixes: dict[str, Any] = {}
    mix_number: dict[str, int] = {}
    shown = []
    for number, (run, place) in enumerate(zip(runs, places, strict=True)):
        entry = _entry(run, place) | {"time": _time(run, files, replay=number in detailed)}
        if target is not None:
            entry["reached"] = _reached(run, target)
        if number in detailed:
            key = mix_key(run)
            if key not in mixes:
                mix_number[key] = len(mixes)
                mixes[key] = matrix(read_label_mix(run))
            entry["detail"] = detail(run, files) | {"mix": mix_number[key]}
        shown.append(entry)
    settings = [_described(run) for run in runs]
    differ = varying(settings)
    return {
        "runs": shown,
        "target": target,
        "uses": [{"key": key, "name": name} for key, name in uses_of(runs)],
        "lines": order_lines(place.line for place in places),
        "panels": order_panels(places),
        "filters": [
            {"key": key, "title": title(key), "values": _filter_values(key, places)} for key in places[0].values
        ],
        "unfinished": [[one.name, one.done, one.epochs] for one in unfinished],
        "mixes": list(mixes.values()),
        "common": [[key, value] for key, value in settings[0].items() if key not in differ],
        "differ": {"keys": differ, "rows": [[row.get(key, "–") for key in differ] for row in settings]},
        "thresholds": say_thresholds(age_threshold(run.settings, run.summary) for run in runs if run.has_ages),
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
        "outage": _ranked_outage(run),
        "classes": _classes(run),
        "seconds": scale_of(run).slot_seconds,
        "joules": scale_of(run).unit_joules,
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


def _ranked_outage(run: ReportedRun) -> dict[str, Any] | None:
    """Returns the outage of each client, the worst first, thinned; None where it was not counted."""
    outage = read_outage(run)
    if outage is None or not outage.size:
        return None
    ranked = np.sort(outage)[::-1]
    kept = thin(len(ranked))
    return {"rank": as_numbers(kept + 1), "share": as_numbers(ranked[kept])}


def _classes(run: ReportedRun) -> dict[str, Any] | None:
    """Returns the device classes of a run over its epochs, thinned; None where all clients are alike."""
    courses = read_classes(run)
    if not courses:
        return None
    kept = thin(len(courses[0].charge))
    return {
        "epoch": as_numbers(kept),
        "devices": [
            {
                "name": one.name,
                "clients": one.clients,
                "charge": as_numbers(one.charge[kept]),
                "asleep": one.asleep,
                "outage": one.outage,
            }
            for one in courses
        ],
    }


def _time(run: ReportedRun, files: Files, *, replay: bool) -> dict[str, Any] | None:
    """Returns energy over a day and over a year; None where the run does not state how long a slot is."""
    if not scale_of(run).slot_seconds:
        return None
    day, why_no_day = day_course(run, files, replay=replay)
    year, why_no_year = year_course(run)
    begin, clock = clock_of(run)
    return {
        "day": _course(day),
        "year": _course(year),
        "why_no_day": why_no_day,
        "why_no_year": why_no_year,
        "calendar": begin is not None,
        "clock": clock,
    }


def _course(course: Course | None) -> dict[str, Any] | None:
    return None if course is None else {name: as_numbers(values) for name, values in vars(course).items()}


def _described(run: ReportedRun) -> dict[str, str]:
    """Returns every setting and version of a run in words."""
    versions = flatten({"versions": run.summary.get("versions", {})})
    return {key: say(value) for key, value in (dict(run.settings) | versions).items()}


def _filter_values(key: str, places: Sequence[Place]) -> list[str]:
    values = [place.values[key] for place in places]
    return order_lines(values) if key == "line" else order_values(values)
