"""Other processes as /proc shows them. Any of them may end, and close a file, while it is looked at."""

import os
from contextlib import suppress
from pathlib import Path

GONE = (FileNotFoundError, ProcessLookupError)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except GONE:
        return False


def descendants(pid: int) -> list[int]:
    """Returns the processes below a process."""
    found = []
    with suppress(*GONE):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                for child in map(int, (thread / "children").read_text().split()):
                    found += [child, *descendants(child)]
    return found


def open_files(pid: int) -> set[str]:
    """Returns what a process has open: paths, and sockets as in socket:[inode]."""
    found = set()
    with suppress(*GONE):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(*GONE):
                found.add(os.readlink(descriptor))
    return found


def without_coverage() -> dict[str, str]:
    """The environment of a program whose files may not grow: coverage would write one of its own, and fail."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
