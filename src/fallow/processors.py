"""How many processors there are to use."""

import os


def available_processors() -> int:
    """Returns how many processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
