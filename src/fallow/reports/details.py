"""What the page shows of a run that it shows slot by slot and client by client, as JSON takes it."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.reports.activity import ACTS, read_events
from fallow.reports.ages import age_map
from fallow.reports.harvests import Files
from fallow.reports.replay import most_epochs
from fallow.reports.runs import ReportedRun
from fallow.reports.timeline import choose_clients, choose_window, make_window, upload_slots


def detail(run: ReportedRun, files: Files) -> dict[str, Any]:
    """Returns the age map and the timeline of a run, or a sentence why there is none.

    Args:
        run: A finished run.
        files: What a harvest may be read from.
    """
    if not run.has_events:
        return {"ages": None, "window": None, "why": "This run kept no events (output.events = false)."}
    clients, epochs = run.settings["clients"], len(run.epochs["stored"])
    values, exact = age_map(run)
    ages = {"map": matrix(values), "exact": exact}
    limit = most_epochs(run)
    if limit < 1:
        return {"ages": ages, "window": None, "why": f"A timeline is not drawn for as many as {clients:,} clients."}
    starts = read_events(run, ("start",))
    window = choose_window(starts, epochs, limit)
    shown = choose_clients(starts, window, clients)
    try:
        after = -(-int(upload_slots(run).max() - 1) // run.settings["slots_per_epoch"])  # epochs that an upload reaches
        made = make_window(run, read_events(run, ACTS, window[1] + after), window, shown, files)
    except (FallowError, KeyError, TypeError, ValueError) as error:  # a config that somebody has edited
        return {"ages": ages, "window": None, "why": f"A timeline can't be drawn: {error}"}
    stretch = made.stretch
    return {
        "ages": ages,
        "why": made.why_no_battery,
        "window": {
            "first": made.first_epoch,
            "slots": made.slots_per_epoch,
            "clients": made.clients,
            "states": made.states,
            "selected": made.selected,
            "battery": None if stretch is None else stretch.battery.tolist(),
            "harvest": None if stretch is None else stretch.harvest.tolist(),
            "capacity": [] if stretch is None else stretch.capacity,
        },
    }


def matrix(values: NDArray[Any] | None) -> dict[str, Any] | None:
    """Returns a matrix as rows, columns and its whole numbers in base64, 16 bits each, the low byte first.

    Args:
        values: Shape (rows, columns); None gives None.
    """
    if values is None:
        return None
    whole = np.clip(np.rint(values), 0, 65535).astype("<u2")
    return {"rows": whole.shape[0], "columns": whole.shape[1], "cells": base64.b64encode(whole.tobytes()).decode()}
