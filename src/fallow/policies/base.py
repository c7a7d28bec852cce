"""What a policy is: hyper-parameters and pure functions; its memory goes in and comes out.

A policy proposes and the world disposes: battery, busy and pending rules are enforced in ``world.py``, and a policy
can only narrow them.
"""

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError
from fallow.paper import PAPER_MU
from fallow.plugins.wording import in_words

Mask = NDArray[np.bool_]

State = TypeVar("State")
"""A policy's memory: None, or a frozen dataclass of NumPy arrays and numbers."""


@dataclass(frozen=True)
class EpochView:
    """What a policy sees at the first slot of an epoch, after harvest and uploads. The arrays are read-only.

    Attributes:
        epoch: t, from 0.
        clients: N.
        slots_per_epoch: S.
        battery: Units stored, shape (N,), int32.
        capacity: Units that the battery holds, shape (N,), int32.
        train_cost: κ_i, units and slots of a training, shape (N,), int32.
        transmit_cost: Units an upload costs.
        training: In training, shape (N,), bool.
        unsent: With a finished update that waits to be sent, shape (N,), bool.
        distance: M_i, shape (N,), float32, if the policy needs it; else NaN for everyone. In an energy-only run +inf
            (significant) or −inf (not); NaN for a client that could not pay for its probe.
        delivered: Clients whose update was received in the epoch before, shape (N,), bool.
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
        slot_in_epoch: From 0 to S−1.
        battery: Units stored, shape (N,), int32.
        ready: Clients that the world would let start now (selected, idle, nothing unsent, enough energy),
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
        distance: Which distance `EpochView.distance` holds; its clients pay for the probe, where it has a price.
        threshold: The distance from which the policy calls a change significant.
        ideal: Whether the policy is a bound that sets time and energy aside: whom it selects trains and delivers in
            every epoch, at no cost.
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
    """A policy that needs more than batteries, and says so; one without `needs` has those of ``Needs()``."""

    @property
    def needs(self) -> Needs:
        """What is computed for it."""
        ...


def needs_of(policy: object) -> Needs:
    """Returns what a policy declares that it needs; one that declares nothing needs nothing beyond batteries."""
    try:
        needs = policy.needs if isinstance(policy, Needy) else Needs()
    except PolicyError:
        raise
    except Exception as error:  # anyone's code
        raise PolicyError(f"The policy's needs raised {in_words(error)}.") from error
    if not isinstance(needs, Needs):
        raise PolicyError(f"The policy's needs are a {type(needs).__name__}; they must be a fallow.policies.Needs.")
    return needs


class Policy(Protocol[State]):
    """Decides who trains. A frozen dataclass whose fields are its options.

    May be added: `needs`, for a policy that needs more than batteries (see `Needs`), and a method ``start`` (see
    `Starter`).
    """

    def init(self, clients: int) -> State:
        """Returns the memory before the first epoch."""
        ...

    def select(self, state: State, view: EpochView, rng: np.random.Generator) -> tuple[State, Mask]:
        """Chooses the participants of an epoch (Alg. 1, line 13): shape (N,), bool."""
        ...


@runtime_checkable
class Starter(Protocol[State]):
    """A policy that also decides, slot by slot, which of the ready clients start (Alg. 1, line 15)."""

    def start(self, state: State, view: SlotView) -> tuple[State, Mask]:
        """Chooses among `view.ready`: shape (N,), bool. Without this method every ready client starts."""
        ...


AnyPolicy = Policy[Any]


def checked_mask(mask: object, clients: int, hook: str) -> Mask:
    """Returns `mask` if a policy's hook may return it; otherwise says what is wrong with it."""
    if not isinstance(mask, np.ndarray):
        raise PolicyError(f"The policy's {hook} returned a {type(mask).__name__}; it must return a NumPy array.")
    if mask.dtype != np.bool_ or mask.shape != (clients,):
        raise PolicyError(
            f"The policy's {hook} returned an array of shape {mask.shape} and type {mask.dtype}; it must return one "
            f"bool for each client, shape ({clients},)."
        )
    return mask
