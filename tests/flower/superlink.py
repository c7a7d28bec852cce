"""A real federation on loopback: the commands of docs/flower.md, as processes, each as the page has it.

Whatever is started here, and whatever that starts, bears a mark in its environment; by it everything is ended.
"""

import json
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from fallow.experiment import Experiment
from fallow.flower.deploy.programs import free_port
from fallow.flower.server.federation import CHECKPOINT, ROUNDS
from fallow.storage.checkpoints import read_checkpoint

PAGE = Path(__file__).parents[2] / "docs" / "flower.md"
MARK = "FALLOW_TEST_FEDERATION"
ENTER = "source flower.env"
PROGRAMS = Path(sys.executable).parent
DEADLINE = 240.0
"""Seconds after which something that must happen counts as not happening, on the slowest of machines."""

CABLED = 1
"""The node whose connection can be cut."""

HELD_CLIENT = '''
import time

from fallow.flower.node.client_task import ClientTask

GATES = Path({gates!r})
own_train = ClientTask.train


def train(self, *arguments):
    """Trains as ever, after the test has had its say."""
    (GATES / f"training-{{self.number}}").touch()
    while (GATES / f"hold-{{self.number}}").exists():
        time.sleep(0.05)
    return own_train(self, *arguments)


ClientTask.train = train
'''
"""Goes at the end of an app's client.py, so that a node can be held in the middle of its training."""


