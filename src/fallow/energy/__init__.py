"""The harvest models by name. A new one is one file here and one line in the table."""

from fallow.energy.base import Averaged, Correlated, Described, EnergyModel, Harvest, Rescaled, Scaled, Units, unit_rows
from fallow.energy.bernoulli import Bernoulli
from fallow.energy.checks import check_batteries, check_reserve
from fallow.energy.daylight import Daylight
from fallow.energy.fractions import whole_units
from fallow.energy.groups import group_seed, group_sizes, joined
from fallow.energy.harvest import prepare_forecast, prepare_harvest
from fallow.energy.markov import Markov
from fallow.energy.mix import Mix
from fallow.energy.outlook import EpochForecast, Forecasting, Outlook
from fallow.energy.physics import Physics
from fallow.energy.poisson import Poisson
from fallow.energy.scale import Scale
from fallow.energy.signal import Signal
from fallow.energy.solar import Solar
from fallow.energy.trace import Trace
from fallow.energy.watts import Watts

ENERGY_MODELS: dict[str, type] = {
    "bernoulli": Bernoulli,
    "trace": Trace,
    "poisson": Poisson,
    "markov": Markov,
    "mix": Mix,
    "solar": Solar,
    "daylight": Daylight,
    "watts": Watts,
    "signal": Signal,
}

__all__ = [
    "ENERGY_MODELS",
    "Averaged",
    "Bernoulli",
    "Correlated",
    "Daylight",
    "Described",
    "EnergyModel",
    "EpochForecast",
    "Forecasting",
    "Harvest",
    "Markov",
    "Mix",
    "Outlook",
    "Physics",
    "Poisson",
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
    "group_seed",
    "group_sizes",
    "joined",
    "prepare_forecast",
    "prepare_harvest",
    "unit_rows",
    "whole_units",
]
