"""Fallow: energy-harvesting federated learning, slot by slot."""

from importlib.metadata import version
from typing import Any

__version__ = version("fallow")


def load(directory: Any) -> Any:
    """Returns the tables of a run directory as pandas frames; see ``fallow.runs.frames``."""
    from fallow.runs.frames import load as load_run  # so that `import fallow` stays light

    return load_run(directory)
