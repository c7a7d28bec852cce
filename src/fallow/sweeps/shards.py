"""Shards: the runs of one grid shared out among several commands, each with its part of a common directory."""

from collections.abc import Sequence
from dataclasses import dataclass

from fallow.errors import ConfigError
from fallow.sweeps.grid import PlannedRun


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of a grid.

    Attributes:
        number: Which part, from 1.
        of: How many parts there are.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Returns the shard that a text such as "1/4" names.

        Args:
            text: As in "1/4".

        Raises:
            ConfigError: If it is not two whole numbers, the first from 1 to the second.
        """
        if not isinstance(text, str):
            raise ConfigError(f"shard = {text!r} must be a text of the form i/n, as in shard='1/4'.")
        number, slash, of = text.partition("/")
        if not slash or not number.strip().isdecimal() or not of.strip().isdecimal():
            raise ConfigError(f"The shard '{text}' is not of the form i/n, as in 1/4.")
        shard = cls(int(number), int(of))
        if not 1 <= shard.number <= shard.of:
            raise ConfigError(f"There is no shard '{text}'; in i/n, i goes from 1 to n.")
        return shard

    def share(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        """Returns every n-th run, beginning with the i-th. The shards together have each run once.

        Args:
            runs: Of the whole sweep.
        """
        return list(runs[self.number - 1 :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
