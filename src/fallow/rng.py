"""Every random draw of the project: streams that are functions of (seed, purpose, epoch, client).

No generator is carried along. So resuming needs no generator state, the number of workers can't change a result,
and every policy of a comparison meets the same harvest and the same data.
"""

from enum import StrEnum
from functools import cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

ALL_CLIENTS = -1
"""The client of a stream that serves all clients at once."""

MAX_SEED = 2**63 - 1
"""The largest seed that an experiment accepts."""


class Purpose(StrEnum):
    """What a stream is for. Streams of different purposes are independent."""

    HARVEST = "harvest"
    SIGNIFICANCE = "significance"
    SELECT = "select"
    DATASET = "dataset"
    SIZES = "sizes"
    PARTITION = "partition"
    WEIGHTS = "weights"
    BATCHES = "batches"
    PROBE = "probe"
    DROPOUT = "dropout"
    FORECAST = "forecast"
    WEATHER = "weather"
    SHARING = "sharing"
    SPELLS = "spells"
    FRACTIONS = "fractions"
    GROUP = "group"
    CLOUDS = "clouds"


def stream(seed: int, purpose: Purpose, epoch: int = 0, client: int = ALL_CLIENTS) -> np.random.Generator:
    """Returns the generator of (seed, purpose, epoch, client), always in its first state.

    The key has a fixed length (four numbers of 64 bits), because NumPy pads short keys with zeros: with keys of
    free length, [5] and [5, 0] would be the same stream.

    Args:
        seed: The seed of the run, from 0 to `MAX_SEED`.
        purpose: What the numbers are for.
        epoch: The epoch, or the slot, that the numbers belong to.
        client: The client that the numbers belong to; `ALL_CLIENTS` for a stream that all clients share.

    Examples:
        >>> first = stream(seed=1, purpose=Purpose.SELECT, epoch=3)
        >>> again = stream(seed=1, purpose=Purpose.SELECT, epoch=3)
        >>> bool((first.random(5) == again.random(5)).all())
        True
    """
    key = np.array([seed, _code(purpose), epoch, client + 1], dtype="<u8").view("<u4").astype(np.uint32, copy=False)
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(key)))


@cache
def _code(purpose: Purpose) -> int:
    """Returns the number of a purpose in keys."""
    return int.from_bytes(sha256(purpose.encode()).digest()[:8], "little")


def bernoulli(rng: np.random.Generator, p: float | NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Returns independent random events of exact probability `p`, from one random byte each.

    A byte below 256·p decides at once. Only where the byte equals ⌊256·p⌋, one time in 256, a uniform double
    decides the rest. So the probability is as exact as that of a 61-bit draw, at an eighth of the cost.

    Args:
        rng: The stream to draw from.
        p: One probability, or one for each column, shape (columns,).
        shape: (rows, columns).

    Returns:
        Shape (rows, columns), bool.

    Examples:
        >>> bernoulli(stream(0, Purpose.HARVEST), p=1.0, shape=(2, 3)).tolist()
        [[True, True, True], [True, True, True]]
    """
    rows, columns = shape
    words = rng.bit_generator.random_raw(-(-rows * columns // 8))
    byte = words.astype("<u8", copy=False).view(np.uint8)[: rows * columns].reshape(shape)
    whole = np.minimum(np.floor(np.multiply(p, 256)), 255)
    remainder = np.multiply(p, 256) - whole
    threshold = whole.astype(np.uint8)
    undecided = (byte == threshold).reshape(-1).nonzero()[0]
    happens = np.less(byte, threshold, out=byte.view(np.bool_))  # in place: a second copy would take noticeable time
    limit = remainder[undecided % columns] if remainder.ndim else remainder
    happens.reshape(-1)[undecided] = rng.random(undecided.size) < limit
    return happens
