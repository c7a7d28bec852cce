"""The harvest of some epochs as one table."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from fallow.energy import prepare_harvest, unit_rows


def cells(model: Any, epochs: Iterable[int] = (0,), clients: int = 5, slots: int = 12, **more: Any) -> np.ndarray:
    """Returns the units of epochs in the order asked for, shape (epochs · slots, N)."""
    harvest = prepare_harvest(model, **{"seed": 7, "clients": clients, "slots_per_epoch": slots} | more)
    return np.concatenate([rows for epoch in epochs for rows in unit_rows(harvest(epoch), clients, slots)])


def correlation(units: np.ndarray) -> tuple[float, float]:
    """Returns the mean correlation of two clients in a slot, and about its standard error over rows."""
    z = (units - units.mean()) / units.std()
    clients = units.shape[1]
    rows = (z.sum(axis=1) ** 2 - (z**2).sum(axis=1)) / (clients * (clients - 1))
    return float(rows.mean()), float(rows.std() / np.sqrt(len(rows)))
