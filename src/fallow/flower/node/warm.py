"""A warm process: it has loaded everything that a message takes, and forks for each.

Flower starts a program for every message, which loads Flower, PyTorch and the app before it can answer. With
``fallow flower node --warm`` it finds ``warm_call.py`` in its place, which hands the message over to a process that has
loaded all of that. Without that process, for whatever reason, the program is run as ever.
"""

import gc
import importlib
import os
import random
import shlex
import shutil
import signal
import socket
import sys
import threading
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from fallow.errors import ConfigError
from fallow.flower.node import warm_call
from fallow.flower.node.warm_call import SOCKET, at_socket

LOOK = 5.0
"""Seconds between two looks at whether the owner lives, while no message comes."""

LONGEST_CALL = 65_536
"""Most bytes of the arguments of a call."""

TRIES = 2
"""How often an app is loaded that can't be: at first, Flower may still be installing it."""

CLIENT_PROGRAM = "flwr-clientapp"


def with_warm_program(home: Path, path: str) -> str:
    """Returns PATH with a program at its front that stands in for Flower's client program, and calls a warm process.

    Args:
        home: The node's own directory.
        path: PATH without it.

    Raises:
        ConfigError: Flower is not installed, or this system can't fork.
    """
    cold = shutil.which(CLIENT_PROGRAM, path=path)
    if cold is None:
        raise ConfigError("Flower is not installed; run pip install 'fallow[node]'.")
    if sys.platform == "win32":
        raise ConfigError("--warm needs a system that can fork, such as Linux; start the node without it.")
    folder, state = home / "bin", home / "warm"
    shutil.rmtree(state, ignore_errors=True)  # of an earlier life
    for made in (folder, state):
        made.mkdir(mode=0o700, exist_ok=True)
    words = [sys.executable, "-I", "-S", warm_call.__file__, str(state), cold]
    target = folder / CLIENT_PROGRAM
    target.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    target.chmod(0o700)
    return os.pathsep.join([str(folder), path])


class WarmProcess:
    """Forks for each call, and lets the child run a program.

    Args:
        directory: Where its socket is; its owner's alone.
        program: What a child runs, with the call's arguments in ``sys.argv``.
        prepare: Loads what came with the last calls; called when no child is at work.
        owner: The process that it must not outlive.
    """

    def __init__(self, directory: Path, program: Callable[[], object], prepare: Callable[[], None], owner: int) -> None:
        self._program, self._prepare, self._owner = program, prepare, owner
        self._children: set[int] = set()
        self._called = False
        self._listener = socket.socket(socket.AF_UNIX)
        (directory / SOCKET).unlink(missing_ok=True)
        before = os.umask(0o177)  # whoever reaches the socket may have anything run
        try:
            at_socket(str(directory), self._listener.bind)
        finally:
            os.umask(before)
        self._listener.listen()
        self._listener.settimeout(LOOK)

    def serve(self) -> None:
        """Answers calls until the owner is gone."""
        with self._listener:
            while _is_alive(self._owner):
                try:
                    wire, _ = self._listener.accept()
                except TimeoutError:
                    self._rest()
                    continue
                with wire:
                    self._answer(wire)

    def _rest(self) -> None:
        """Takes note of children that ended; and makes ready for what they were asked."""
        for child in list(self._children):
            if os.waitpid(child, os.WNOHANG)[0]:
                self._children.discard(child)
        if self._called and not self._children:
            self._called = False
            self._prepare()

    def _answer(self, wire: socket.socket) -> None:
        wire.settimeout(LOOK)
        descriptors: list[int] = []
        try:
            words, descriptors, _, _ = socket.recv_fds(wire, LONGEST_CALL, 3)
            while more := wire.recv(LONGEST_CALL):
                words += more
            if threading.active_count() > 1:
                sys.exit("The app has started threads, which no child would have: messages are answered cold.")
            gc.freeze()  # what is here now, no child has to look through, and so to copy
            child = os.fork()
            if child == 0:
                self._listener.close()
                wire.close()
                _become(words.decode().split("\0"), descriptors, self._program)
            self._children.add(child)
            self._called = True
            wire.sendall(b"\1")
        except OSError:  # who called is gone, or nothing can be forked: then it is run cold
            traceback.print_exc()
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def _become(arguments: list[str], descriptors: list[int], program: Callable[[], object]) -> None:
    """Runs a program in a child, with draws of its own and with its caller's input and output, to the child's end."""
    code = 1
    try:
        for place, descriptor in enumerate(descriptors):
            os.dup2(descriptor, place)
            os.close(descriptor)
        _draw_anew()
        sys.argv = [CLIENT_PROGRAM, *arguments]
        program()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # the child must not go on as its parent
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _draw_anew() -> None:
    """Seeds the generators that a fork would share with its siblings. Fallow itself draws from none of them."""
    random.seed()
    if "numpy" in sys.modules:
        import numpy as np

        np.random.seed()  # noqa: NPY002  # the one that users' code may draw from
    if "torch" in sys.modules:
        from fallow.learning.forking import draw_anew

        draw_anew()


class Apps:
    """The apps that Flower installed on a node, to be loaded before the next message comes.

    Args:
        folder: Where Flower installs them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left: defaultdict[Path, int] = defaultdict(lambda: TRIES)

    def prepare(self) -> None:
        """Loads the newest app, if it is new: what it imports, its data and its network. Its own modules are let go of.

        The next message may bring another app whose modules have the same names; it is imported by Flower, as ever.
        """
        found = sorted(self._folder.glob("*/pyproject.toml"), key=lambda path: path.stat().st_mtime_ns)
        if not found or self._left[found[-1].parent] == 0:
            return
        home = found[-1].parent
        self._left[home] -= 1
        path = list(sys.path)
        try:
            self._load(home)
            self._left[home] = 0
        except Exception:  # noqa: BLE001  # somebody's code, or not all of it is there yet
            traceback.print_exc()
        finally:
            sys.path[:] = path
            for name in [name for name, module in sys.modules.items() if _is_from(module, home)]:
                del sys.modules[name]

    def _load(self, home: Path) -> None:
        from fallow.flower.node.client import NodeApp

        config = tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8"))
        module, _, name = config["tool"]["flwr"]["app"]["components"]["clientapp"].partition(":")
        sys.path.insert(0, str(home))
        app = vars(importlib.import_module(module))[name]
        if isinstance(app, NodeApp):
            app.prepare()


def _is_from(module: object, folder: Path) -> bool:
    file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
    return isinstance(file, str) and Path(file).is_relative_to(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def main() -> None:
    """Loads Flower's client program and PyTorch, and serves a node until its owner is gone."""
    directory, owner = Path(sys.argv[1]), int(sys.argv[2])
    apps = Apps(Path(os.environ["FLWR_HOME"]) / "apps")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["OMP_NUM_THREADS"] = "1"  # before PyTorch is loaded, which asks once
    from fallow.learning.forking import without_threads

    without_threads()
    importlib.import_module("fallow.flower.node.client_task")  # what most messages need
    (script,) = entry_points(group="console_scripts", name=CLIENT_PROGRAM)
    program = script.load()
    apps.prepare()
    WarmProcess(directory, program, apps.prepare, owner).serve()


if __name__ == "__main__":
    main()
