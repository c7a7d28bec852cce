"""Views made by hand, for tests of what a policy chooses."""

from typing import Any

import numpy as np

from fallow.policies import EpochView, Known, SlotView

TYPES: dict[str, Any] = {
    "probe_loss": np.float32,
    "training_loss": np.float32,
    "data_size": np.int64,
    "mean_harvest": np.float64,
    "forecast": np.float64,
    "label_mix": np.float64,
    "moments": np.float32,
}


def view(
    clients: int = 4,
    *,
    epoch: int = 0,
    slots: int = 30,
    battery=None,
    distance=None,
    delivered=None,
    training=None,
    unsent=None,
    **known: Any,
) -> EpochView:
    """A view with κ = 20, an upload of 1 and a capacity of 25; what else is known by name, as lists."""

    def flags(given: list[bool] | None) -> np.ndarray:
        return np.array(given if given is not None else [False] * clients)

    return EpochView(
        epoch=epoch,
        clients=clients,
        slots_per_epoch=slots,
        battery=np.array(battery if battery is not None else [0] * clients, dtype=np.int32),
        capacity=np.full(clients, 25, dtype=np.int32),
        train_cost=np.full(clients, 20, dtype=np.int32),
        transmit_cost=np.ones(clients, dtype=np.int32),
        train_slots=np.full(clients, 20, dtype=np.int32),
        transmit_slots=np.ones(clients, dtype=np.int32),
        training=flags(training),
        unsent=flags(unsent),
        distance=np.array(distance if distance is not None else [1.0] * clients, dtype=np.float32),
        delivered=flags(delivered),
        known=Known(**{name: np.array(values, dtype=TYPES.get(name, np.int32)) for name, values in known.items()}),
    )


def slot_view(slot: int, ready: np.ndarray, battery: int = 25) -> SlotView:
    """A slot of an epoch of 30, with κ = 20."""
    level = np.full(ready.size, battery, dtype=np.int32)
    cost, one = np.full(ready.size, 20, dtype=np.int32), np.ones(ready.size, dtype=np.int32)
    return SlotView(slot, level, ready, 30, cost, one, cost, one)


def rng(seed: int = 0) -> np.random.Generator:
    """A generator."""
    return np.random.default_rng(seed)


def chosen(mask: np.ndarray) -> list[int]:
    """The clients of a mask."""
    return np.flatnonzero(mask).tolist()


def frequency(policy, seen: EpochView, draws: int = 4000) -> np.ndarray:
    """How often each client is chosen in the first epoch of as many runs, as a share."""
    state = policy.init(seen.clients)
    return sum(policy.select(state, seen, rng(seed))[1].astype(int) for seed in range(draws)) / draws
