"""What a policy is: hyper-parameters and pure functions, which take its memory and return the next.

A policy proposes and the world decides: ``world.py`` enforces the rules of batteries, running trainings and unsent
updates, and a policy can only narrow them.
"""

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError
from fallow.plugins.returned import plain_array
from fallow.policies.needs import Distance, Needs, Needy, needs_of
from fallow.policies.view import EpochView, Known, Mask, SlotView

State = TypeVar("State")
"""A policy's memory: None, or a frozen dataclass of NumPy arrays and numbers."""


Memory = TypeVar("Memory", contravariant=True)
"""The same, where it is only read."""


class Policy(Protocol[State]):
    """Decides who trains. A frozen dataclass whose fields are its options.

    Optional are a property ``needs``, for a policy that needs more than batteries (see `Needs`), and the methods
    ``start`` (see `Starter`) and ``importance`` (see `Weigher`).
    """

    def init(self, clients: int) -> State:
        """Returns the memory before the first epoch.

        Args:
            clients: N.
        """
        ...

    def select(self, state: State, view: EpochView, rng: np.random.Generator) -> tuple[State, Mask]:
        """Returns the memory for the next epoch and the participants of this one (Alg. 1, line 13).

        Args:
            state: The memory. Must not be changed.
            view: What the policy sees.
            rng: The random numbers of this epoch.

        Returns:
            The new memory, and True for the clients that take part, shape (N,), bool.
        """
        ...


@runtime_checkable
class Starter(Protocol[State]):
    """A policy that also decides, slot by slot, which of the ready clients start (Alg. 1, line 15)."""

    def start(self, state: State, view: SlotView) -> tuple[State, Mask]:
        """Returns the memory and the clients that start now. Without this method every ready client starts.

        Args:
            state: The memory. Must not be changed.
            view: What the policy sees in the slot.

        Returns:
            The new memory, and True for the clients that start, shape (N,), bool; only clients of `view.ready` may.
        """
        ...


@runtime_checkable
class Weigher(Protocol[Memory]):
    """A policy that also says how much each client's update counts, such as one that makes a rare client count more."""

    def importance(self, state: Memory) -> NDArray[np.float64]:
        """Returns the factor on the change that each client's update makes, shape (N,), float64; 1 is as usual.

        One number for everyone, shape (), will do.

        Args:
            state: The memory, as it is when updates are combined. Must not be changed.
        """
        ...


AnyPolicy = Policy[Any]


@runtime_checkable
class ChoosesK(Protocol):
    """A policy with an option k."""

    @property
    def k(self) -> int:
        """Most clients that the policy selects in an epoch."""
        ...


def most_selected(policy: AnyPolicy) -> int | None:
    """Returns the most clients that a policy may select, its option k; None for a policy without one."""
    return policy.k if isinstance(policy, ChoosesK) and isinstance(policy.k, int) else None


def checked_answer(answer: object, hook: str) -> tuple[Any, Any]:
    """Returns the memory and the mask that a policy's method returned; the mask is still to be checked.

    Args:
        answer: What the method returned.
        hook: The name of the method, for the error sentence.

    Raises:
        PolicyError: `answer` is no pair.
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise PolicyError(f"The policy's {hook} must return (state, mask), and returned a {type(answer).__name__}.")
    return answer[0], answer[1]


def checked_selection(mask: object, clients: int, most: int | None) -> Mask:
    """Returns a copy of what a policy selected, after a check: one bool for each client, and no more than its k.

    A copy, because the policy may keep its mask, and change it in `start`.

    Args:
        mask: What the policy's `select` returned.
        clients: N.
        most: The policy's k; None is no limit.

    Raises:
        PolicyError: `mask` is no mask, or selects more than k clients.
    """
    selected = checked_mask(mask, clients, "select").copy()
    if most is not None and (chosen := int(np.count_nonzero(selected))) > most:
        raise PolicyError(f"The policy selected {chosen} clients, more than its k = {most}.")
    return selected


def checked_mask(mask: object, clients: int, hook: str) -> Mask:
    """Returns `mask`, after a check that it is one bool for each client.

    Args:
        mask: What a policy's method returned.
        clients: N.
        hook: The name of the method, for the error sentence.

    Raises:
        PolicyError: `mask` is no NumPy array of shape (N,), bool, or a masked one.
    """
    if type(mask) is not np.ndarray:
        if not isinstance(mask, np.ndarray):
            raise PolicyError(f"The policy's {hook} returned a {type(mask).__name__}; it must return a NumPy array.")
        mask = plain_array(f"The mask that the policy's {hook} returned", mask, PolicyError)
    if mask.dtype != np.bool_ or mask.shape != (clients,):
        raise PolicyError(
            f"The policy's {hook} returned an array of shape {mask.shape} and type {mask.dtype}; it must return one "
            f"bool for each client, shape ({clients},)."
        )
    return mask


__all__ = [
    "AnyPolicy",
    "ChoosesK",
    "Distance",
    "EpochView",
    "Known",
    "Mask",
    "Needs",
    "Needy",
    "Policy",
    "SlotView",
    "Starter",
    "State",
    "Weigher",
    "checked_answer",
    "checked_mask",
    "checked_selection",
    "most_selected",
    "needs_of",
]
