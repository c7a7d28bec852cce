"""Asking a policy, which may be anyone's code: whatever it does wrong is said in a sentence."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError, PolicyError
from fallow.plugins.calls import RAISED, failure
from fallow.policies import (
    AnyPolicy,
    EpochView,
    Mask,
    Reserving,
    Starter,
    checked_answer,
    checked_selection,
    importances,
    most_selected,
)
from fallow.simulation.world import StartHook
from fallow.state import to_arrays


class AskedPolicy:
    """A policy and its memory, which goes into every question and comes back with the answer.

    Attributes:
        policy: The policy.
        name: What its errors call it.
        first: The memory that its init returned.
        memory: The memory now.
    """

    def __init__(self, policy: AnyPolicy, name: str, clients: int) -> None:
        self.policy, self.name, self._epoch, self._clients = policy, name, 0, clients
        self.first: Any = self._call("init", policy.init, clients)
        self.memory: Any = self.first
        to_arrays(self.first)  # what no checkpoint can keep is said before the first epoch
        self._most = most_selected(policy.of if isinstance(policy, Reserving) else policy)
        self._starter: Starter[Any] | None = policy if isinstance(policy, Starter) else None

    def select(self, view: EpochView, rng: np.random.Generator) -> Mask:
        """Returns the participants of an epoch, checked.

        Args:
            view: What the policy may see.
            rng: Of the policy's draws in this epoch.

        Returns:
            Shape (N,), bool.
        """
        self._epoch = view.epoch
        mask = self._ask("select", self.policy.select, view, rng)
        return checked_selection(mask, self._clients, self._most)

    @property
    def start(self) -> StartHook | None:
        """The policy's `start`; None for a policy without one."""
        return partial(self._ask, "start", self._starter.start) if self._starter else None

    def importance(self) -> NDArray[np.float64]:
        """Returns how much each client's update counts, shape (N,), float64; 1 for a policy that does not say."""
        factors: NDArray[np.float64] = self._call("importance", importances, self.policy, self.memory, self._clients)
        return factors

    def _ask(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a hook, keeps the memory that it returns, and returns its mask."""
        self.memory, mask = checked_answer(self._call(hook, function, self.memory, *arguments), hook)
        return mask

    def _call(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a method of the policy; if it raises, says what, and where."""
        try:
            return function(*arguments)
        except FallowError:
            raise
        except RAISED as error:
            part, when = f"The policy '{self.name}'", f"{hook}, epoch {self._epoch}"
            raise PolicyError(failure(part, when, error, function)) from error
