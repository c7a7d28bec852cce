"""Cohorts of clients with unequal data: what fills up a batch counts for nothing, and the cut is the cheapest."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fallow.learning.cohort import stacks, train_cohort
from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.ragged import (
    LANE_SAMPLES,
    LANES,
    STEP_SAMPLES,
    WIDTH_DIGITS,
    ragged_stacks,
    rounded_up,
    stack_width,
)
from fallow.learning.samples import samples_from_arrays
from fallow.learning.stacked import train_stacked
from fallow.learning.stacked_memory import Buffers
from fallow.learning.stacked_steps import stacked_steps
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from tests.learning.test_cohort import EVERYTHING, NETWORKS, assert_same
from tests.learning.worlds import SEED, digits, small

SIZES = [10, 1, 7, 4, 9, 3, 10, 2]


def ragged(sizes: list[int] = SIZES, steps: int = 4, least_batch: int = 1) -> list[Training]:
    """Trainings of clients that each have ten samples of their own and use some of them, but at least a batch."""
    shards = [np.arange(10 * i, 10 * i + max(size, least_batch)) for i, size in enumerate(sizes)]
    return [plan_training(SEED, i, 7, shard, steps, least_batch=least_batch) for i, shard in enumerate(shards)]


@pytest.mark.parametrize("name", NETWORKS)
def test_clients_with_unequal_data_agree_with_one_client_after_the_other(name: str) -> None:
    network = NETWORKS[name]()
    samples, trainings = digits(8, network.input_shape), ragged(least_batch=network.least_batch)
    weights = network.weights()
    plain = [train(network.replica(), weights, training, samples, EVERYTHING) for training in trainings]
    with Workers(network, 2) as workers:
        ours = train_cohort(workers, "stacked", weights, trainings, samples, EVERYTHING)
    # Batches of two samples that are nearly alike have small variances, and dividing by them makes rounding larger.
    assert_same(ours, plain, tolerance=1e-4 if network.statistics else 1e-5)
    assert [own.rms_loss for own in ours] == pytest.approx([own.rms_loss for own in plain], rel=1e-5)


@pytest.mark.parametrize("name", ["small", "residual"])
def test_unequal_clients_with_shifted_logits_agree_too(name: str) -> None:
    network, samples = NETWORKS[name](), digits(8)
    shifts = np.random.default_rng(0).normal(size=(8, 10)).astype(np.float32)
    trainings = [replace(training, logit_offset=shifts[training.client]) for training in ragged()]
    weights = network.weights()
    plain = [train(network.replica(), weights, training, samples, EVERYTHING) for training in trainings]
    with Workers(network, 1) as workers:
        assert_same(train_cohort(workers, "stacked", weights, trainings, samples, EVERYTHING), plain)


def test_clients_whose_steps_differ_stop_when_their_own_pass_is_over() -> None:
    # One step, two and four: weight decay and momentum would move those that are done.
    network, samples = small(), digits(3)
    trainings = [replace(t, batch_size=size) for t, size in zip(ragged([10, 9, 8]), (3, 5, 8), strict=True)]
    assert [len(training.batches()) for training in trainings] == [4, 2, 1]
    plain = [train(network.replica(), network.weights(), training, samples, EVERYTHING) for training in trainings]
    assert_same(train_stacked(network, network.weights(), trainings, samples, EVERYTHING), plain)


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_the_number_of_workers_changes_no_byte(strategy) -> None:
    network, samples = small(), digits(60)
    trainings = ragged([1 + (7 * k) % 10 for k in range(60)])
    results = []
    for count in (1, 2, 4):
        with Workers(network, count) as workers:
            results.append(train_cohort(workers, strategy, network.weights(), trainings, samples, SGD()))
    assert len({tuple(own.weights.tobytes() for own in result) for result in results}) == 1
    assert [own.client for own in results[0]] == list(range(60))


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_an_unequal_client_that_diverges_is_named_and_spoils_nobody_else(strategy) -> None:
    network, trainings = small(), ragged([10, 6, 3])
    rng = np.random.default_rng(1)
    images = rng.standard_normal((30, 1, 8, 8)).astype(np.float32)
    images[trainings[1].order[2:4]] = np.inf  # its second batch of two
    samples = samples_from_arrays(images, rng.integers(0, 10, 30), (0.0,), (1.0,))
    with Workers(network, 2) as workers:
        results = train_cohort(workers, strategy, network.weights(), trainings, samples, SGD())
    assert [result.diverged_at for result in results] == [None, 1, None]
    assert all(np.isfinite(results[k].weights).all() for k in (0, 2))


def test_a_smaller_batch_is_filled_up_with_its_own_first_sample_that_counts_for_nothing() -> None:
    trainings = [
        Training(0, 0, np.array([5, 6, 7]), 2),
        Training(1, 0, np.array([9, 8]), 1),
        Training(2, 0, np.array([4]), 3),
    ]
    first, second = stacked_steps(trainings)
    assert first.batch.tolist() == [[5, 6], [9, 9], [4, 4]]
    assert first.share.tolist() == [[0.5, 0.5], [1, 0], [1, 0]]
    assert first.counts.tolist() == [2, 1, 1]
    assert second.batch.tolist() == [[7], [8]]
    assert second.share.tolist() == [[1], [1]]


def test_a_large_batch_takes_several_lanes_and_the_lanes_are_rounded_up() -> None:
    # 18 batches of 4 and one of 10: 21 lanes of 4, rounded up, cost 22 · (5 + 4); 20 lanes of 5 cost 20 · (5 + 5).
    trainings = [Training(k, 0, np.arange(10 * k, 10 * k + 4), 4) for k in range(19)]
    trainings[1] = Training(1, 0, np.arange(200, 210), 10)
    (step,) = stacked_steps(trainings)
    assert step.batch.shape == (22, 4)
    assert [own.tolist() for own in step.further] == [[1], [1]]
    assert step.owners.tolist() == [1, 1, 0]
    assert step.counts.tolist() == [4, 10] + [4] * 17
    assert step.batch[[1, 19, 20]].tolist() == [[200, 201, 202, 203], [204, 205, 206, 207], [208, 209, 208, 208]]
    assert step.share[[1, 20, 21]] == pytest.approx(np.array([[0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0, 0], [0, 0, 0, 0]]))


@pytest.mark.parametrize("name", ["small", "residual"])
def test_clients_whose_batches_take_several_lanes_agree_too(name: str) -> None:
    network, samples = NETWORKS[name](), digits(20)
    shards = np.split(np.arange(200), [4, 10, 13, 20, 22, 26, 30, 36, 39, 70, 72, 77])
    shifts = np.random.default_rng(0).normal(size=(13, 10)).astype(np.float32)
    trainings = [plan_training(SEED, i, 7, shard, 3, shifts[i]) for i, shard in enumerate(shards)]
    widest = max(trainings, key=lambda training: len(training.order))
    assert max(step.batch.shape[1] for step in stacked_steps([widest, *trainings])) < widest.batch_size / 2
    weights = network.weights()
    plain = [train(network.replica(), weights, training, samples, EVERYTHING) for training in trainings]
    by_steps = sorted(trainings, key=lambda training: -len(training.batches()))
    ours = train_stacked(network, weights, by_steps, samples, EVERYTHING)
    assert_same(sorted(ours, key=lambda own: own.client), plain)


def cost(sizes: np.ndarray, batch_sizes: np.ndarray, part: list[int]) -> int:
    steps = max(-(-int(sizes[k]) // int(batch_sizes[k])) for k in part)
    lanes = {
        width: sum(-(-int(batch_sizes[k]) // width) for k in part)
        for width in {*rounded_up(np.arange(1, batch_sizes.max()), WIDTH_DIGITS).tolist(), int(batch_sizes.max())}
        if width <= batch_sizes.max()
    }
    return steps * (STEP_SAMPLES + min(count * (LANE_SAMPLES + width) for width, count in lanes.items()))


@given(st.lists(st.tuples(st.integers(1, 900), st.integers(1, 12)), min_size=1, max_size=8), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_no_other_cut_into_as_many_stacks_has_a_cheaper_costliest_one(clients, workers: int) -> None:
    sizes = np.array([size for size, _ in clients])
    batch_sizes = -(-sizes // np.array([steps for _, steps in clients]))
    parts = ragged_stacks(sizes, batch_sizes, workers)
    assert sorted(k for part in parts for k in part) == list(range(len(sizes)))
    steps = -(-sizes // batch_sizes)
    assert all((np.diff(steps[part]) <= 0).all() for part in parts)
    order = sorted(range(len(sizes)), key=lambda k: (batch_sizes[k], steps[k]))
    cuts = (
        [order[a:b] for a, b in zip((0, *places), (*places, len(order)), strict=True)]
        for places in combinations(range(1, len(order)), len(parts) - 1)
    )
    cheapest = min(max(cost(sizes, batch_sizes, part) for part in cut) for cut in cuts)
    assert max(cost(sizes, batch_sizes, part) for part in parts) <= cheapest * 65 / 64


def test_a_cohort_of_one_large_and_many_small_clients_is_no_stack_of_the_large_ones_size() -> None:
    # 90 batches of 2 and ten of 1,000: 100 · 1,005 samples in one stack, little more than 10 · 1,005 at best.
    batch_sizes = np.array([2] * 90 + [1000] * 10)
    parts = ragged_stacks(batch_sizes, batch_sizes, workers=2)
    assert max(cost(batch_sizes, batch_sizes, part) for part in parts) * -(-len(parts) // 2) < 7000


@given(st.lists(st.integers(1, 300), min_size=1, max_size=300))
@settings(max_examples=30, deadline=None)
def test_a_stack_has_a_limited_number_of_lanes(batch_sizes: list[int]) -> None:
    sizes = np.array(batch_sizes)
    for part in ragged_stacks(sizes, sizes, workers=2):
        assert (-(-sizes[part] // stack_width(sizes[part]))).sum() <= LANES


def test_a_ragged_cohort_gives_two_workers_work() -> None:
    assert [len(part) for part in stacks(ragged([10] * 15 + [9] * 15))] == [15, 15]


def test_stacks_of_other_shapes_between_change_no_byte() -> None:
    # They share their memory, which grows with the second and is larger than the third needs.
    network, samples = small(), digits(30)
    few, many = ragged(), ragged([1 + (7 * k) % 10 for k in range(30)])

    def weights(trainings: list[Training], with_network: Network) -> list[bytes]:
        ordered = sorted(trainings, key=lambda training: -len(training.batches()))
        trained = train_stacked(with_network, network.weights(), ordered, samples, SGD())
        return [own.weights.tobytes() for own in trained]

    alone = weights(few, network.replica())
    assert [weights(few, network), weights(many, network), weights(few, network)][::2] == [alone, alone]
    assert weights(many, network) == weights(many, network.replica())


def test_buffers_of_one_stack_lie_where_those_of_the_others_lie() -> None:
    memory = Buffers(torch.float32, torch.device("cpu"))
    first, second = memory.new(2, 3), memory.images(2, 4, (3, 5, 5))
    assert second.shape == (2, 12, 5, 5)
    assert second.is_contiguous(memory_format=torch.channels_last)
    memory.begin()
    assert memory.new(5).data_ptr() == first.data_ptr()
    assert memory.grown == 0
    assert memory.images(3, 4, (3, 5, 5)).data_ptr() != second.data_ptr()
    assert memory.grown == 1
