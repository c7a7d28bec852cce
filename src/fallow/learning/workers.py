"""Threads that run networks. Each has its own replica, and one thread inside the operations.

One thread inside, because the number of threads that share a sum changes its last bits. So a result depends on how the
work was cut into items, never on the number of workers.
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
    """A pool of threads. PyTorch releases Python's lock inside its operations, so threads run in parallel.

    Attributes:
        network: The network of which each worker has a replica.
        count: The number of workers.
    """

    def __init__(self, network: Network, count: int = 0) -> None:
        """Starts the pool.

        Args:
            network: The network; each worker gets a replica.
            count: The number of workers; 0 is one for each processor that this program may use.
        """
        self.network = network
        self.count = count or available_processors()
        self._local = _Local()
        # The threads refer to no pool, so they end when nothing refers to it any more.
        self._pool = ThreadPoolExecutor(self.count, "fallow-worker")

    def map(self, task: Callable[[Network, Item], Result], items: Iterable[Item]) -> list[Result]:
        """Returns ``task(network, item)`` for each item, in the order of the items.

        Args:
            task: Is called with the replica of the worker and an item.
            items: The pieces of work.
        """
        return list(self._pool.map(lambda item: task(_replica(self.network, self._local), item), items))

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Local(threading.local):
    network: Network | None = None


def _replica(network: Network, local: _Local) -> Network:
    """Returns this thread's replica, made with its first work: what a user's network raises then reaches the caller."""
    if local.network is None:
        torch.set_num_threads(1)  # of this thread alone
        local.network = network.replica()
    return local.network
