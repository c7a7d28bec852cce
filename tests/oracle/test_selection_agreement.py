"""Every selection rule and its scalar transcription choose the same clients, over views of every kind."""

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fallow.policies import POLICIES, EpochView, Known
from tests.oracle.selection import ROWS, RULES, Seen, first_memory

EPOCHS = 45  # past two stretches of Oort's pacer

CHOICES: dict[str, dict[str, list[Any]]] = {
    "oort": {"exploration": [0.9, 0.3, 0.0], "decay": [0.98, 0.5], "penalty": [2.0, 0.0, 1.3], "pace": [20, 3]},
    "eafl": {"energy_weight": [0.75, 0.0, 1.0], "decay": [0.98, 0.5], "pace": [20, 3]},
    "power-of-choice": {"d": [1, 4, 20], "variant": ["pow-d", "rpow-d"]},
    "fedzero": {"alpha": [1.0, 0.2], "exclusion": [1.0, 0.5, 0.0], "forecast_epochs": [1, 4]},
    "guler-yener": {"scale": ["relative", "absolute"]},
    "cycp": {"groups": [1, 2, 5]},
    "battery-weighted": {"exponent": [2.0, 0.0], "least": [0.2, 0.0, 1.0]},
    "label-balanced": {"pool": [1, 3, 12], "by": ["moments", "labels"]},
    "foresight": {"horizon": [1, 5]},
}
DEFAULTS: dict[str, Any] = {"least_exploration": 0.3, "exploration": 0.9, "penalty": 2.0}


@dataclass
class Past:
    """What a run remembers of its clients."""

    deliveries: np.ndarray
    last_delivered: np.ndarray
    loss: np.ndarray


def some_view(dice: random.Random, epoch: int, clients: int, horizon: int, past: Past, known: bool) -> EpochView:
    """A view of an epoch's first slot; much is equal among clients, much is unknown, and forecasts may lie."""
    world = np.random.default_rng(dice.randrange(2**32))
    busy = world.random(clients) < 0.2
    capacity = world.choice([10, 25], clients)
    delivered = world.random(clients) < 0.4
    past.deliveries += delivered
    past.last_delivered[delivered] = max(epoch - 1, 0)
    past.loss[delivered] = world.choice([0.3, 0.7, 2.0, np.inf, np.nan], clients)[delivered]
    forecast = world.exponential(4, (clients, horizon)).round(1)
    forecast[world.random(forecast.shape) < 0.1] = np.nan
    forecast[world.random(forecast.shape) < 0.1] = -5.0
    mix = world.dirichlet(np.full(3, 0.2), clients)
    mix[world.random(clients) < 0.1] = 0.0
    moments = np.where(world.random((clients, 1)) < 0.3, np.nan, np.eye(3)[world.integers(0, 3, clients)])
    unknown = np.full(clients, np.nan, dtype=np.float32)
    return EpochView(
        epoch=epoch,
        clients=clients,
        slots_per_epoch=dice.choice([1, 8, 30]),
        battery=(world.integers(0, 26, clients) * (world.random() < 0.9)).clip(0, capacity).astype(np.int32),
        capacity=capacity.astype(np.int32),
        train_cost=world.choice([3, 9], clients).astype(np.int32),
        transmit_cost=world.choice([0, 1], clients).astype(np.int32),
        train_slots=world.choice([2, 9], clients).astype(np.int32),
        transmit_slots=world.choice([1, 3], clients).astype(np.int32),
        training=busy & (world.random(clients) < 0.5),
        unsent=busy & (world.random(clients) < 0.5),
        distance=unknown,
        delivered=delivered,
        known=Known(
            probe_loss=world.choice([0.1, 0.5, np.nan], clients).astype(np.float32) if known else unknown,
            training_loss=past.loss.astype(np.float32) if known else unknown,
            data_size=world.choice([0, 40, 300], clients) if known else np.ones(clients, dtype=np.int64),
            selections=past.deliveries.astype(np.int32),
            deliveries=past.deliveries.astype(np.int32),
            last_selected=past.last_delivered.astype(np.int32),
            last_delivered=past.last_delivered.astype(np.int32),
            last_staleness=np.minimum(past.last_delivered, 0).astype(np.int32),
            mean_harvest=world.choice([0.0, 0.01, 0.3, 1.0], clients),
            forecast=forecast,
            label_mix=mix if known else np.full((clients, 1), np.nan),
            moments=(moments if known else np.full((clients, 1), np.nan)).astype(np.float32),
        ),
    )


def as_seen(view: EpochView) -> Seen:
    def plain(values: np.ndarray) -> Any:
        if values.ndim == 2:
            return [plain(row) for row in values]
        return [None if isinstance(value, float) and math.isnan(value) else value for value in values.tolist()]

    fields = [name for name in Seen.__dataclass_fields__ if name not in ("epoch", "slots_per_epoch")]
    arrays = {name: plain(getattr(view, name)) for name in fields}
    return Seen(epoch=view.epoch, slots_per_epoch=view.slots_per_epoch, **arrays)


def some_options(name: str, dice: random.Random, clients: int) -> dict[str, Any]:
    options = {option: dice.choice(values) for option, values in CHOICES[name].items()}
    return options if name == "guler-yener" else options | {"k": dice.randint(1, clients)}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(12))
def test_policy_and_transcription_choose_the_same(name: str, seed: int) -> None:
    dice = random.Random(f"{name} {seed}")  # noqa: S311
    clients = dice.choice([1, 2, 5, 13, 40])
    options = some_options(name, dice, clients)
    policy = POLICIES[name](**options)
    state, memory = policy.init(clients), first_memory(name, DEFAULTS | options)
    past = Past(np.zeros(clients, dtype=int), np.full(clients, -1), np.full(clients, np.nan))
    horizon, known = options.get("forecast_epochs", options.get("horizon", 1)), seed % 4 != 3
    for epoch in range(EPOCHS):
        view = some_view(dice, epoch, clients, horizon, past, known)
        numbers = np.random.default_rng([seed, epoch]).random((ROWS.get(name, 1), clients)).tolist()
        state, mask = policy.select(state, view, np.random.default_rng([seed, epoch]))
        memory, chosen = RULES[name](DEFAULTS | options, memory, as_seen(view), numbers)
        assert np.flatnonzero(mask).tolist() == sorted(chosen), (epoch, options)
        assert len(chosen) <= options.get("k", clients)
        if name == "guler-yener":
            weights = list(memory["weight"].values())
            mean = sum(weights) / len(weights) if weights and options["scale"] == "relative" else 1.0
            expected = [memory["weight"].get(i, mean) / mean for i in range(clients)]
            assert policy.importance(state) == pytest.approx(expected)


def test_the_views_reach_every_part_of_the_rules() -> None:
    """Else the agreement above would say little: someone is chosen, and not always as many as there could be."""
    for name in RULES:
        counts = set()
        for seed in range(6):
            dice = random.Random(seed)  # noqa: S311
            past = Past(np.zeros(13, dtype=int), np.full(13, -1), np.full(13, np.nan))
            policy = POLICIES[name](**{"k": 4, "pool": 3} if name == "label-balanced" else {})
            state = policy.init(13)
            for epoch in range(20):
                horizon = 4 if name == "fedzero" else 10
                state, mask = policy.select(
                    state, some_view(dice, epoch, 13, horizon, past, True), np.random.default_rng(epoch)
                )
                counts.add(int(mask.sum()))
        assert max(counts) > 0, name
        assert len(counts) > 1 or name == "power-of-choice", name
