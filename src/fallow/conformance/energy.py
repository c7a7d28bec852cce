"""The check of energy models: whole units, and a function of the epoch alone."""

from collections.abc import Callable
from functools import partial

import numpy as np

from fallow.conformance.sentences import first_problem, unchanged
from fallow.energy import Averaged, Correlated, Described, EnergyModel, Forecasting, Harvest, Rescaled, Scale, Scaled
from fallow.energy.base import unit_rows
from fallow.energy.fractions import means_of
from fallow.energy.own import check_repeats, prepared, prepared_forecast
from fallow.errors import EnergyError
from fallow.plugins.calls import blamed, call

SIZES = (1, 7)
SLOTS = 12
EPOCHS = 6
SEED = 5
SCALE = Scale(slot_seconds=600.0, unit_joules=0.1)
"""For a source of watts."""


def check_energy(model: EnergyModel) -> list[str]:
    """Returns what is wrong with an energy model, in a sentence; an empty list if nothing is.

    Args:
        model: The energy model, made with its options.

    Examples:
        >>> from fallow.energy import Poisson
        >>> check_energy(Poisson(rate=0.5))
        []
    """
    return first_problem(lambda: _check(model))


def _check(model: EnergyModel) -> None:
    part = f"The energy model '{type(model).__name__}'"
    with unchanged(part, model):
        if isinstance(model, Described):
            call(part, "describe", model.describe)
        in_units = _fresh(part, model)
        for clients in SIZES:
            _check_harvest(part, lambda: _fresh(part, model), clients)
            knows_mean = isinstance(in_units, Averaged)
            if knows_mean:
                with blamed(part, "mean"):
                    means_of(in_units, clients)
            if isinstance(in_units, Correlated):
                _check_harvest(part, partial(call, part, "correlated", in_units.correlated, 0.5), clients)
            if isinstance(in_units, Rescaled):
                _check_harvest(part, partial(call, part, "with_mean", in_units.with_mean, 0.5), clients)
            if isinstance(in_units, Forecasting):
                prepared_forecast(in_units, SEED, clients, SLOTS)(1, 3)


def _fresh(part: str, model: EnergyModel) -> EnergyModel:
    """Returns a model in units, as a run that begins or goes on has it."""
    fresh: EnergyModel = call(part, "at_scale", model.at_scale, SCALE) if isinstance(model, Scaled) else model
    return fresh


def _check_harvest(part: str, make: Callable[[], EnergyModel], clients: int) -> None:
    """Raises an error if the harvest of an epoch is not the same whenever it is asked for."""
    harvest = prepared(make(), SEED, clients, SLOTS)
    check_repeats(part, harvest, range(EPOCHS), clients, SLOTS)
    anew = prepared(make(), SEED, clients, SLOTS)
    for epoch in (EPOCHS - 1, 0):
        if not np.array_equal(_units(harvest, epoch, clients), _units(anew, epoch, clients)):
            raise EnergyError(
                f"{part} gave other units for epoch {epoch} after it was prepared again with the same seed, so that a "
                "resumed run would differ: draw from fallow.rng.stream(seed, Purpose.HARVEST, epoch) alone."
            )


def _units(harvest: Harvest, epoch: int, clients: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return np.concatenate(list(unit_rows(harvest(epoch), clients, SLOTS)))
