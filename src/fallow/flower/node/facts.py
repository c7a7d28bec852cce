"""What a node knows of its own data and network, so that it need not build them to answer. Needs no PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fallow.flower.wire.arrays import Named
from fallow.models.weights import Weights

if TYPE_CHECKING:  # PyTorch comes with it
    from fallow.flower.node.client_task import ClientTask


@dataclass(frozen=True, eq=False)
class Facts:
    """What a node remembers of its own data and network.

    Attributes:
        run: Flower's run in which they were looked up; in another one they are looked up again.
        data_size: |D_i|.
        label_mix: The share of each class in its samples, shape (K,), float64.
        feature_size: F, the numbers in the feature of one sample.
        shapes: The shape of each of the network's parameters and statistics, by name, in the order of the flat vector.
        kept_from: Where in that vector the statistics begin that the client keeps to itself; None if it keeps none.
    """

    run: int
    data_size: int
    label_mix: NDArray[np.float64]
    feature_size: int
    shapes: dict[str, tuple[int, ...]]
    kept_from: int | None

    @property
    def layout(self) -> Named:
        """A model of zeros that takes no room: for the order, shapes and types of the parameters."""
        zero = np.zeros((), dtype=np.float32)
        return {name: np.broadcast_to(zero, shape) for name, shape in self.shapes.items()}

    def statistics(self, weights: Weights) -> Weights | None:
        """Returns the running statistics that the client keeps of a training's result; None if it keeps none.

        Args:
            weights: The result, shape (P,), float32.
        """
        return None if self.kept_from is None else weights[self.kept_from :].copy()


class TaskOnDemand:
    """A task that is built when it is first needed.

    Attributes:
        run: Flower's run.
    """

    def __init__(self, given: "ClientTask | Callable[[], ClientTask]", run: int) -> None:
        self._given, self.run = given, run

    @cached_property
    def task(self) -> "ClientTask":
        """What the node learns, with its data and its network."""
        return self._given() if callable(self._given) else self._given

    @property
    def was_built(self) -> bool:
        """Whether the task was made on demand."""
        return callable(self._given) and "task" in vars(self)

    def facts(self, remembered: Callable[[], Facts | None]) -> Facts:
        """Returns what the node sees of its data and network if they are there, or else remembers from the same run.

        Args:
            remembered: Reads what is on its disk, which may be nothing.
        """
        known = remembered() if callable(self._given) and not self.was_built else None
        return known if known is not None and known.run == self.run else self._own_facts

    @cached_property
    def _own_facts(self) -> Facts:
        return self.task.facts(self.run)
