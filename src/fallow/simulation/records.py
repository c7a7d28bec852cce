"""What a run says of each epoch. ``docs/metrics.md`` describes every column."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fallow.learning.state import ClientScores
from fallow.simulation.counters import EXTENDED_COUNTERS, PAPER_COUNTERS, Counters
from fallow.simulation.device_rows import DeviceRow
from fallow.simulation.events import Clients, Event

AGE_COLUMNS = ("mean_age_selected", "mean_age_delivered")
LEARNING_COLUMNS = ("train_loss", "aggregated", "dropped", "f1", "accuracy", "loss")
COLUMNS = ("epoch", *PAPER_COUNTERS, *AGE_COLUMNS)


@dataclass(frozen=True, kw_only=True)
class EpochRecord(Counters):
    """One epoch, over all clients: its counters, what was learnt, and the events behind them; a row of epochs.csv.

    Attributes:
        epoch: t, from 0.
        mean_age_selected: Mean version age at the epoch's end, if being selected resets it; None without ages.
        mean_age_delivered: Mean version age at the epoch's end, if a received update resets it; None without ages.
        train_loss: With learning: mean loss of the trainings started; None if none was.
        aggregated: With learning: updates that went into the model.
        dropped: With learning: updates received and not used: diverged, discarded as too old, or refused by the guard.
        f1: With learning: macro F1 on the test set, in epochs that evaluate it.
        accuracy: With learning: share of the test set that is classified rightly, in epochs that evaluate it.
        loss: With learning: mean loss on the test set, in epochs that evaluate it.
        recall: With learning: the share of each class that is found, in epochs that evaluate it.
        extended: Whether energy goes where the paper has none go, so that the row has columns of it.
        client_scores: With learning: the scores on each client's own samples, in epochs that evaluate them.
        devices: The sums over each class of devices; empty where there are no classes.
        events: What happened to whom, in order; empty where not asked for.
    """

    epoch: int
    mean_age_selected: float | None = None
    mean_age_delivered: float | None = None
    train_loss: float | None = None
    aggregated: int | None = None
    dropped: int | None = None
    f1: float | None = None
    accuracy: float | None = None
    loss: float | None = None
    recall: tuple[float, ...] | None = None
    extended: bool = False
    client_scores: ClientScores | None = field(default=None, repr=False)
    devices: tuple[DeviceRow, ...] = field(default=(), repr=False)
    events: list[Event] = field(default_factory=list, repr=False)

    def row(self) -> dict[str, int | float | None]:
        """Returns the cells of epochs.csv by column; what was not measured is None."""
        cells = vars(self)
        recall = {f"recall_{label}": share for label, share in enumerate(self.recall or ())}
        return {name: cells[name] for name in columns(0, extended=self.extended)} | recall


def columns(classes: int | None, *, extended: bool = False) -> tuple[str, ...]:
    """Returns the columns of epochs.csv.

    Args:
        classes: How many classes are learnt; None without learning, which leaves columns out.
        extended: Whether energy goes where the paper has none go, which adds columns.
    """
    always = (*COLUMNS, *EXTENDED_COUNTERS) if extended else COLUMNS
    if classes is None:
        return always
    return (*always, *LEARNING_COLUMNS, *(f"recall_{label}" for label in range(classes)))


def with_ages(events: list[Event], kept: Clients, dropped: Mapping[int, list[int]]) -> list[Event]:
    """Returns the events of an epoch with those added that every client's version age can be told from.

    Args:
        events: What happened in the world, in order.
        kept: Clients in whose eyes the model did not change significantly (M_i < μ), so that their age stays.
        dropped: Clients whose update was received and not used, by slot; to the age it is as if it had not come.
    """
    if not kept.size and not dropped:
        return events
    told: list[Event] = []
    for event in events:
        if event.kind == "select" and kept.size:
            told.append(Event("keep", event.slot, kept))
        told.append(event)
        if event.kind == "upload" and event.slot in dropped:
            told.append(Event("drop", event.slot, np.array(dropped[event.slot])))
    return told
