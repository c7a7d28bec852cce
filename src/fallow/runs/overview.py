"""The totals of a run in words, for people: the command line's table and the notebook's."""

from collections.abc import Mapping
from typing import Any

NOT_MEASURED = "not measured"

LINES = (
    ("macro F1 at the end", "f1", ""),
    ("  best of all evaluations", "best_f1", ""),
    ("accuracy at the end", "accuracy", ""),
    ("accuracy on clients' own samples, mean", "client_accuracy_mean", ""),
    ("  mean of the worst tenth of clients", "client_accuracy_worst_tenth", ""),
    ("  standard deviation over clients", "client_accuracy_sd", ""),
    ("  Jain's index, 1 if all are equal", "jain_index_accuracy", ""),
    ("energy consumed", "energy_total", "units"),
    ("  per client and epoch", "energy_per_client_epoch", "units"),
    ("  on hearing the server", "consumed_listen", "units"),
    ("  on receiving models", "consumed_download", "units"),
    ("  drawn by devices that are awake", "consumed_idle", "units"),
    ("energy harvested", "harvested", "units"),
    ("energy lost to full batteries", "overflow", "units"),
    ("energy lost in conversion", "conversion_loss", "units"),
    ("energy leaked away", "leakage", "units"),
    ("slots slept through, over all clients", "asleep", ""),
    ("trainings started", "starts", ""),
    ("updates received", "uploads", ""),
    ("  late, of an earlier epoch's training", "stale_uploads", ""),
    ("  received but not used", "dropped", ""),
    ("clients that never delivered", "clients_never_delivered", ""),
    ("Jain's index of updates, 1 if equal", "jain_index_uploads", ""),
    ("mean version age, reset when selected", "mean_age_selected", "epochs"),
    ("mean version age, reset when received", "mean_age_delivered", "epochs"),
)
"""Words, the key of summary.json, and the unit. Only what a summary has becomes a line."""

AGES = ("mean_age_selected", "mean_age_delivered")


def overview_title(summary: Mapping[str, Any]) -> str:
    """Returns a heading for the totals of a run.

    Args:
        summary: What summary.json holds.
    """
    return f"{summary['policy']}: {summary['clients']:,} clients, {summary['epochs']:,} epochs"


def overview(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Returns the totals of a run, each as words, value and unit; ages that were not measured say so.

    Where a unit has joules, they stand beside it.

    Args:
        summary: What summary.json holds.

    Examples:
        >>> overview({"energy_total": 5000, "unit_joules": 0.01})[0]
        ('energy consumed', '5,000', 'units, 50 J')
    """
    lines = []
    joules = summary.get("unit_joules", 0.0)
    for words, key, unit in LINES:
        value = summary.get(key)
        if value is not None:
            beside = f", {value * joules:,.4g} J" if joules and unit == "units" else ""
            lines.append((words, f"{value:,}" if isinstance(value, int) else f"{value:,.3f}", unit + beside))
        elif key in AGES:
            lines.append((words, NOT_MEASURED, ""))
    return lines
