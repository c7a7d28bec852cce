"""A harvest of several units at once, which no built-in model gives at random: an energy model from outside."""

from collections.abc import Iterable
from dataclasses import dataclass

from fallow.energy import Harvest, Units
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class Bursts:
    p: float = 0.5
    most: int = 3

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        def harvest(epoch: int) -> Iterable[Units]:
            rng = stream(seed, Purpose.HARVEST, epoch)
            shape = (slots_per_epoch, clients)
            return rng.integers(1, self.most, shape, endpoint=True) * (rng.random(shape) < self.p)

        return harvest
