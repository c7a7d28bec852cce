"""The same policies on real nodes, through Flower. Needs ``pip install 'fallow[flower]'``."""

from fallow.flower.batteries import (
    Battery,
    Emulated,
    MeterCommand,
    Metered,
    MeterFile,
    PowerSupply,
    WallClock,
)
from fallow.flower.client import LocalData, client_app
from fallow.flower.experiment import experiment_client, experiment_server, experiment_strategy
from fallow.flower.local import LocalGrid
from fallow.flower.strategy import FallowStrategy

__all__ = [
    "Battery",
    "Emulated",
    "FallowStrategy",
    "LocalData",
    "LocalGrid",
    "MeterCommand",
    "MeterFile",
    "Metered",
    "PowerSupply",
    "WallClock",
    "client_app",
    "experiment_client",
    "experiment_server",
    "experiment_strategy",
]
