"""Small nodes for tests, in joules that are units."""

from pathlib import Path
from typing import Any

import numpy as np

from fallow.planning.lives import Lives, live
from fallow.planning.node import Node
from fallow.planning.search import Candidates
from fallow.planning.sizes import Costs, count_costs
from fallow.planning.weather import STEPS, Weather, draw_weather

DEVICE = {"train_joules": 10.0, "transmit_joules": 1.0, "capacity_joules": 40.0, "initial": 0.0}


def make_node(energy: Any = None, device: Any = (), trainings_per_day: float = 1.0, **settings: Any) -> Node:
    """A node whose unit is a joule; it lives one year, from its first day."""
    table = {"unit_joules": 1.0, "years": 1, "warm_up_days": 0, "wish": {"trainings_per_day": trainings_per_day}}
    energy = energy or {"model": "bernoulli", "p": 0.5}
    return Node(**table | {"device": DEVICE | dict(device), "energy": energy} | settings)


def write_trace(path: Path, units: Any) -> dict[str, str]:
    """Writes a trace, and returns the section that names it."""
    np.savetxt(path, units, fmt="%d")
    return {"model": "trace", "path": str(path)}


def world_of(node: Node) -> tuple[Costs, Weather]:
    costs = count_costs(node, node.unit_joules)
    return costs, draw_weather(node, costs.scale)


def live_with(node: Node, *sizes: tuple[float, float], keep_books: bool = False) -> Lives:
    """Lives with some (battery in joules, panel as a multiple)."""
    batteries = np.array([battery for battery, _ in sizes])
    panels = np.array([round(panel * STEPS) for _, panel in sizes])
    return live(node, *world_of(node), Candidates(batteries, panels), keep_books=keep_books)
