"""How much memory this machine has, asked before it is filled; and what becomes of memory that was freed."""

import os
import sys
from pathlib import Path

from fallow.errors import ConfigError

CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux states what a container may use; "max" is no limit."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Two settings of ``mallopt``, as glibc numbers them."""

MEBIBYTE = 1 << 20


def machine_bytes() -> int | None:
    """Returns the bytes of memory that this machine has, or its container may use; None where no one can tell."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return None
    for limit in CONTAINER_LIMITS:
        try:
            stated = limit.read_text(encoding="ascii").strip()
        except OSError:  # another version of cgroups, or none
            continue
        found += [int(stated)] if stated.isdigit() else []
    return min(found)


def check_memory(needed: int, what: str, advice: str) -> None:
    """Checks that something can be held in memory at all; whatever else is held there is not counted.

    Args:
        needed: Bytes, at least.
        what: What needs them, in words, as the beginning of a sentence.
        advice: What to do, as the end of a sentence.

    Raises:
        ConfigError: The machine has less.

    Examples:
        >>> check_memory(10**18, "The data of 10,000 images", "lower data.samples")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: The data of 10,000 images takes 1e+06 TB of memory, and this machine has ...
    """
    there = machine_bytes()
    if there is not None and needed > there:
        raise ConfigError(
            f"{what} takes {_in_words(needed)} of memory, and this machine has {_in_words(there)}; {advice}."
        )


def reuse_freed() -> None:
    """Has the C library keep memory that was freed, for what this process asks for next.

    Layers ask for as much memory in each step as they freed in the last one. By itself glibc gives much of it back to
    the system, which hands it out anew, page by page: a tenth to a quarter of the time of a training. The limits are
    the highest that glibc comes to by itself: blocks below 32 MiB are kept, up to 64 MiB in each of its heaps. They
    hold for the whole process, so whoever owns the process calls this. Another C library is left as it is.
    """
    if sys.platform != "linux":
        return
    import ctypes  # only where something is computed

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, 32 * MEBIBYTE)
        mallopt(TRIM_THRESHOLD, 64 * MEBIBYTE)


def _in_words(count: int) -> str:
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{_rounded(count, size)} {unit}"
    return f"{count} bytes"


def _rounded(count: int, size: int) -> str:
    whole = count // size  # a whole number first: a size that nobody meant can be beyond floating point
    return f"{count / size:.3g}" if whole < 10**15 else f"10^{len(str(whole)) - 1}"
