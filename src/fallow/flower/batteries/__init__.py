"""Batteries of nodes.

An *emulated* one lives through the simulator's own slots, a whole epoch at each order, however long that takes in real
time. The others, by the *wall clock* or *metered*, decide by what they hold at the moment they are asked.
"""

from fallow.flower.batteries.base import Battery, BatteryError, Event, HarvestMeter, OpenBattery, Reading, StartHook
from fallow.flower.batteries.emulated import Emulated
from fallow.flower.batteries.metered import Metered, WallClock
from fallow.flower.batteries.meters import MeterCommand, MeterFile, PowerSupply
from fallow.flower.batteries.web import MeterURL

__all__ = [
    "Battery",
    "BatteryError",
    "Emulated",
    "Event",
    "HarvestMeter",
    "MeterCommand",
    "MeterFile",
    "MeterURL",
    "Metered",
    "OpenBattery",
    "PowerSupply",
    "Reading",
    "StartHook",
    "WallClock",
]
