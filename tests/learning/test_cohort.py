"""Whole cohorts: both ways give what one client after the other gives, and the number of workers changes no byte."""

import gc
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from torch import nn

from fallow.learning.cohort import choose, stacks, train_cohort
from fallow.learning.layer_chain import chain_layers
from fallow.learning.local import train
from fallow.learning.network import Network, build_network
from fallow.learning.options import SGD, Strategy
from fallow.learning.samples import samples_from_arrays
from fallow.learning.state import Trained
from fallow.learning.training import Training
from fallow.learning.workers import Workers
from fallow.models import MLP, PaperCNN, ResNet18GN, SignalCNN
from tests.learning.worlds import (
    SEED,
    DropsTwice,
    Given,
    cohort,
    digits,
    dropping,
    named,
    normalised,
    padded_row,
    residual,
    small,
)

EVERYTHING = SGD(lr=0.05, momentum=0.9, weight_decay=0.01, proximal=0.1)

NETWORKS: dict[str, Callable[[], Network]] = {
    "small": small,
    "small, logits": lambda: small("logits"),
    "small, a layer": lambda: small("features.3"),
    "small, a part": lambda: small("features"),
    "padded": padded_row,
    "padded, a layer": lambda: padded_row("0.0"),
    "residual": residual,
    "residual, a layer": lambda: residual("inner"),
    "vectors": lambda: named(MLP(hidden=(8,)), (12,)),
    "images as vectors": lambda: named(MLP(hidden=(8, 6))),
    "signals": lambda: named(SignalCNN(width=0.25), (3, 16), "features.1"),
    "group normalisation": lambda: named(ResNet18GN(width=0.0625)),
    "dropout": dropping,
    "dropout, called twice": lambda: named(Given(DropsTwice())),
    "running statistics": normalised,
    "running statistics, a layer": lambda: normalised("1"),
}


def assert_same(ours: list[Trained], plain: list[Trained], tolerance: float = 1e-5) -> None:
    for own, reference in zip(ours, plain, strict=True):
        assert (own.client, own.slot, own.diverged_at) == (reference.client, reference.slot, reference.diverged_at)
        np.testing.assert_allclose(own.weights, reference.weights, rtol=1e-5, atol=tolerance)
        np.testing.assert_allclose(own.moment, reference.moment, atol=tolerance)
        assert own.loss == pytest.approx(reference.loss, rel=1e-5)


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
@pytest.mark.parametrize("name", NETWORKS)
def test_both_ways_agree_with_one_client_after_the_other(name: str, strategy: Strategy) -> None:
    network = NETWORKS[name]()
    trainings = cohort(5, least_batch=network.least_batch)
    samples = digits(5, network.input_shape)
    weights = network.weights()
    plain = [train(network.replica(), weights, training, samples, EVERYTHING) for training in trainings]
    with Workers(network, 2) as workers:
        assert_same(train_cohort(workers, strategy, weights, trainings, samples, EVERYTHING), plain)


@pytest.mark.parametrize("name", ["small", "dropout", "running statistics"])
@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_one_two_and_four_workers_give_the_same_bytes(strategy: Strategy, name: str) -> None:
    network, samples, trainings = NETWORKS[name](), digits(60), cohort(60, least_batch=2)
    results = []
    for count in (1, 2, 4):
        with Workers(network, count) as workers:
            results.append(train_cohort(workers, strategy, network.weights(), trainings, samples, EVERYTHING))
    for other in results[1:]:
        for own, reference in zip(other, results[0], strict=True):
            assert own.weights.tobytes() == reference.weights.tobytes()
            assert own.moment.tobytes() == reference.moment.tobytes()
            assert own.loss == reference.loss


def test_the_papers_network_gives_the_same_bytes_with_any_number_of_workers() -> None:
    network = build_network(PaperCNN(width=0.25), (3, 32, 32), 10, SEED)
    samples, trainings = digits(4, (3, 32, 32)), cohort(4)
    results = []
    for count in (1, 2, 4):
        with Workers(network, count) as workers:
            results.append(train_cohort(workers, "spread", network.weights(), trainings, samples, SGD()))
    assert len({tuple(own.weights.tobytes() for own in result) for result in results}) == 1


