"""A real federation on loopback: an app of ``fallow flower new`` and the commands of its README, as processes.

Whatever is started here, and whatever that starts, bears a mark in its environment; by it everything is ended.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from fallow.experiment import Experiment
from fallow.flower.deploy.keys import make_keys
from fallow.flower.deploy.scaffold import write_app
from fallow.flower.server.federation import CHECKPOINT, ROUNDS
from fallow.storage.checkpoints import read_checkpoint

MARK = "FALLOW_TEST_FEDERATION"
PROGRAMS = Path(sys.executable).parent
DEADLINE = 240.0
"""Seconds after which something that must happen counts as not happening, on the slowest of machines."""

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


class App:
    """An app, and the environment and processes of its commands."""

    connection = "local"

    def __init__(self, root: Path) -> None:
        self.home = root / "my app"
        self.package = self.home / write_app(self.home)
        self.logs = root / "logs"
        self.logs.mkdir()
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

    def start(self, command: str, log: str) -> subprocess.Popen[bytes]:
        """Starts a command in the app's directory, as a user would."""
        with (self.logs / f"{log}.log").open("ab") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"source flower.env && exec {command}"],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        self.started.append(process)
        return process

    def flwr(self, arguments: str) -> Any:
        """Runs a command of Flower's to its end and returns what it prints, read as JSON."""
        done = subprocess.run(
            ["bash", "-c", f"source flower.env && flwr {arguments} --format json"],
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

    def finish(self, run: str, experiment: Experiment, directory: Path) -> None:
        """Waits for the end of a run, which must be a good one."""
        asked = time.monotonic()

        def at_the_end() -> bool:
            nonlocal asked
            if time.monotonic() < asked + 20:  # Flower's commands take seconds of a processor
                return len(rounds(directory)) == experiment.epochs
            asked = time.monotonic()
            return self.status(run).startswith("finished")

        self.wait(at_the_end, "the last round")
        self.wait(lambda: self.status(run).startswith("finished"), "the end of the run")
        assert self.status(run) == "finished:completed", self.flwr(f"list {self.connection} --run-id {run}")

    def status(self, run: str) -> str:
        """Returns how a run stands, as in 'finished:completed'."""
        (found,) = (one for one in self.flwr(f"list {self.connection}")["runs"] if one["run-id"] == run)
        return str(found["status"])

    def documented(self, beginning: str) -> str:
        """Returns a command of the README by its first words."""
        text = (self.home / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
        (command,) = re.findall(rf"^(?:.*; do )?({re.escape(beginning)}[^\n]*?)(?:; done)?$", text, re.MULTILINE)
        return str(command)

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
        while pids := marked(self.mark):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for process in self.started:
            process.wait()


class RealFederation(App):
    """The app on a SuperLink and three SuperNodes, with TLS and node authentication."""

    connection = "loopback"
    nodes = 3
    warm = 2
    """The node whose messages are answered by a process that is kept warm."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.port = free_port()
        config = self.home / ".flwr" / "config.toml"
        config.write_text(config.read_text().replace(":8000", f":{self.port}"))
        self.gates = root / "gates"
        self.gates.mkdir()
        with (self.package / "client.py").open("a") as file:
            file.write(HELD_CLIENT.format(gates=str(self.gates)))
        make_keys(self.home / "keys", self.nodes)

    def open(self) -> None:
        """Starts the SuperLink, registers the nodes and starts them."""
        self.start_link()
        registering = [self.start(self._register(number), "register") for number in range(self.nodes)]
        assert [one.wait(DEADLINE) for one in registering] == [0] * self.nodes
        for number in range(self.nodes):
            self.start_node(number)
        self.wait(lambda: len(self.online()) == self.nodes, "all nodes online")

    def start_link(self) -> None:
        command = self.documented("flower-superlink").replace("--port 8000", f"--port {self.port}")
        self.lasting["superlink"] = self.start(command, "superlink")
        self.wait(lambda: "Uvicorn running" in (self.logs / "superlink.log").read_text(), "the SuperLink's start")

    def kill_link(self) -> None:
        (self.logs / "superlink.log").rename(self.logs / "superlink-killed.log")
        link = self.lasting.pop("superlink")
        link.kill()
        link.wait()
        # Its server app may not notice until the SuperLink is back; it goes too, as if the machine had gone down.
        for pid in marked(self.mark, "flwr-serverapp"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait(lambda: not marked(self.mark, "flwr-serverapp"), "the server app's end")

    def start_node(self, number: int) -> None:
        command = self.documented(f"fallow flower node keys/node-0{number}")
        warm = " --warm" if number == self.warm else ""
        self.lasting[command] = self.start(f"{command}{warm} --superlink 127.0.0.1:{self.port}", f"node-{number}")

    def kill_node(self, number: int) -> None:
        """Kills a SuperNode with all that belongs to it, but not who watches over it."""
        (pid,) = marked(self.mark, "flower-supernode", f"keys/node-0{number}")
        os.killpg(pid, signal.SIGKILL)

    def online(self) -> set[str]:
        return {node["node-id"] for node in self.flwr("supernode list loopback")["nodes"] if node["status"] == "online"}

    def begin(self, experiment: Experiment, directory: Path) -> str:
        """Starts a run of an experiment; returns its number."""
        (self.package / "experiment.toml").write_text(experiment.to_toml())
        command = self.documented("flwr run . loopback").removeprefix("flwr ").replace("--stream", "")
        command = command.replace("min-nodes=3", f"min-nodes=3 patience=300.0 directory='{directory}'")
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
        return self.documented("flwr supernode register").replace("$key", f"keys/node-0{number}.pub")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


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
