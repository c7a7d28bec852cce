"""Sensors: generated signals of worn accelerometers, each client with a device and habits of its own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.data.dataset import Dataset
from fallow.data.from_arrays import channel_statistics
from fallow.data.sizes import apportion
from fallow.errors import ConfigError
from fallow.memory import check_memory
from fallow.rng import Purpose, stream

MOVEMENTS, WEARERS, TRAIN, TEST = 10, 11, 12, 13
"""The streams of a sensors dataset, by the number of an epoch: more training signals do not change the test set."""

CHANNELS = 3
"""The axes of an accelerometer."""

HARMONICS = 3
"""Waves of a movement on each axis: of its frequency, of twice and of three times that."""

GAIN_SPREAD, NOISE_SPREAD, AMOUNT_SPREAD = 0.3, 0.5, 0.5
"""σ of the logarithm of a wearer's gain, noise and number of signals."""

HABITS = 1.0
"""α of the Dirichlet distribution of a wearer's activities."""


@dataclass(frozen=True)
class Sensors:
    """Generated accelerometer signals of several activities; knows whose signals they are.

    An activity is a movement that repeats: a frequency, the strengths of its harmonics on three axes, the phases
    between the axes, and a posture, which adds a constant. Two activities each share a frequency. A signal begins
    anywhere in the movement, at a pace of its own, so no point in time tells anything by itself. A wearer has a gain, a
    noise, habits (which activities it does how often), and more or fewer signals than others. The test signals are of
    people who are no client, each signal of another.

    Attributes:
        samples: Training signals, of all clients together.
        test_samples: Test signals.
        classes: Activities.
        length: Points in time of a signal.
        clients: Wearers, whom the partition "natural" makes the clients.
        noise: The usual deviation of the noise; that of a movement is 1.

    Examples:
        >>> sensors = Sensors(samples=60, test_samples=20, clients=5).load(seed=0)
        >>> sensors.x.shape, int(sensors.client.max())
        ((60, 3, 64), 4)
    """

    samples: Annotated[int, Field(ge=1, description="training signals, of all clients together")] = 10_000
    test_samples: Annotated[int, Field(ge=1, description="test signals")] = 2_000
    classes: Annotated[int, Field(ge=2, le=100, description="activities")] = 6
    length: Annotated[int, Field(ge=16, description="points in time of a signal")] = 64
    clients: Annotated[int, Field(ge=1, description='wearers, whom the partition "natural" makes the clients')] = 100
    noise: Annotated[float, Field(ge=0, description="usual deviation of the noise; that of a movement is 1")] = 1.5

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns generated signals, float32: the same for the same seed and options.

        Args:
            seed: The seed of the signals.
            data_dir: Is not used: nothing is fetched.

        Raises:
            ConfigError: There are fewer signals than wearers, or more than any memory of this machine can hold.
        """
        if self.samples < self.clients:
            raise ConfigError(
                f"data.samples = {self.samples} signals are too few for data.clients = {self.clients} wearers; each "
                "needs at least one."
            )
        numbers = (self.samples + self.test_samples) * CHANNELS * self.length
        check_memory(
            numbers * 4 * 8,  # float64: the signals, and three arrays more while they are made
            f"The dataset 'sensors' of {self.samples} + {self.test_samples} signals of {self.length} points",
            "lower data.samples, data.test_samples or data.length",
        )
        movements = _Movements.drawn(self.classes, stream(seed, Purpose.DATASET, MOVEMENTS))
        rng = stream(seed, Purpose.DATASET, WEARERS)
        amount = np.exp(AMOUNT_SPREAD * rng.standard_normal(self.clients))
        client = np.repeat(np.arange(self.clients), 1 + apportion(amount / amount.sum(), self.samples - self.clients))
        habits = rng.dirichlet(np.full(self.classes, HABITS), self.clients)
        gain, noise = self._devices(self.clients, rng)

        rng = stream(seed, Purpose.DATASET, TRAIN)
        y = _drawn_labels(habits[client], rng)
        x = movements.signals(y, self.length, gain[client], noise[client], rng)
        rng = stream(seed, Purpose.DATASET, TEST)
        y_test = rng.permutation(np.arange(self.test_samples) % self.classes)
        x_test = movements.signals(y_test, self.length, *self._devices(self.test_samples, rng), rng)
        dataset = Dataset("sensors", x, y, x_test, y_test, self.classes, *channel_statistics(x), client)
        dataset.check()
        return dataset

    def _devices(self, count: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the gain and the noise of each device, both of shape (count,), float64."""
        gain = np.exp(GAIN_SPREAD * rng.standard_normal(count))
        return gain, self.noise * np.exp(NOISE_SPREAD * rng.standard_normal(count))


@dataclass(frozen=True, eq=False)
class _Movements:
    """The activities.

    Attributes:
        cycles: Of each activity in a signal, shape (K,), float64.
        strength: Of each harmonic on each axis, shape (K, CHANNELS, HARMONICS), float64; a movement's power is 1.
        phase: Of each harmonic on each axis, in radians, the same shape.
        posture: What is added to each axis, shape (K, CHANNELS), float64.
    """

    cycles: NDArray[np.float64]
    strength: NDArray[np.float64]
    phase: NDArray[np.float64]
    posture: NDArray[np.float64]

    @classmethod
    def drawn(cls, classes: int, rng: np.random.Generator) -> "_Movements":
        waves = (classes, CHANNELS, HARMONICS)
        strength = rng.uniform(0.2, 1.0, waves)
        strength *= np.sqrt(2 * CHANNELS / (strength**2).sum(axis=(1, 2), keepdims=True))
        cycles = (2 + np.arange(classes) // 2).astype(np.float64)
        return cls(cycles, strength, rng.uniform(0, 2 * np.pi, waves), rng.normal(0, 0.25, waves[:2]))

    def signals(
        self,
        y: NDArray[np.int64],
        length: int,
        gain: NDArray[np.float64],
        noise: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[np.float32]:
        """Returns a signal of each label, shape (samples, CHANNELS, length), float32."""
        pace = rng.uniform(0.85, 1.15, len(y))
        begin = rng.uniform(0, 2 * np.pi, len(y))
        time = np.arange(length) / length
        angle = 2 * np.pi * (self.cycles[y] * pace)[:, None] * time + begin[:, None]
        x = np.repeat(self.posture[y][:, :, None], length, axis=2)
        for k in range(HARMONICS):
            wave = np.cos((k + 1) * angle[:, None] + self.phase[y][:, :, k, None])
            x += self.strength[y][:, :, k, None] * wave
        x *= gain[:, None, None]
        x += noise[:, None, None] * rng.standard_normal(x.shape)
        return x.astype(np.float32)


def _drawn_labels(shares: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Returns a label for each row of shares, shape (samples,), int64."""
    reached = shares.cumsum(axis=1) > rng.random(len(shares))[:, None] * shares.sum(axis=1, keepdims=True)
    labels: NDArray[np.int64] = reached.argmax(axis=1)
    return labels
