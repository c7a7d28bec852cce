"""How long each kind of work takes."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Adds up the time that is spent in ``with clock("train"):``.

    Attributes:
        seconds: The time spent, by kind of work.

    Examples:
        >>> clock = Clock()
        >>> with clock("train"):
        ...     pass
        >>> clock.seconds["train"] < 1
        True
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, work: str) -> Iterator[None]:
        """Returns a context whose time is added.

        Args:
            work: The kind of work.
        """
        begin = time.perf_counter()
        yield
        self.seconds[work] += time.perf_counter() - begin
