"""Energy models that are not Fallow's: what they give is checked, and must depend on the epoch alone."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import EnergyModel, Harvest, Units, checked_units, unit_rows
from fallow.energy.outlook import EpochForecast, Forecasting, Outlook
from fallow.errors import EnergyError
from fallow.plugins.calls import blamed, is_ours
from fallow.plugins.returned import plain_array

TRIED = (0, 1)
"""The epochs that are drawn twice before a run begins, the second time in the other order."""


def prepared(model: EnergyModel, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
    """Returns the harvest of a model. One that is not Fallow's is tried first, and what it gives is checked.

    Args:
        model: The energy model, in units.
        seed: The seed of the run.
        clients: N.
        slots_per_epoch: S.

    Raises:
        EnergyError: A model that is not Fallow's failed, or gave other units for an epoch when it was asked again.
    """
    if is_ours(model):
        return model.prepare(seed, clients, slots_per_epoch)
    part = f"The energy model '{type(model).__name__}'"
    with blamed(part, "prepare", model.prepare, EnergyError):
        given = model.prepare(seed, clients, slots_per_epoch)
    if not callable(given):
        raise EnergyError(
            f"{part} returned a {type(given).__name__} from prepare; it must return a function from an epoch to the "
            "units of its slots."
        )
    harvest = _guarded(part, given, clients, slots_per_epoch)
    check_repeats(part, harvest, TRIED, clients, slots_per_epoch)
    return harvest


def check_repeats(part: str, harvest: Harvest, epochs: Iterable[int], clients: int, slots: int) -> None:
    """Checks that a harvest is a function of the epoch: drawn again, in another order, it is the same.

    A harvest with a memory of its own, such as a generator that is drawn from on and on, would give a resumed run other
    units than one that went through.

    Args:
        part: The energy model, in words.
        harvest: From an epoch to its slots.
        epochs: The epochs to draw.
        clients: N.
        slots: S.

    Raises:
        EnergyError: An epoch had other units the second time.
    """
    first = {epoch: _fingerprint(harvest, epoch, clients, slots) for epoch in epochs}
    for epoch in reversed(first):
        if _fingerprint(harvest, epoch, clients, slots) != first[epoch]:
            raise EnergyError(
                f"{part} gave other units for epoch {epoch} when it was asked again, so that a resumed run would "
                "differ: it keeps a memory of its own. Draw from a stream of the epoch: "
                "fallow.rng.stream(seed, Purpose.HARVEST, epoch)."
            )


def _fingerprint(harvest: Harvest, epoch: int, clients: int, slots: int) -> bytes:
    found = blake2b()
    for rows in unit_rows(harvest(epoch), clients, slots):
        found.update(np.ascontiguousarray(rows).data)
    return found.digest()


def _guarded(part: str, harvest: Harvest, clients: int, slots: int) -> Harvest:
    """Returns a harvest whose units are checked, and whose errors are sentences."""

    def guarded(epoch: int) -> Iterable[Units]:
        hook = f"its harvest of epoch {epoch}"
        with blamed(part, hook, harvest, EnergyError):
            given = harvest(epoch)
        if type(given) is np.ndarray:
            if given.ndim != 2 or len(given) != slots:
                raise EnergyError(
                    f"{part} gave an array of shape {given.shape} for an epoch; it must be ({slots}, {clients}), a row "
                    "a slot."
                )
            return checked_units(given, clients)
        if not isinstance(given, Iterable):
            raise EnergyError(
                f"{part} gave a {type(given).__name__} for an epoch; it must give {slots} rows, or an array of shape "
                f"({slots}, {clients})."
            )
        return rows(hook, given)

    def rows(hook: str, given: Iterable[Units]) -> Iterator[Units]:
        with blamed(part, hook, error=EnergyError):
            count = 0
            for block in unit_rows(given, clients, slots):
                count += 1
                if count > slots:  # it may go on for ever
                    raise EnergyError(f"The energy model gave more than the {slots} slots of an epoch.")
                yield from block
            if count < slots:
                raise EnergyError(f"The energy model gave {count} slots for an epoch of {slots}.")

    return guarded


def prepared_forecast(model: Forecasting, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
    """Returns the forecast of a model; what one that is not Fallow's expects is checked.

    Args:
        model: The energy model, in units.
        seed: The seed of the run.
        clients: N.
        slots_per_epoch: S.

    Raises:
        EnergyError: A model that is not Fallow's failed.
    """
    if is_ours(model):
        return model.prepare_forecast(seed, clients, slots_per_epoch)
    part = f"The energy model '{type(model).__name__}'"
    with blamed(part, "prepare_forecast", model.prepare_forecast, EnergyError):
        given = model.prepare_forecast(seed, clients, slots_per_epoch)

    def forecast(epoch: int, epochs: int) -> Outlook:
        with blamed(part, f"its forecast in epoch {epoch}", given, EnergyError):
            units, error = given(epoch, epochs)
        return Outlook(expected("units", units, epochs), expected("error", error, epochs))

    def expected(field: str, returned: object, epochs: int) -> NDArray[np.float64]:
        numbers = plain_array(f"The {field} of the forecast of {part[0].lower()}{part[1:]}", returned, EnergyError)
        usable = numbers.shape == (clients, epochs) and numbers.dtype.kind in "iuf"
        if not usable or not ((numbers >= 0) & (numbers < np.inf)).all():
            raise EnergyError(
                f"{part} forecasts {field} of shape {numbers.shape} and type {numbers.dtype}; they must be finite "
                f"numbers of 0 or more, shape ({clients}, {epochs})."
            )
        return numbers.astype(np.float64)

    return forecast
