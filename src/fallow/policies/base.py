"""What a policy is: hyper-parameters and pure functions; its memory goes in and comes out.

A policy proposes and the world disposes: battery, busy and pending rules are enforced in ``world.py``, and a policy
can only narrow them.
"""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError

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
        distance: M_i, shape (N,), float32. In an energy-only run +inf (significant) or −inf (not); NaN for a
            client that could not pay for its probe.
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


class Policy(Protocol[State]):
    """Decides who trains. A frozen dataclass whose fields are its options.

    May be added: ``probes = True`` for a policy that reads `distance` (its clients pay for the probe, where it has a
    price), ``distance = "parameters"`` for one that wants the distance between whole models (Eq. 2), ``ideal = True``
    for a bound that ignores time and energy, and a method ``start`` (see `Starter`).
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