class RealFederation:
    """An app that is made, simulated and run on three nodes in one directory, by the commands of the page."""

    nodes = 3
    warm = 2
    """The node whose messages are answered by a process that is kept warm."""

    def __init__(self, root: Path) -> None:
        place = root / "my place"
        self.home, self.package = place / "solar", place / "solar" / "solar_app"
        self.logs, self.gates = root / "logs", root / "gates"
        for path in (place, self.logs, self.gates):
            path.mkdir()
        self.mark = uuid4().hex
        self.started: list[subprocess.Popen[bytes]] = []
        self.lasting: dict[str, subprocess.Popen[bytes]] = {}
        own = {name: value for name, value in os.environ.items() if not name.startswith(("FLWR_", "FALLOW_"))}
        self.environment = own | {
            MARK: self.mark,
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "HOME": str(root),  # so that a file in it would be noticed
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
        }
        subprocess.run(shlex.split(documented("fallow flower new")), cwd=place, env=self.environment, check=True)
        self.port = free_port()
        config = self.home / ".flwr" / "config.toml"
        config.write_text(config.read_text().replace(":8000", f":{self.port}"))
        with (self.package / "client.py").open("a") as file:
            file.write(HELD_CLIENT.format(gates=str(self.gates)))

    def start(self, command: str, log: str) -> subprocess.Popen[bytes]:
        """Starts a command in the app's directory, as a user would."""
        with (self.logs / f"{log}.log").open("ab") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"{ENTER} && exec {command}"],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    def give(self, command: str) -> None:
        """Gives a command that ends by itself, whatever its exit code."""
        subprocess.run(
            ["bash"], input=f"{ENTER}\n{command}\n", cwd=self.home, env=self.environment, text=True, check=False
        )

    def flwr(self, arguments: str) -> Any:
        """Runs a command of Flower's to its end and returns what it prints, read as JSON."""
        done = subprocess.run(
            ["bash", "-c", f"{ENTER} && flwr {arguments} --format json"],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout[done.stdout.index("{") :])

    def finish(self, run: str, experiment: Experiment, directory: Path, connection: str = "loopback") -> None:
        """Waits for the end of a run, which must be a good one."""
        asked = time.monotonic()

        def at_the_end() -> bool:
            nonlocal asked
            if time.monotonic() < asked + 20:  # Flower's commands take seconds of a processor
                return len(rounds(directory)) == experiment.epochs
            asked = time.monotonic()
            return self.status(run, connection).startswith("finished")

        self.wait(at_the_end, "the last round")
        self.wait(lambda: self.status(run, connection).startswith("finished"), "the end of the run")
        assert self.status(run, connection) == "finished:completed", self.flwr(f"list {connection} --run-id {run}")

    def status(self, run: str, connection: str) -> str:
        """Returns how a run stands, as in 'finished:completed'."""
        (found,) = (one for one in self.flwr(f"list {connection}")["runs"] if one["run-id"] == run)
        return str(found["status"])

    def wait(self, happens: Callable[[], Any], what: str) -> Any:
        """Waits until something is so, and returns it; that it never is, is an error with the ends of all logs."""
        deadline = time.monotonic() + DEADLINE
        while not (found := happens()):
            ended = [words for words, process in self.lasting.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = (f"{log.name}:\n{log.read_text()[-3000:]}" for log in sorted(self.logs.iterdir()))
                raise AssertionError("\n".join([f"{what} never happened; ended too early: {ended}.", *logs]))
            time.sleep(0.2)
        return found

    def close(self) -> None:
        """Kills every process that this app brought about."""
        if self.lasting:
            self.cable.close()
        while pids := marked(self.mark):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for process in self.started:
            process.wait()

    def open(self) -> None:
        """Makes the keys, starts the SuperLink, registers the nodes and starts them."""
        assert self.start(documented("fallow flower keys"), "keys").wait(DEADLINE) == 0
        self.lasting["superlink"] = self.start(f"{documented('fallow flower link')} --port {self.port}", "superlink")
        self.wait_for_link(1)
        registering = [self.start(self._register(number), "register") for number in range(self.nodes)]
        assert [one.wait(DEADLINE) for one in registering] == [0] * self.nodes
        self.cable = Cable(self.port)
        for number in range(self.nodes):
            command = documented(f"fallow flower node keys/node-0{number}")
            port = self.cable.port if number == CABLED else self.port
            warm = " --warm" if number == self.warm else ""
            self.lasting[command] = self.start(f"{command}{warm} --superlink 127.0.0.1:{port}", f"node-{number}")
        self.wait(lambda: len(self.online()) == self.nodes, "all nodes online")

    def wait_for_link(self, starts: int) -> None:
        """Waits until the SuperLink has been started so many times."""
        log = self.logs / "superlink.log"
        self.wait(lambda: log.read_text().count("Uvicorn running") == starts, "the SuperLink's start")

    def kill_link(self) -> None:
        """Kills the SuperLink with all that belongs to it, but not who watches over it."""
        # Its server app may not notice until the SuperLink is back; it goes too, as if the machine had gone down.
        for words in ("flwr-serverapp", "flower-superlink --host"):
            for pid in marked(self.mark, words):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.wait(lambda: not marked(self.mark, "flwr-serverapp"), "the server app's end")

    def online(self) -> set[str]:
        return {node["node-id"] for node in self.flwr("supernode list loopback")["nodes"] if node["status"] == "online"}

    def begin(self, experiment: Experiment, directory: Path) -> str:
        """Starts a run of an experiment; returns its number."""
        (self.package / "experiment.toml").write_text(experiment.to_toml())
        command = documented("flwr run . loopback").removeprefix("flwr ").replace("--stream", "")
        command = command.replace("min-nodes=3", "min-nodes=3 patience=300.0")
        command = command.replace("federation-loopback", directory.name)
        return str(self.flwr(command)["run-id"])

    def answered_warm(self) -> int:
        """Returns the ticks of a processor that the children of the warm process took; 0 before it had any."""
        pids = marked(self.mark, "fallow.flower.node.warm")
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        return sum(int(one[13]) + int(one[14]) for one in fields)

    def hold(self, *nodes: int) -> None:
        """Holds nodes in their next training."""
        for number in nodes:
            (self.gates / f"training-{number}").unlink(missing_ok=True)
            (self.gates / f"hold-{number}").touch()

    def release(self) -> None:
        for gate in self.gates.glob("hold-*"):
            gate.unlink()

    def is_training(self, number: int) -> bool:
        return (self.gates / f"training-{number}").exists()

    def _register(self, number: int) -> str:
        return documented("flwr supernode register").replace("$key", f"keys/node-0{number}.pub")


class Cable:
    """A way to the SuperLink that can be cut as TLS is cut: whoever calls gets an answer that is no TLS.

    Attributes:
        port: Where it is reached.
    """

    def __init__(self, target: int) -> None:
        self._target, self._cut = target, False
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._cut = True
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        for end in (self._server, *self._open):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._server.accept()
                if self._cut:
                    with suppress(OSError), caller:
                        caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    continue
                try:
                    link = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # the SuperLink is not there: to the caller, as if it had been refused
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    caller.close()
                    continue
                self._open += [caller, link]
                for ends in ((caller, link), (link, caller)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                target.sendall(part)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def documented(beginning: str) -> str:
    """Returns a command of the page by its first words."""
    return next(command for command in commands(PAGE) if command.startswith(beginning))


def commands(page: Path) -> list[str]:
    """Returns the commands of a page, each as somebody who follows it gives it; of a loop, what it repeats."""
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    console = [line for block in blocks if block.startswith("$ ") for line in block.splitlines()]
    given = [line.removeprefix("$ ") for line in lines if line not in console or line.startswith("$ ")]
    return [re.sub(r"^for .*; do (.*); done$", r"\1", line) for line in given]


def rounds(directory: Path) -> list[dict[str, str]]:
    """Returns the rows of rounds.csv; none before the first round."""
    try:
        head, *rows = (directory / ROUNDS).read_text().splitlines()
    except (FileNotFoundError, ValueError):
        return []
    return [dict(zip(head.split(","), row.split(","), strict=True)) for row in rows if row]


def weights(directory: Path) -> np.ndarray:
    """Returns the global model of a federation as one vector."""
    arrays, notes = read_checkpoint(directory / CHECKPOINT)
    # The state names each parameter, in order, and its array.
    return np.concatenate([arrays[place].reshape(-1) for _, place in notes["state"]["model"]])


def marked(mark: str, *words: str) -> list[int]:
    """Returns the living processes that bear a mark, or come from one that does, with these words in their command."""
    parents: dict[int, int] = {}
    bearers: set[int] = set()
    commands: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                pid, stat = int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()
                if stat[0] not in "ZX":
                    parents[pid] = int(stat[1])
                    commands[pid] = (entry / "cmdline").read_text().replace("\0", " ")
                    if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                        bearers.add(pid)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in bearers} - bearers
        bearers, grown = bearers | more, bool(more)
    return sorted(pid for pid in bearers if all(word in commands[pid] for word in words))
