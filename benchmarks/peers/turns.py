"""What the runner and a side say to each other: JSON over a pipe, and the last weights as bytes.

The side says that it is ready; the runner names a round; the side answers with its seconds; and so on. Frameworks that
own their loop wait in a callback between two rounds.
"""

import json
import os
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Setup:
    """How a side spreads its work.

    Attributes:
        processes: Processes that train.
        threads: Threads of PyTorch in each.
        rounds: How many rounds there will be.
    """

    processes: int
    threads: int
    rounds: int

    def __str__(self) -> str:
        """Returns the set-up in words."""
        processes = f"{self.processes} process" + "es" * (self.processes > 1)
        return f"{processes} of {self.threads} thread" + "s" * (self.threads > 1)


class Turns:
    """The side's end of the pipe."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # else a daemon of the side keeps the pipe open after it
        self._pipe = Connection(descriptor)

    def ready(self, *packages: str) -> None:
        """Says that the first round may begin, and which versions of its packages will make it."""
        self._say({package: version(package) for package in packages})

    def wait(self) -> int:
        """Returns the number of the round to make, when it is this side's turn.

        Raises:
            EOFError: The runner has ended.
        """
        number = json.loads(self._pipe.recv_bytes())
        assert isinstance(number, int)
        return number

    def done(self, seconds: float) -> None:
        """Says how long the round took."""
        self._say(seconds)

    def finish(self, weights: NDArray[np.float32]) -> None:
        """Sends the weights after the last round, shape (P,), float32."""
        self._pipe.send_bytes(np.ascontiguousarray(weights, dtype=np.float32).tobytes())

    def _say(self, what: object) -> None:
        self._pipe.send_bytes(json.dumps(what).encode())
