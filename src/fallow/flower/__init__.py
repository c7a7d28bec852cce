"""The same policies on real nodes, through Flower. Needs ``pip install 'fallow[flower]'``."""

from typing import TYPE_CHECKING

from fallow.plugins.lazy import load_on_first_use

if TYPE_CHECKING:
    from fallow.flower.batteries import Battery as Battery
    from fallow.flower.batteries import Emulated as Emulated
    from fallow.flower.batteries import MeterCommand as MeterCommand
    from fallow.flower.batteries import Metered as Metered
    from fallow.flower.batteries import MeterFile as MeterFile
    from fallow.flower.batteries import MeterURL as MeterURL
    from fallow.flower.batteries import PowerSupply as PowerSupply
    from fallow.flower.batteries import WallClock as WallClock
    from fallow.flower.experiment import experiment_server as experiment_server
    from fallow.flower.experiment import experiment_strategy as experiment_strategy
    from fallow.flower.node.client import LocalData as LocalData
    from fallow.flower.node.client import client_app as client_app
    from fallow.flower.node.experiment_client import experiment_client as experiment_client
    from fallow.flower.server.local import LocalGrid as LocalGrid
    from fallow.flower.server.strategy import FallowStrategy as FallowStrategy

_BATTERIES = ("Battery", "Emulated", "MeterCommand", "MeterFile", "Metered", "MeterURL", "PowerSupply", "WallClock")
_EXPERIMENT = ("experiment_server", "experiment_strategy")

__getattr__, __dir__, __all__ = load_on_first_use(
    __name__,
    {
        **dict.fromkeys(_BATTERIES, "fallow.flower.batteries"),
        **dict.fromkeys(_EXPERIMENT, "fallow.flower.experiment"),
        "FallowStrategy": "fallow.flower.server.strategy",
        "LocalData": "fallow.flower.node.client",
        "LocalGrid": "fallow.flower.server.local",
        "client_app": "fallow.flower.node.client",
        "experiment_client": "fallow.flower.node.experiment_client",
    },
)
