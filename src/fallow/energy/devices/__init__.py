"""Devices in joules: profiles and radios with the source of each figure, classes of clients, and the way to units."""

from fallow.energy.devices.classes import assign_classes, check_shares, classes_in, over_clients, training_steps
from fallow.energy.devices.conversion import as_units
from fallow.energy.devices.figures import Figure
from fallow.energy.devices.harvests import harvest_of_classes
from fallow.energy.devices.library import (
    DeviceProfile,
    Radio,
    describe_profile,
    describe_radio,
    find_profile,
    find_radio,
    list_profiles,
    list_radios,
    read_profile,
)

__all__ = [
    "DeviceProfile",
    "Figure",
    "Radio",
    "as_units",
    "assign_classes",
    "check_shares",
    "classes_in",
    "describe_profile",
    "describe_radio",
    "find_profile",
    "find_radio",
    "harvest_of_classes",
    "list_profiles",
    "list_radios",
    "over_clients",
    "read_profile",
    "training_steps",
]
