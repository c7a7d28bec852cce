"""A side as the runner sees it: a process with a pipe, stopped while it is not its turn."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from peers.environments import FOLDER, ROOT, reason
from peers.memory import MARK, Watch
from peers.turns import Setup

QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_HOME": str(FOLDER / "flwr"), "RAY_USAGE_STATS_ENABLED": "0"}
"""Nobody phones home, nor writes there."""

PATIENCE_SECONDS = 900.0
"""The longest start and the longest round."""


class PlayerError(Exception):
    """A side could not go on; the message is the reason."""


@dataclass
class Player:
    """A process that makes rounds.

    Attributes:
        title: What it is called in the table.
        name: The module in ``peers`` that plays it.
        setup: How it spreads its work.
        workload: The name of the workload.
        python: The Python that runs it.
        log: The file with what it prints.
        start_seconds: From the start of the process until it was ready.
        versions: The versions of its packages.
        seconds: What each round took.
    """

    title: str
    name: str
    setup: Setup
    workload: str
    python: Path
    log: Path
    start_seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mark = f"{os.getpid()}-{self.workload}-{self.name}-{self.setup.processes}"
        self.watch = Watch(self.mark)
        self._pipe, self._there = Pipe()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process and waits until it is ready.

        Raises:
            PlayerError: It ended, or took too long.
        """
        numbers = (self.setup.processes, self.setup.threads, self.setup.rounds, self._there.fileno())
        path = os.pathsep.join([str(ROOT / "benchmarks"), str(ROOT / "src")])
        begin = time.perf_counter()
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(self.python), "-m", "peers", self.name, self.workload, *map(str, numbers)],
                env={**os.environ, **QUIET, "PYTHONPATH": path, MARK: self.mark},
                cwd=ROOT / "benchmarks",
                pass_fds=[self._there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._there.close()
        with self.watch:
            self.versions = json.loads(self._hear())
            self.start_seconds = time.perf_counter() - begin
        self._signal(signal.SIGSTOP)

    def round(self, number: int) -> float:
        """Makes a round and returns its seconds.

        The process runs only during its rounds: Flower's simulation, for one, asks its nodes for messages all the time.

        Raises:
            PlayerError: It ended, or took too long.
        """
        self._signal(signal.SIGCONT)
        seconds = float(json.loads(self._hear(json.dumps(number).encode())))
        self._signal(signal.SIGSTOP)
        return seconds

    def weights(self) -> NDArray[np.float32]:
        """Returns the weights after the last round, shape (P,), float32, and lets the process end.

        Raises:
            PlayerError: It ended, or took too long.
        """
        self._signal(signal.SIGCONT)
        return np.frombuffer(self._hear(), dtype=np.float32)

    def close(self) -> None:
        """Ends the process, if it has begun and not ended."""
        self._pipe.close()
        self._there.close()
        self._signal(signal.SIGCONT)
        if self._process:
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(number)

    def _hear(self, question: bytes = b"") -> bytes:
        """Returns what the side says, after a question if there is one."""
        end = time.perf_counter() + PATIENCE_SECONDS
        try:
            if question:
                self._pipe.send_bytes(question)
            while not self._pipe.poll(0.5):
                if self._process and self._process.poll() is not None:
                    raise PlayerError(self._last_words())
                if time.perf_counter() > end:
                    raise PlayerError(f"no answer in {PATIENCE_SECONDS:.0f} seconds")
            return self._pipe.recv_bytes()
        except (EOFError, OSError):  # its end of the pipe is closed: what it prints follows
            self.close()
            raise PlayerError(self._last_words()) from None

    def _last_words(self) -> str:
        return f"{reason(self.log.read_text(encoding='utf-8', errors='replace'))} (all of it: {self.log})"


def attempt(players: list[Player], act: Callable[[Player], None]) -> list[Player]:
    """Has each player do something, and returns those that could; says why the others could not, and closes them."""
    able = []
    for player in players:
        try:
            act(player)
            able.append(player)
        except PlayerError as error:
            print(f"{player.title}, {player.setup}, is left out: {error}", flush=True)
            player.close()
    return able
