"""The harvest models by name. A new one is one file here and one line in the table."""

from fallow.energy.base import Averaged, Correlated, Described, EnergyModel, Harvest, Rescaled, Scaled, Units, unit_rows
from fallow.energy.bernoulli import Bernoulli
from fallow.energy.harvest import prepare_harvest
from fallow.energy.physics import Physics, check_batteries, check_reserve
from fallow.energy.scale import Scale
from fallow.energy.signal import Signal
from fallow.energy.solar import Solar
from fallow.energy.trace import Trace
from fallow.energy.watts import Watts

ENERGY_MODELS: dict[str, type] = {
    "bernoulli": Bernoulli,
    "trace": Trace,
    "solar": Solar,
    "watts": Watts,
    "signal": Signal,
}

__all__ = [
    "ENERGY_MODELS",
    "Averaged",
    "Bernoulli",
    "Correlated",
    "Described",
    "EnergyModel",
    "Harvest",
    "Physics",
    "Rescaled",
    "Scale",
    "Scaled",
    "Signal",
    "Solar",
    "Trace",
    "Units",
    "Watts",
    "check_batteries",
    "check_reserve",
    "prepare_harvest",
    "unit_rows",
]
