"""Fallow: energy-harvesting federated learning, slot by slot."""

from importlib.metadata import version
from typing import Any

__version__ = version("fallow")


def load(directory: Any) -> Any:
    """Returns the run in a directory, with its tables as pandas frames; see ``fallow.runs.run``."""
    from fallow.runs.run import load_run  # so that `import fallow` stays light

    return load_run(directory)
