"""The engine's learning agrees with Algorithm 1 done by hand, batch by batch, in plain PyTorch."""

import copy
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from fallow.experiment import Experiment
from fallow.learning.probe import probe_batches
from fallow.learning.training import plan_training
from fallow.rng import Purpose, bernoulli, stream
from fallow.simulation.engine import Distances, Engine
from fallow.simulation.epochs import OpenEpoch
from fallow.simulation.world import World
from tests.oracle.learning import Client, client_scores, learn, statistics_of
from tests.oracle.networks import DROPPED, DroppingByHand, batch_normalised


def experiment(strategy: str, **settings) -> Experiment:
    return Experiment.parse(
        {
            "clients": 6,
            "epochs": 12,
            "slots_per_epoch": 7,
            "energy": {"p": 0.8},
            "battery": {"capacity": 12},
            "cost": {"train": [3, 6, 7, 8, 10, 1]},
            "policy": {"k": 4},
            "learning": {"mode": "train", "ages": "always"},
            "data": {"samples_per_client": 25},
            "sgd": {"lr": 0.05},
            "compute": {"strategy": strategy, "workers": 2},
        }
        | settings
    )


EQUAL = {"samples_per_client": 25}
UNEQUAL = {"sizes": [40, 2, 25, 7, 60, 11]}
"""One client with fewer samples than steps, and one without a full last batch."""


@pytest.mark.parametrize("data", [EQUAL, UNEQUAL, {"samples_per_client": 25, "sizes": "lognormal"}])
@pytest.mark.parametrize("policy", ["vaoi", "fedavg"])
@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_distances_and_final_weights_are_those_of_algorithm_1(strategy: str, policy: str, data: dict) -> None:
    chosen = experiment(strategy, policy={"name": policy, "k": 4}, data=data)
    engine = Engine(chosen)
    assert_agrees(engine, copy.deepcopy(engine.learner.task.network.module))


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_dropout_is_that_of_masks_applied_by_hand(strategy: str) -> None:
    chosen = experiment(strategy, model={"name": "tests.oracle.networks:dropping"})
    engine = Engine(chosen)
    plain = DroppingByHand()
    with torch.no_grad():
        for own, given in zip(plain.parameters(), engine.learner.task.network.module.parameters(), strict=True):
            own.copy_(given)

    def draw_masks(client: int, slot: int) -> Callable[[int], list[torch.Tensor]]:
        rng = stream(chosen.seed, Purpose.DROPOUT, slot, client)

        def draw(batch: int) -> list[torch.Tensor]:
            kept = bernoulli(rng, 1 - DROPPED, (1, batch * 12)).reshape(batch, 12)
            return [torch.tensor(np.where(kept, 1 / (1 - DROPPED), 0.0), dtype=torch.float32)]

        return draw

    assert_agrees(engine, plain, draw_masks)


@pytest.mark.parametrize("keep_local", [False, True])
@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_batch_normalisation_is_that_of_plain_pytorch(strategy: str, keep_local: bool) -> None:
    model = {"name": "tests.oracle.networks:batch_normalised", "keep_local": keep_local}
    engine = Engine(experiment(strategy, model=model))
    plain = batch_normalised((1, 8, 8), 10)
    plain.load_state_dict(engine.learner.task.network.module.state_dict(), strict=False)
    assert_agrees(engine, plain, keep_local=keep_local)


def assert_agrees(engine: Engine, first: nn.Module, draw_masks=None, keep_local: bool = False) -> None:
    """Runs the engine, then learns the same by hand from `first`, and compares distances and final weights."""
    chosen = engine.experiment
    task = engine.learner.task
    shards, seed = task.shards, chosen.seed
    images, labels = task.train.batch(np.arange(len(task.train)))
    actions: list[list[str]] = []
    counts = np.zeros((2, 6), dtype=int)

    def watch(slot: int, world: World) -> None:
        nonlocal counts
        now = np.array([world.state.starts, world.state.uploads])
        started, uploaded = now - counts
        training = world.training(slot)
        actions.append(
            [
                "upload" if u else "start" if s else "train" if t else "idle"
                for s, u, t in zip(started, uploaded, training, strict=True)
            ]
        )
        counts = now

    found: list[list[float]] = []
    probe = engine._probe

    def kept_probe(opened: OpenEpoch) -> Distances:
        distances = probe(opened)
        found.append(distances.ages.tolist())
        return distances

    engine._probe = kept_probe
    while engine.epoch < chosen.epochs:
        engine.step(watch)

    def draw_batches(client: int, slot: int) -> list[np.ndarray]:
        steps = int(task.steps[client])
        training = plan_training(seed, client, slot, shards[client], steps, least_batch=task.network.least_batch)
        place = {sample: k for k, sample in enumerate(shards[client])}
        return [np.array([place[sample] for sample in batch]) for batch in training.batches()]

    def draw_probe(epoch: int) -> list[np.ndarray]:
        sizes = np.array([math.ceil(len(shard) / kappa) for shard, kappa in zip(shards, task.steps, strict=True)])
        drawn = probe_batches(seed, epoch, shards, sizes)
        return [np.array([{s: k for k, s in enumerate(shards[i])}[x] for x in drawn[i]]) for i in range(6)]

    clients = [Client(images[torch.from_numpy(own)], labels[torch.from_numpy(own)]) for own in shards]
    expected, model = learn(
        first, clients, actions, 7, list(chosen.cost.train), 0.05, draw_batches, draw_probe, draw_masks, keep_local
    )
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert sum(np.isfinite(row).sum() for row in expected) > 30
    final, start = (
        torch.cat([number.detach().reshape(-1) for number in [*own.parameters(), *statistics_of(own).values()]]).numpy()
        for own in (model, first)
    )
    np.testing.assert_allclose(engine.learner.weights, final, atol=5e-5)
    assert np.abs(final - start).max() > 0.01
    losses, accuracies = client_scores(model, clients)
    recorded = engine.learner.evaluate_clients()
    np.testing.assert_allclose(recorded.loss, losses, atol=2e-4)
    assert recorded.accuracy.tolist() == accuracies
    assert len(set(accuracies)) > 2
