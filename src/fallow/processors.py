"""How many processors there are to use, and what they are called."""

import os
import platform
import re
from pathlib import Path

from fallow.errors import ConfigError

CPUINFO = Path("/proc/cpuinfo")


def name_processor() -> str:
    """Returns the name of the processor, such as ``Intel(R) Xeon(R) Processor``; its kind where it has none."""
    if CPUINFO.is_file():
        found = re.search(r"^model name\s*: (.+)$", CPUINFO.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    return platform.processor() or platform.machine()


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
