"""The trackers by name. A new one is one file here and one line in the table."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.calls import RAISED
from fallow.plugins.names import resolve
from fallow.plugins.objects import name_of
from fallow.plugins.wording import in_words
from fallow.trackers.base import Row, TrackedRun, Tracker
from fallow.trackers.mlflow import MLflow
from fallow.trackers.tensorboard import TensorBoard

TRACKERS: dict[str, type] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
}

FOLDERS = tuple(TRACKERS)
"""The folders of a run directory that the trackers write to."""


def tracker_name(tracker: Any) -> Any:
    """Returns the name of a tracker class; anything else is returned unchanged."""
    return name_of(tracker, TRACKERS, "tracker") if isinstance(tracker, type) else tracker


def build_trackers(names: Sequence[str]) -> dict[str, Tracker]:
    """Returns new trackers by name.

    Args:
        names: Keys of TRACKERS, trackers of installed packages, or ``module:Class``.

    Raises:
        ConfigError: A tracker is unknown, not installed, named twice, or lacks a method.
    """
    built: dict[str, Tracker] = {}
    for name in names:
        if name in built:
            raise ConfigError(f"output.trackers names '{name}' twice.")
        cls = resolve(name, TRACKERS, "tracker", "fallow.trackers")
        if any(find_spec(module) is None for module in getattr(cls, "NEEDS", ())):
            raise ConfigError(f"The tracker '{name}' is not installed: pip install 'fallow[{name}]'.")
        for method in ("begin", "log", "end"):
            if not callable(getattr(cls, method, None)):
                raise ConfigError(f"The tracker '{name}' has no method '{method}'; it must have begin, log and end.")
        try:
            built[name] = cls()
        except RAISED as error:  # a user's code may raise anything
            raise ConfigError(f"The tracker '{name}' can't be made: {in_words(error)}.") from error
    return built


__all__ = ["FOLDERS", "TRACKERS", "Row", "TrackedRun", "Tracker", "build_trackers", "tracker_name"]
