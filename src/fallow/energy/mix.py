"""A mix: clients that harvest in several ways."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import Described, EnergyModel, Harvest
from fallow.energy.mixture import Group, Mixture
from fallow.energy.outlook import EpochForecast
from fallow.energy.scale import Scale
from fallow.errors import ConfigError
from fallow.plugins.names import resolve
from fallow.plugins.nested import plain
from fallow.plugins.objects import describe
from fallow.plugins.options import check_methods, with_options


@dataclass(frozen=True)
class Mix:
    """Clients that harvest in several ways, each a model with its share of the clients.

    Shares are relative to their sum. Each group has its share of the clients, rounded by largest remainder, and groups
    follow each other in the order of the list: the first clients belong to the first one.

    Attributes:
        sources: Tables of `model` (a name; in Python also a class or an object), `share` (1 where it is left out) and
            the options of the model.

    Raises:
        ConfigError: There is no source, a share is wrong, or a model or an option is.

    Examples:
        >>> mix = Mix(({"model": "bernoulli", "p": 1.0, "share": 1}, {"model": "poisson", "rate": 0.0, "share": 3}))
        >>> [slot.tolist() for slot in mix.prepare(seed=0, clients=4, slots_per_epoch=2)(0)]
        [[1, 0, 0, 0], [1, 0, 0, 0]]
    """

    sources: Annotated[
        tuple[dict[str, Any], ...],
        Field(
            description="list of tables, each a model, its share of the clients and its options, as in "
            '{model = "markov", share = 0.5, good = 10.0}'
        ),
    ]

    def __post_init__(self) -> None:
        if not self.sources:
            raise ConfigError('energy.sources is empty; a mix needs at least one, as in [{model = "bernoulli"}].')
        tables = tuple(_as_table(number, source) for number, source in enumerate(self.sources))
        object.__setattr__(self, "sources", tables)
        if not any(group.share for group in self.groups):
            raise ConfigError("Every share in energy.sources is 0, so no client has a harvest; raise one.")

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The models with their shares."""
        return tuple(_group(number, table) for number, table in enumerate(self.sources))

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest of all groups, each from a seed of its own.

        The arguments are those of `EnergyModel.prepare`.
        """
        return Mixture(self.groups).prepare(seed, clients, slots_per_epoch)

    def at_scale(self, scale: Scale) -> Mixture:
        """Returns the mix with its sources in watts as models in units.

        Args:
            scale: Of the run.
        """
        return Mixture(self.groups, scale)

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        return Mixture(self.groups).mean(clients)

    def with_mean(self, mean: float) -> Mixture:
        """Returns the mix with another mean over all clients; the means of the groups keep their ratios.

        Args:
            mean: Units a slot.
        """
        return Mixture(self.groups).with_mean(mean)

    def correlated(self, correlation: float) -> Mixture:
        """Returns the mix with one weather for all groups.

        Args:
            correlation: c, from 0 to 1.
        """
        return Mixture(self.groups).correlated(correlation)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecasts of all groups. The arguments are those of `Forecasting.prepare_forecast`."""
        return Mixture(self.groups).prepare_forecast(seed, clients, slots_per_epoch)

    def describe(self) -> str:
        """Returns what its sources found in what they read, a line each; "" where none reads anything to tell of.

        Raises:
            FallowError: What a source reads can't be used.
        """
        return "\n".join(str(group.model.describe()) for group in self.groups if isinstance(group.model, Described))


def names_in(model: str, options: Mapping[str, Any]) -> list[str]:
    """Returns the name of a model, and of a mix also the names of all that is in it.

    Args:
        model: The name.
        options: Its options, by name.

    Examples:
        >>> names_in("mix", {"sources": [{"model": "poisson"}, {"model": "mine:Sun", "power": 3}]})
        ['mix', 'poisson', 'mine:Sun']
    """
    inside = options.get("sources", ()) if model == "mix" else ()
    return [model, *(name for table in inside for name in names_in(str(table.get("model")), table))]


def _as_table(number: int, source: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a source as TOML holds it: objects as names and options."""
    from fallow.energy import ENERGY_MODELS  # which imports this module

    if not isinstance(source, Mapping) or "model" not in source:
        raise ConfigError(f'energy.sources[{number}] needs a model; write it as {{model = "bernoulli", share = 0.5}}.')
    described = describe(source["model"], "model", ENERGY_MODELS, "energy model")
    for key in described.keys() & source.keys() - {"model"}:
        raise ConfigError(f"energy.sources[{number}].{key} is given twice: by the energy model and beside it.")
    table: dict[str, Any] = plain({**source, **described})
    return table


def _group(number: int, table: Mapping[str, Any]) -> Group:
    from fallow.energy import ENERGY_MODELS  # which imports this module

    place = f"energy.sources[{number}]"
    options = {key: value for key, value in table.items() if key not in ("model", "share")}
    share, name = table.get("share", 1.0), table["model"]
    if not isinstance(share, int | float) or isinstance(share, bool) or not (isfinite(share) and share >= 0):
        raise ConfigError(f"{place}.share = {share!r} must be a number, 0 or more: the clients' part of all shares.")
    cls = resolve(name, ENERGY_MODELS, "energy model", "fallow.energy")
    what = f"The energy model '{name}' in {place}"
    if name not in ENERGY_MODELS:
        check_methods(what, cls, ("prepare",))
    model: EnergyModel = with_options(what, cls, options, place)
    return Group(model, float(share))
