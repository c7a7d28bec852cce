"""How long a plan takes: device-years of hourly slots a second on all cores, and the whole command.

The candidates live through a warm-up year and the year that counts, and both are counted here, as device-years. Once
with a plain device, once with every loss and cost. `make bench-plan` runs it.
"""

import platform
import time

import numpy as np

from fallow.planning.lives import Candidates, live
from fallow.planning.node import Node
from fallow.planning.plan import plan
from fallow.planning.sizes import count_costs
from fallow.planning.weather import STEPS, draw_weather
from fallow.processors import available_processors

YEARS = 50
DEVICE_YEARS = 100_000
PLAIN = {"train_joules": 30.0, "transmit_joules": 2.0, "capacity_joules": 500.0}
FULL = PLAIN | {
    "idle_watts": 0.0005,
    "efficiency": 0.85,
    "self_discharge": 0.001,
    "cutoff": 0.1,
    "wake": 0.2,
    "listen_joules": 0.5,
    "download_joules": 1.0,
}
ENERGY = {"model": "poisson", "rate": 0.3, "packet": 100}
"""Packets of 10 J, 72 of them a day."""


def describe(device: dict[str, float], years: int) -> Node:
    wish = {"trainings_per_day": 4.0}
    return Node(device=device, energy=ENERGY, wish=wish, unit_joules=0.1, years=years)


def main() -> None:
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {available_processors()} processors")
    for words, device in (("plain device", PLAIN), ("every loss and cost", FULL)):
        node = describe(device, YEARS)
        costs = count_costs(node, node.unit_joules)
        begin = time.perf_counter()
        weather = draw_weather(node, costs.scale)
        drawn = time.perf_counter() - begin
        count = DEVICE_YEARS // 2 // YEARS
        candidates = Candidates(np.geomspace(40, 4000, count), np.full(count, STEPS, dtype=np.int64))
        begin = time.perf_counter()
        live(node, costs, weather, candidates, keep_books=True)
        elapsed = time.perf_counter() - begin
        rate = count * weather.units.size / elapsed
        print(f"{words}: {DEVICE_YEARS:,} device-years in {elapsed:.0f} s, {rate:.2g} device-slots a second")
        print(f"  weather of {YEARS} years with their warm-up: {drawn:.1f} s")
        begin = time.perf_counter()
        plan(node.model_copy(update={"years": 20}).model_dump(exclude={"energy"}) | {"energy": ENERGY}, progress=False)
        print(f"  a whole plan of 20 years: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
