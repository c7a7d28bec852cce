"""The probe: how far the global model's features have moved from those of each client's last training (Eq. 5)."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from fallow.learning.distances import Moments
from fallow.learning.network import Network
from fallow.learning.samples import Samples
from fallow.learning.statistics import Statistics, with_statistics
from fallow.learning.workers import Workers
from fallow.models.weights import Weights
from fallow.rng import Purpose, stream

Shards = Sequence[NDArray[np.int64]]
"""Each client's samples: N arrays of indices into the training set, shape (|D_i|,), int64."""

FirstMoment = Literal["infinite", "zero", "first-pass"]
"""h_i before the first training: none (so M_i = ∞), zero, or from one pass of w(0) (reading 6)."""


def shard_sizes(shards: Shards) -> NDArray[np.int64]:
    """Returns |D_i| of every client, shape (N,), int64.

    Args:
        shards: The clients' samples, as indices into the training set.

    Examples:
        >>> shard_sizes([np.arange(3), np.arange(5)])
        array([3, 5])
    """
    return np.fromiter((len(shard) for shard in shards), dtype=np.int64, count=len(shards))


def probe_batches(
    seed: int, epoch: int, shards: Shards, sizes: NDArray[np.int64], kind: Literal["fresh", "fixed"] = "fresh"
) -> list[NDArray[np.int64]]:
    """Returns B_i of every client, drawn from one stream without replacement (reading 11).

    Args:
        seed: The seed of the run.
        epoch: t.
        shards: The clients' samples, as indices into the training set.
        sizes: |B_i|, shape (N,), int64; at most a client's number of samples are drawn.
        kind: "fresh" draws a batch for each epoch; "fixed" always returns that of epoch 0.

    Returns:
        N arrays of indices into the training set, shape (|B_i|,), int64.
    """
    rng = stream(seed, Purpose.PROBE, epoch if kind == "fresh" else 0)
    lengths = shard_sizes(shards)
    batches: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(shards)
    for length in np.unique(lengths):
        owners = np.flatnonzero(lengths == length)
        ranks = rng.random((len(owners), length), dtype=np.float32).argsort(axis=1, kind="stable")
        for owner, rank in zip(owners.tolist(), ranks, strict=True):
            batches[owner] = shards[owner][rank[: sizes[owner]]]
    return batches


class Probed(NamedTuple):
    """What one forward pass of each client's probe batch says of a model.

    Attributes:
        features: v_i, the mean feature of the batch, shape (N, F), float32.
        losses: The mean cross-entropy of the batch, shape (N,), float32; None where nobody asked for it.
    """

    features: Moments
    losses: NDArray[np.float32] | None


def mean_features(
    workers: Workers, weights: Weights, samples: Samples, batches: Sequence[NDArray[np.int64]]
) -> Moments:
    """Returns the mean feature of each client's batch under the same weights: v_i (Alg. 2, line 7).

    Args:
        workers: The threads that compute.
        weights: w(t), shape (P,), float32.
        samples: The training set.
        batches: N arrays of indices into the training set, shape (|B_i|,), int64; none is empty.

    Returns:
        Shape (N, F), float32.
    """
    return probe(workers, weights, samples, batches, losses=False).features


def probe(
    workers: Workers,
    weights: Weights,
    samples: Samples,
    batches: Sequence[NDArray[np.int64]],
    statistics: Mapping[int, Statistics] | None = None,
    *,
    losses: bool,
) -> Probed:
    """Returns what one forward pass of each client's batch says of the weights.

    Args:
        workers: The threads that compute.
        weights: w(t), shape (P,), float32.
        samples: The training set.
        batches: N arrays of indices into the training set, shape (|B_i|,), int64; none is empty.
        statistics: The running statistics of clients that have their own, shape (P − T,), float32, by client.
        losses: Whether the losses are wanted too.
    """

    def means(network: Network, clients: range) -> tuple[Moments, NDArray[np.float32]]:
        own = statistics.get(clients.start) if statistics else None  # then every part is one client
        network.load(with_statistics(weights, own))
        chosen = batches[clients.start : clients.stop]
        counts = np.array([len(batch) for batch in chosen])
        with torch.inference_mode():
            inputs, labels = samples.batch(np.concatenate(chosen))
            logits, seen = network.forward(inputs)
            each = cross_entropy(logits, labels, reduction="none")[:, None] if losses else seen[:, :0]
        return _means(seen, counts), _means(each, counts).reshape(len(chosen) if losses else 0)

    at_once = 1 if statistics else workers.network.samples_at_once
    parts = workers.map(means, _parts([len(batch) for batch in batches], at_once))
    features, mean_losses = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Probed(features, mean_losses if losses else None)


def _means(values: Tensor, counts: NDArray[np.intp]) -> NDArray[np.float32]:
    """Returns the mean of each client's rows, shape (clients, columns), float32."""
    starts = np.cumsum(counts) - counts
    sums = np.add.reduceat(values.cpu().numpy(), starts, axis=0, dtype=np.float64)
    return np.asarray(sums / counts[:, None], dtype=np.float32)


def first_moments(
    kind: FirstMoment,
    workers: Workers,
    weights: Weights,
    samples: Samples,
    shards: Shards,
) -> Moments:
    """Returns h_i before the first training (reading 6), shape (N, F), float32; NaN for none.

    Args:
        kind: "infinite" gives none (so M_i = ∞), "zero" gives zeros, "first-pass" the mean features under w(0).
        workers: The threads that compute.
        weights: w(0), shape (P,), float32.
        samples: The training set.
        shards: The clients' samples, as indices into the training set.
    """
    if kind == "first-pass":
        return mean_features(workers, weights, samples, list(shards))
    value = np.nan if kind == "infinite" else 0.0
    return np.full((len(shards), workers.network.feature_size), value, dtype=np.float32)


def _parts(counts: list[int], samples_at_once: int) -> list[range]:
    """Returns the clients cut into ranges of at most `samples_at_once` samples, and at least one client."""
    parts, first, held = [], 0, 0
    for client, count in enumerate(counts):
        if held and held + count > samples_at_once:
            parts.append(range(first, client))
            first, held = client, 0
        held += count
    parts.append(range(first, len(counts)))
    return parts
