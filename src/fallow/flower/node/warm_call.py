"""Stands in for Flower's client program: hands a message over to a warm process, or becomes the cold program.

It is started for every message, by its path and without the site packages, so it imports as little as can be::

    python -I -S warm_call.py DIRECTORY PROGRAM ARGUMENT …
"""

import os
import socket
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable

SOCKET = "socket"
STARTED = "started"

PATIENCE = 20.0
"""Seconds that a warm process may take to say that it has forked; it may be loading an app."""

PAUSE = 600.0
"""Seconds from one start of a warm process to the next by the same owner: one that dies must not cost more than it
saves."""


def call(directory: str, program: str, arguments: list[str]) -> None:
    """Has a warm process run the client program, or else runs it in this process, which ends with it.

    Args:
        directory: Where the warm process has its socket.
        program: Flower's client program.
        arguments: Of this call.
    """
    if hand_over(directory, arguments):
        return
    owner = str(os.getppid())
    if _is_due(os.path.join(directory, f"{STARTED}-{owner}")):
        command = [sys.executable, "-P", "-m", "fallow.flower.node.warm", directory, owner]
        os.posix_spawn(sys.executable, command, os.environ)
    os.execv(program, [program, *arguments])  # noqa: S606  # Flower's own


def hand_over(directory: str, arguments: list[str]) -> bool:
    """Returns whether a warm process has taken a call: a child of it runs the program, with this process's output.

    Args:
        directory: Where the warm process has its socket.
        arguments: Of the call.
    """
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(PATIENCE)
        try:
            at_socket(directory, wire.connect)
            socket.send_fds(wire, ["\0".join(arguments).encode()], [0, 1, 2])
            wire.shutdown(socket.SHUT_WR)
            return wire.recv(1) == b"\1"
        except OSError:  # it is gone, or stuck
            return False


def at_socket(directory: str, use: "Callable[[str], None]") -> None:
    """Binds or connects a socket in a directory. The path of a socket must be short, so it is used from within.

    Args:
        directory: Where the socket is, or will be.
        use: Is called with its name.
    """
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(directory)
        use(SOCKET)
    finally:
        os.fchdir(here)
        os.close(here)


def _is_due(stamp: str) -> bool:
    """Returns whether the last warm process was started long enough ago, and notes that one is started now."""
    try:
        if time.time() - os.stat(stamp).st_mtime < PAUSE:
            return False
    except FileNotFoundError:
        pass
    with open(stamp, "wb"):
        return True


if __name__ == "__main__":
    call(sys.argv[1], sys.argv[2], sys.argv[3:])