def test_clients_with_unequal_batches_and_equal_data_are_stacked_with_their_likes() -> None:
    network, samples = small(), digits(6)
    trainings = [replace(t, batch_size=3 + t.client // 2) for t in cohort(6)]
    assert stacks(trainings) == [[0, 1], [2, 3], [4, 5]]
    plain = [train(network.replica(), network.weights(), training, samples, SGD()) for training in trainings]
    with Workers(network, 2) as workers:
        assert_same(train_cohort(workers, "stacked", network.weights(), trainings, samples, SGD()), plain)


@pytest.mark.parametrize("clients", [1, 7, 16, 25, 26, 100, 101, 260])
def test_stacks_hold_every_client_once_and_are_of_even_size(clients: int) -> None:
    order = np.zeros(1, dtype=np.int64)
    parts = stacks([Training(i, 0, order, 1) for i in range(clients)])
    assert sorted(k for part in parts for k in part) == list(range(clients))
    sizes = {len(part) for part in parts}
    assert max(sizes) <= 50
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_a_client_that_diverges_is_named_and_spoils_nobody_else(strategy: Strategy) -> None:
    network = small()
    rng = np.random.default_rng(1)
    images = rng.standard_normal((30, 1, 8, 8)).astype(np.float32)
    trainings = cohort(3)
    images[trainings[1].order[3:6]] = np.inf
    samples = samples_from_arrays(images, rng.integers(0, 10, 30), (0.0,), (1.0,))
    with Workers(network, 2) as workers:
        results = train_cohort(workers, strategy, network.weights(), trainings, samples, SGD())
    assert [result.diverged_at for result in results] == [None, 1, None]
    assert all(np.isfinite(results[k].weights).all() for k in (0, 2))


def test_an_empty_cohort_has_no_results() -> None:
    with Workers(small(), 1) as workers:
        for strategy in ("spread", "stacked"):
            assert train_cohort(workers, strategy, small().weights(), [], digits(1), SGD()) == []


@pytest.mark.parametrize(("batch_size", "chosen"), [(14, "stacked"), (15, "spread")])
def test_clients_with_much_arithmetic_are_trained_side_by_side(batch_size: int, chosen: str) -> None:
    # 2 × (1,000 × 1,000 + 1,000 × 10) = 2.02 million operations a sample: 28.3 million with 14, and 30.3 with 15.
    network = named(MLP(hidden=(1000,)), (1000,))
    assert choose(network, [replace(cohort(1)[0], batch_size=batch_size)]) == chosen


def test_the_mean_size_of_a_batch_decides() -> None:
    network = named(MLP(hidden=(1000,)), (1000,))
    few, many = (replace(cohort(1)[0], batch_size=size) for size in (10, 19))
    assert choose(network, [few, many]) == "stacked"  # 14.5 on average
    assert choose(network, [few, many, many]) == "spread"  # 16


@pytest.mark.parametrize("name", ["small", "dropout", "running statistics"])
def test_bf16_stays_near_fp32_both_ways(name: str) -> None:
    whole = NETWORKS[name]()
    half = Network(deepcopy(whole.module), (1, 8, 8), 10, precision="bf16")
    samples, trainings = digits(3), cohort(3, least_batch=2)
    exact = [train(whole, half.weights(), training, samples, SGD()) for training in trainings]
    with Workers(half, 1) as workers:
        for strategy in ("spread", "stacked"):
            results = train_cohort(workers, strategy, half.weights(), trainings, samples, SGD())
            assert results[0].weights.dtype == np.float32
            assert_close_moves(results, exact, half.weights())


def assert_close_moves(ours: list[Trained], exact: list[Trained], start: np.ndarray) -> None:
    for own, reference in zip(ours, exact, strict=True):
        move, error = reference.weights - start, own.weights - reference.weights
        assert 0 < np.linalg.norm(error) < 0.05 * np.linalg.norm(move)


def test_layers_that_are_not_written_out_are_left_to_the_general_way() -> None:
    twice = nn.Linear(10, 10)
    for module in (
        nn.Sequential(nn.Flatten(), nn.Linear(64, 10), nn.Tanh()),
        nn.Sequential(nn.Flatten(), nn.Linear(64, 10), twice, twice),
        nn.Sequential(nn.Conv2d(1, 4, 3, dilation=2), nn.Flatten(), nn.Linear(64, 10)),
    ):
        assert chain_layers(Network(module, (1, 8, 8), 10)) is None
    assert chain_layers(small()) is not None


def test_threads_end_when_nobody_has_the_workers_any_more() -> None:
    before = set(threading.enumerate())
    workers = Workers(small(), 2)
    workers.map(lambda _network, item: time.sleep(0.05) or item, range(4))
    own = [thread for thread in threading.enumerate() if thread not in before]
    assert [thread.name.startswith("fallow-worker") for thread in own] == [True, True]
    del workers
    gc.collect()
    for thread in own:
        thread.join(30)
    assert not any(thread.is_alive() for thread in own)
