"""Markov harvest: good spells with much energy and bad ones with little, whose lengths are random."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import floor
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import CELLS_AT_ONCE, MOST_UNITS, Harvest, Units
from fallow.energy.outlook import EpochForecast, Outlook
from fallow.energy.spell_forecast import spell_outlook
from fallow.energy.spells import SpellLaw, Spells
from fallow.energy.weather import AMOUNT, shared_draws
from fallow.errors import ConfigError
from fallow.rng import Purpose, bernoulli, stream

SpellLength = Annotated[float, Field(ge=1, le=1e12)]
UnitsASlot = Annotated[float, Field(ge=0, le=MOST_UNITS - 1)]


@dataclass(frozen=True)
class Markov:
    """Good and bad spells of random length, independent over clients: a Markov chain of two states.

    Units a slot are real numbers: 0.4 is one unit with probability 0.4, 2.0 is two units in every slot, 2.4 is two, and
    a third with probability 0.4. The share of good slots is good / (good + bad).

    Attributes:
        good: Mean slots of a good spell.
        bad: Mean slots of a bad spell. 1/good + 1/bad is at most 1.
        units_good: Mean units a slot in a good spell.
        units_bad: Mean units a slot in a bad spell.

    Raises:
        ConfigError: A spell is shorter than a slot, or 1/good + 1/bad is above 1.

    Examples:
        >>> Markov(good=10.0, bad=30.0, units_good=2.0).mean(clients=1).tolist()
        [0.5]
    """

    good: Annotated[SpellLength, Field(description="mean slots of a good spell")] = 10.0
    bad: Annotated[SpellLength, Field(description="mean slots of a bad spell; 1/good + 1/bad is at most 1")] = 90.0
    units_good: Annotated[
        UnitsASlot,
        Field(description="mean units a slot in a good spell; 0.4 is one unit with probability 0.4, 2.0 always two"),
    ] = 1.0
    units_bad: Annotated[UnitsASlot, Field(description="mean units a slot in a bad spell")] = 0.0

    def __post_init__(self) -> None:
        for name, slots in (("good", self.good), ("bad", self.bad)):
            if not slots >= 1:
                raise ConfigError(
                    f"energy.{name} = {slots:g} slots must be at least 1: no spell is shorter than a slot."
                )
        if 1 / self.good + 1 / self.bad > 1 + 1e-12:
            raise ConfigError(
                f"energy.good = {self.good:g} and energy.bad = {self.bad:g} give 1/good + 1/bad = "
                f"{1 / self.good + 1 / self.bad:.3g}, and at most 1 is possible: spells so short would have to avoid "
                "each other; make one of them longer."
            )

    @property
    def law(self) -> SpellLaw:
        """How long spells last."""
        return SpellLaw(self.good, self.bad)

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest; draws nothing yet. The arguments are those of `EnergyModel.prepare`."""
        return SharedSpells(self, 0.0).prepare(seed, clients, slots_per_epoch)

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns π · units_good + (1 − π) · units_bad for each client, shape (N,), float64.

        Args:
            clients: N.
        """
        share = self.law.share
        return np.broadcast_to(np.float64(share * self.units_good + (1 - share) * self.units_bad), clients)

    def with_mean(self, mean: float) -> "Markov":
        """Returns the model with the units of both states times a factor; spells stay as they are.

        Args:
            mean: Units a slot.

        Raises:
            ConfigError: The model harvests nothing, or would harvest too much in a slot.
        """
        before = float(self.mean(1)[0])
        factor = mean / before if before else np.inf
        most = max(self.units_good, self.units_bad) * factor
        if not most < MOST_UNITS:
            raise ConfigError(
                f"energy.mean = {mean:g} can't be had of {self.units_good:g} units in a good slot and "
                f"{self.units_bad:g} in a bad one, {before:g} in the mean; change energy.mean or energy.units_good."
            )
        return replace(self, units_good=self.units_good * factor, units_bad=self.units_bad * factor)

    def correlated(self, correlation: float) -> "SharedSpells":
        """Returns the model with shared weather.

        Args:
            correlation: c, from 0 to 1.
        """
        return SharedSpells(self, correlation)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: what follows from the state in the first slot of an epoch.

        The arguments are those of `Forecasting.prepare_forecast`.
        """
        return SharedSpells(self, 0.0).prepare_forecast(seed, clients, slots_per_epoch)


@dataclass(frozen=True)
class SharedSpells:
    """Good and bad spells whose clients share their weather; each client's own harvest has the same law as before.

    Attributes:
        of: The model.
        correlation: c, from 0 to 1: the correlation of two clients' states in a slot.
        weather: The seed of the shared draws; None is that of the run.
    """

    of: Markov
    correlation: float
    weather: int | None = None

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest. The arguments are those of `EnergyModel.prepare`."""
        spells = self._spells(seed, clients, slots_per_epoch)

        def in_parts(epoch: int) -> Iterator[Units]:
            rng, first = stream(seed, Purpose.HARVEST, epoch), 0
            amount = shared_draws(spells.weather, epoch, slots_per_epoch)[:, AMOUNT]
            for states, takes in spells.states(epoch):
                yield self._units(rng, states, takes, amount[first : first + len(states)])
                first += len(states)

        def harvest(epoch: int) -> Iterable[Units]:
            if slots_per_epoch * clients <= CELLS_AT_ONCE:
                (units,) = in_parts(epoch)
                return units
            return (row for units in in_parts(epoch) for row in units)

        return harvest

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client, the same as without shared weather, shape (N,), float64.

        Args:
            clients: N.
        """
        return self.of.mean(clients)

    def with_weather(self, seed: int) -> "SharedSpells":
        """Returns the model under the weather of a seed."""
        return replace(self, weather=seed)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast. Each client's knows its own state, which weather brought it."""
        spells, of = self._spells(seed, clients, slots_per_epoch), self.of

        def forecast(epoch: int, epochs: int) -> Outlook:
            units, error = spell_outlook(of.law, (of.units_bad, of.units_good), slots_per_epoch, epochs)
            state = spells.first_slot(epoch).astype(np.intp)
            return Outlook(units[state], error[state])

        return forecast

    def _spells(self, seed: int, clients: int, slots_per_epoch: int) -> Spells:
        return Spells(self.of.law, seed, clients, slots_per_epoch, self.correlation, self.weather)

    def _units(
        self,
        rng: np.random.Generator,
        states: NDArray[np.bool_],
        takes: NDArray[np.bool_] | None,
        amount: NDArray[np.float64],
    ) -> Units:
        """Returns what the states bring, shape (rows, N): the whole units of each, and by chance one more."""
        good, bad = floor(self.of.units_good), floor(self.of.units_bad)
        units: Units = np.where(states, np.int32(good), np.int32(bad))
        for part, has in ((self.of.units_good - good, states), (self.of.units_bad - bad, ~states)):
            if part:
                more = bernoulli(rng, part, states.shape)
                if takes is not None:
                    more = np.where(takes, amount[:, None] >= 1 - part, more)
                units += has & more
        return units
