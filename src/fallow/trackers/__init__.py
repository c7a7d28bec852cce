"""The trackers by name. A new one is one file here and one line in the table."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.names import resolve
from fallow.plugins.objects import name_of
from fallow.trackers.base import Row, TrackedRun, Tracker
from fallow.trackers.mlflow import MLflow
from fallow.trackers.tensorboard import TensorBoard

TRACKERS: dict[str, type] = {
    "tensorboard": TensorBoard,
    "mlflow": MLflow,
}

FOLDERS = tuple(TRACKERS)
"""What they write to in a run directory."""


def tracker_name(tracker: Any) -> Any:
    """Returns the name of a tracker that was given as a class; whatever else was given is returned as it is."""
    return name_of(tracker, TRACKERS, "tracker") if isinstance(tracker, type) else tracker


def build_trackers(names: Sequence[str]) -> dict[str, Tracker]:
    """Returns trackers by name; one that can't be had is a sentence, before anything runs."""
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
        except Exception as error:  # somebody's own code
            raise ConfigError(f"The tracker '{name}' can't be made: {type(error).__name__}: {error}.") from error
    return built


__all__ = ["FOLDERS", "TRACKERS", "Row", "TrackedRun", "Tracker", "build_trackers", "tracker_name"]
