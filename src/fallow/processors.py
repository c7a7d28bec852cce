"""How many processors there are to use."""

import os

from fallow.errors import ConfigError


def available_processors() -> int:
    """Returns how many processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: object) -> None:
    """Checks a number of workers that a user gave; None and 0 leave it to Fallow.

    Raises:
        ConfigError: It is no whole number from 0.
    """
    if workers is None:
        return
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 0:
        raise ConfigError(f"workers = {workers!r} must be a whole number of at least 0; 0 is one for each processor.")
