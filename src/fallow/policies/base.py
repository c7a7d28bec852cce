"""What a policy is: hyper-parameters and pure functions, which take its memory and return the next.

A policy proposes and the world decides: ``world.py`` enforces the rules of batteries, running trainings and unsent
updates, and a policy can only narrow them.
"""

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError
from fallow.paper import PAPER_MU
from fallow.plugins.wording import in_words

Mask = NDArray[np.bool_]
"""One bool for each client, shape (N,)."""

State = TypeVar("State")
"""A policy's memory: None, or a frozen dataclass of NumPy arrays and numbers."""


@dataclass(frozen=True)
class EpochView:
    """What a policy sees at the first slot of an epoch, after harvest and uploads. The arrays are read-only.

    Attributes:
        epoch: t, from 0.
        clients: N, the number of clients.
        slots_per_epoch: S, the slots of an epoch.
        battery: Units stored, shape (N,), int32.
        capacity: Units that the battery can store, shape (N,), int32.
        train_cost: κ_i, units and slots of a training, shape (N,), int32.
        transmit_cost: Units of an upload.
        training: Whether a client is in training, shape (N,), bool.
        unsent: Whether a client has a finished update that waits to be sent, shape (N,), bool.
        distance: M_i, shape (N,), float32, if the policy needs it; otherwise NaN for everyone. In an energy-only run
            +inf (significant) or −inf (not); NaN for a client that could not pay for its probe.
        delivered: Whether a client's update was received in the previous epoch, shape (N,), bool.
    """

    epoch: int
    clients: int
    slots_per_epoch: int
    battery: NDArray[np.int32]
    capacity: NDArray[np.int32]
    train_cost: NDArray[np.int32]
    transmit_cost: int
    training: Mask
    unsent: Mask
    distance: NDArray[np.float32]
    delivered: Mask


@dataclass(frozen=True)
class SlotView:
    """What a policy sees in every slot, when trainings may start. The arrays are read-only.

    Attributes:
        slot_in_epoch: The slot within the epoch, from 0 to S−1.
        battery: Units stored, shape (N,), int32.
        ready: Whether the world would let a client start now (selected, idle, nothing unsent, enough energy),
            shape (N,), bool.
    """

    slot_in_epoch: int
    battery: NDArray[np.int32]
    ready: Mask


Distance = Literal["none", "features", "parameters"]
"""What a policy compares of two models: nothing, features of the client's data (Eq. 5), or all parameters (Eq. 2)."""


@dataclass(frozen=True)
class Needs:
    """What a policy needs beyond batteries. What is not declared is not computed, and not paid for.

    Attributes:
        distance: Which distance `EpochView.distance` holds. The clients pay for the probe, if it has a cost.
        threshold: The distance from which the policy calls a change significant.
        ideal: Whether the policy is a bound that ignores time and energy: every client that it selects trains and
            delivers in the same epoch, at no cost.

    Raises:
        PolicyError: The distance is unknown, or the threshold is negative.
    """

    distance: Distance = "none"
    threshold: float = PAPER_MU
    ideal: bool = False

    def __post_init__(self) -> None:
        if self.distance not in get_args(Distance):
            raise PolicyError(
                f"The policy needs the distance {self.distance!r}; it can be one of {', '.join(get_args(Distance))}."
            )
        if not self.threshold >= 0:
            raise PolicyError(f"The policy needs the threshold {self.threshold}; it must be 0 or more.")


@runtime_checkable
class Needy(Protocol):
    """A policy that declares what it needs beyond batteries. A policy without `needs` has those of ``Needs()``."""

    @property
    def needs(self) -> Needs:
        """What is computed for the policy."""
        ...


def needs_of(policy: object) -> Needs:
    """Returns what a policy declares that it needs; a policy that declares nothing needs nothing beyond batteries.

    Args:
        policy: Any policy.

    Raises:
        PolicyError: The policy's `needs` raises an error, or is no `Needs`.

    Examples:
        >>> from fallow.policies import FedAvg, VAoI
        >>> needs_of(VAoI(mu=0.3))
        Needs(distance='features', threshold=0.3, ideal=False)
        >>> needs_of(FedAvg()).distance
        'none'
    """
    try:
        needs = policy.needs if isinstance(policy, Needy) else Needs()
    except PolicyError:
        raise
    except Exception as error:  # a user's code may raise anything
        raise PolicyError(f"The policy's needs raised {in_words(error)}.") from error
    if not isinstance(needs, Needs):
        raise PolicyError(f"The policy's needs are a {type(needs).__name__}; they must be a fallow.policies.Needs.")
    return needs


class Policy(Protocol[State]):
    """Decides who trains. A frozen dataclass whose fields are its options.

    Optional are a property ``needs``, for a policy that needs more than batteries (see `Needs`), and a method ``start``
    (see `Starter`).
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


AnyPolicy = Policy[Any]


def checked_mask(mask: object, clients: int, hook: str) -> Mask:
    """Returns `mask`, after a check that it is one bool for each client.

    Args:
        mask: What a policy's method returned.
        clients: N.
        hook: The name of the method, for the error sentence.

    Raises:
        PolicyError: `mask` is no NumPy array of shape (N,), bool.
    """
    if not isinstance(mask, np.ndarray):
        raise PolicyError(f"The policy's {hook} returned a {type(mask).__name__}; it must return a NumPy array.")
    if mask.dtype != np.bool_ or mask.shape != (clients,):
        raise PolicyError(
            f"The policy's {hook} returned an array of shape {mask.shape} and type {mask.dtype}; it must return one "
            f"bool for each client, shape ({clients},)."
        )
    return mask
