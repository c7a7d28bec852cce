"""The harvest models by name. A new one is one file here and one line in the table."""

from fallow.energy.base import EnergyModel, Harvest, Units, unit_rows
from fallow.energy.bernoulli import Bernoulli
from fallow.energy.physics import Physics, check_batteries, check_reserve
from fallow.energy.trace import Trace

ENERGY_MODELS: dict[str, type] = {
    "bernoulli": Bernoulli,
    "trace": Trace,
}

__all__ = [
    "ENERGY_MODELS",
    "Bernoulli",
    "EnergyModel",
    "Harvest",
    "Physics",
    "Trace",
    "Units",
    "check_batteries",
    "check_reserve",
    "unit_rows",
]
