"""Threads that run networks, each with a replica of its own and one thread inside the operations.

One thread inside, because the number of threads that share a sum changes its last bits. So a result depends on the
items that the work was cut into, never on how many workers there are.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import torch

from fallow.learning.network import Network
from fallow.processors import available_processors

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """A pool of threads. PyTorch lets go of Python's lock inside its operations, so threads share data and scale.

    Attributes:
        network: What the workers have replicas of.
        count: How many there are.
    """

    def __init__(self, network: Network, count: int = 0) -> None:
        """Starts the pool; a count of 0 is one worker for each processor that this program may use."""
        self.network = network
        self.count = count or available_processors()
        self._own = threading.local()
        # The threads know the network and nothing of the pool: they end when nobody has the pool any more.
        self._pool = ThreadPoolExecutor(self.count, "fallow-worker", _begin, (network, self._own))

    def map(self, task: Callable[[Network, Item], Result], items: Iterable[Item]) -> list[Result]:
        """Returns task(network, item) for each item, in the order of the items."""
        return list(self._pool.map(lambda item: task(self._own.network, item), items))

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _begin(network: Network, own: threading.local) -> None:
    torch.set_num_threads(1)  # of this thread alone
    own.network = network.replica()
