"""The policies by name. A new one is one file here, one line in the table and one row in the conformance test."""

from fallow.policies.base import (
    AnyPolicy,
    Distance,
    EpochView,
    Known,
    Mask,
    Needs,
    Needy,
    Policy,
    SlotView,
    Starter,
    Weigher,
    checked_answer,
    checked_mask,
    checked_selection,
    most_selected,
    needs_of,
)
from fallow.policies.battery_weighted import BatteryWeighted
from fallow.policies.cycp import CyCP
from fallow.policies.eafl import EAFL
from fallow.policies.fedavg import FedAvg
from fallow.policies.fedbacys import FedBacys
from fallow.policies.fedbacys_odd import FedBacysOdd
from fallow.policies.fedzero import FedZero
from fallow.policies.foresight import Foresight
from fallow.policies.fullest_battery import FullestBattery
from fallow.policies.guler_yener import GulerYener
from fallow.policies.importance import importances
from fallow.policies.label_balanced import LabelBalanced
from fallow.policies.oldest import Oldest
from fallow.policies.oort import Oort
from fallow.policies.power_of_choice import PowerOfChoice
from fallow.policies.random_k import RandomK
from fallow.policies.reserve import Reserve, Reserving
from fallow.policies.round_robin import RoundRobin
from fallow.policies.unlimited import Unlimited
from fallow.policies.vaoi import VAoI
from fallow.policies.vaoi_parameters import VAoIParameters

POLICIES: dict[str, type] = {
    "vaoi": VAoI,
    "fedavg": FedAvg,
    "fedbacys": FedBacys,
    "fedbacys-odd": FedBacysOdd,
    "random-k": RandomK,
    "round-robin": RoundRobin,
    "oldest": Oldest,
    "fullest-battery": FullestBattery,
    "unlimited": Unlimited,
    "vaoi-parameters": VAoIParameters,
    "reserve": Reserve,
    "oort": Oort,
    "power-of-choice": PowerOfChoice,
    "eafl": EAFL,
    "fedzero": FedZero,
    "guler-yener": GulerYener,
    "cycp": CyCP,
    "battery-weighted": BatteryWeighted,
    "label-balanced": LabelBalanced,
    "foresight": Foresight,
}

__all__ = [
    "POLICIES",
    "AnyPolicy",
    "BatteryWeighted",
    "Distance",
    "EpochView",
    "FedAvg",
    "FedBacys",
    "FedBacysOdd",
    "FullestBattery",
    "Known",
    "Mask",
    "Needs",
    "Needy",
    "Oldest",
    "Policy",
    "RandomK",
    "Reserve",
    "Reserving",
    "RoundRobin",
    "SlotView",
    "Starter",
    "Unlimited",
    "VAoI",
    "VAoIParameters",
    "Weigher",
    "checked_answer",
    "checked_mask",
    "checked_selection",
    "importances",
    "most_selected",
    "needs_of",
]
