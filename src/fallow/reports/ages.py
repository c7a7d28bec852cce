"""The version age of every client, epoch by epoch, from the events of a run."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.reports.activity import Events, read_by_epoch
from fallow.reports.runs import ReportedRun

MOST_EPOCHS, MOST_CLIENTS = 300, 100
"""Cells of an age map; more epochs or clients are averaged into as many bins."""

Ages = NDArray[np.int64]


class UnknownAgesError(FallowError):
    """The events of a run do not tell the version ages that it recorded."""


def age_map(run: ReportedRun) -> tuple[NDArray[np.float64], bool]:
    """Returns a map of ages, averaged in bins, and whether these are the version ages of the run.

    The mean over all clients must be in each epoch what the run recorded. Where it is not, or no ages were measured,
    the events do not tell which changes were significant; then the map is of `epochs_since`.

    Args:
        run: With events.

    Returns:
        Shape (at most MOST_CLIENTS, at most MOST_EPOCHS), float64.
    """
    clients, epochs = run.settings["clients"], len(run.epochs["epoch"])
    if run.has_ages:
        ages = version_ages(read_by_epoch(run, ("keep", "upload", "drop")), clients)
        with suppress(UnknownAgesError):
            return in_bins(_checked(ages, run.epochs["mean_age_delivered"]), clients, epochs), True
    return in_bins(epochs_since(read_by_epoch(run, ("upload",)), clients), clients, epochs), False


def version_ages(epochs: Iterable[Events], clients: int) -> Iterator[Ages]:
    """Yields X_i(t+1) for each epoch t, shape (N,). This is Eq. (7), reset when an update is used (reading 7).

    Args:
        epochs: The events of each epoch, in order.
        clients: N.
    """
    age = np.zeros(clients, dtype=np.int64)
    for events in epochs:
        grows = np.ones(clients, dtype=np.bool_)
        grows[events.of("keep").client] = False
        age = age + grows
        received, dropped = (np.bincount(events.of(kind).client, minlength=clients) for kind in ("upload", "drop"))
        age[received > dropped] = 0
        yield age


def epochs_since(epochs: Iterable[Events], clients: int) -> Iterator[Ages]:
    """Yields for each epoch how long ago the last update of each client was received, shape (N,).

    In the epoch of an update it is 0. Before a client's first update it counts from the beginning of the run: t + 1.

    Args:
        epochs: The events of each epoch, in order.
        clients: N.
    """
    last = np.full(clients, -1, dtype=np.int64)
    for epoch, uploads in enumerate(epochs):
        last[uploads.client] = epoch
        yield epoch - last


def in_bins(ages: Iterable[Ages], clients: int, epochs: int) -> NDArray[np.float64]:
    """Returns means over neighbouring clients and epochs, one for each cell of the map.

    Args:
        ages: For each epoch, shape (N,).
        clients: N.
        epochs: T.

    Returns:
        Shape (at most MOST_CLIENTS, at most MOST_EPOCHS), float64.
    """
    rows, columns = min(clients, MOST_CLIENTS), min(epochs, MOST_EPOCHS)
    row_of = np.arange(clients) * rows // clients
    members = np.bincount(row_of, minlength=rows)
    total = np.zeros((rows, columns))
    width = np.zeros(columns)
    for epoch, age in enumerate(ages):
        column = epoch * columns // epochs
        total[:, column] += np.bincount(row_of, weights=age, minlength=rows) / members
        width[column] += 1
    return total / width


def _checked(ages: Iterable[Ages], recorded: NDArray[np.float64]) -> Iterator[Ages]:
    for epoch, age in enumerate(ages):
        if float(age.mean()) != recorded[epoch]:
            raise UnknownAgesError(f"Epoch {epoch} comes to another mean version age than the run recorded.")
        yield age
