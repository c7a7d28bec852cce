"""Devices of a plan against the engine, the books, and what a larger battery or panel does."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.planning.books import HARVESTED, WAYS
from fallow.simulation.engine import Engine
from tests.planning.nodes import DEVICE, live_with, make_node, write_trace

ALL = {"efficiency": 0.83, "self_discharge": 0.07, "idle_watts": 0.27 / 3600, "cutoff": 0.1, "wake": 0.2}
ALL |= {"listen_joules": 1.0, "download_joules": 2.0, "train_seconds": 3 * 3600.0, "transmit_seconds": 2 * 3600.0}


def engine_of(node: Any, epochs: int, clients: int = 1) -> Engine:
    """The device of a node as each client of the engine."""
    device = node.device
    capacity = int(device.capacity_joules)
    seconds = {"train_slots": device.train_seconds, "transmit_slots": device.transmit_seconds}
    slots = {name: max(1, math.ceil(length / node.slot_seconds)) for name, length in seconds.items()}
    experiment = Experiment(
        seed=node.seed,
        clients=clients,
        epochs=epochs,
        slots_per_epoch=node.slots_per_round,
        slot_seconds=node.slot_seconds,
        unit_joules=1.0,
        energy=node.model,
        policy={"name": "fedavg" if node.policy.name == "greedy" else "reserve"},
        battery={
            "capacity": capacity,
            "initial": int(device.initial * capacity),
            "efficiency": device.efficiency,
            "self_discharge": device.self_discharge,
            "idle": device.idle_watts * node.slot_seconds,
            "cutoff": int(device.cutoff * capacity),
            "wake": int(device.wake * capacity),
        },
        cost={
            "train": int(device.train_joules),
            "transmit": int(device.transmit_joules),
            "listen": int(device.listen_joules),
            "download": int(device.download_joules),
            **slots,
        },
        output={"events": False},
    )
    return Engine(experiment)


@pytest.mark.parametrize("policy", ["greedy", "reserve"])
@pytest.mark.parametrize("features", [{}, ALL], ids=["plain", "every feature"])
@pytest.mark.parametrize("source", ["trace", "bernoulli"])
def test_a_device_does_in_a_plan_what_it_does_in_the_engine(
    source: str, features: dict[str, float], policy: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    energy = {"model": "bernoulli", "p": 0.6}
    if source == "trace":
        energy = write_trace(tmp_path / "sun.csv", rng.integers(0, 4, 24 * 365))
    node = make_node(energy, features, policy={"name": policy}, seed=3)
    lives = live_with(node, (40.0, 1.0), keep_books=True)
    engine = engine_of(node, 365)
    for _ in engine:
        pass
    state = engine.world.state
    assert lives.books is not None
    assert lives.starts.sum() == state.starts[0] > 100
    assert lives.books.uploads.sum() == state.uploads[0]
    assert lives.books.entries["overflow"].sum() == state.overflow[0]
    assert lives.books.entries["stored"].sum() == state.battery[0]


def test_a_warmed_up_year_is_that_of_the_long_run_by_the_engine(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    days = rng.integers(0, 40, (2 * 365, 4)) * (np.arange(4) > 1)  # often full: it forgets how it began
    trace = write_trace(tmp_path / "sun.csv", days.ravel())
    node = make_node(trace, years=4, warm_up_days=365, slot_seconds=21_600.0)
    starts = live_with(node, (40.0, 1.0)).starts.sum(axis=2)[0]
    long_run = [record.starts for record in engine_of(node, 5 * 365)]
    assert starts.tolist() == np.sum(np.reshape(long_run, (5, 365)), axis=1)[1:].tolist()
    assert len(set(starts.tolist())) > 1


def test_months_add_up_to_the_year_and_are_counted_where_they_happen(tmp_path: Path) -> None:
    july = np.zeros(365 * 24, dtype=int)
    july[181 * 24 : 212 * 24 : 24] = 11  # one training and its upload on every day of July
    lives = live_with(make_node(write_trace(tmp_path / "sun.csv", july)), (40.0, 1.0))
    assert lives.starts[0, 0].tolist() == [0] * 6 + [31] + [0] * 5


@pytest.mark.parametrize("features", [{}, ALL], ids=["plain", "every feature"])
def test_the_harvest_of_every_month_is_what_became_of_it_to_the_unit(features: dict[str, float]) -> None:
    node = make_node({"p": 0.7}, features, years=5, warm_up_days=30)
    books = live_with(node, (40.0, 1.3), keep_books=True).books
    assert books is not None
    assert (sum(books.entries[way] for way in WAYS) == books.entries[HARVESTED]).all()
    assert books.entries[HARVESTED].sum() > 5 * 365 * 24 * 0.7


def test_outage_is_the_time_without_the_energy_to_act(tmp_path: Path) -> None:
    # A day: 11 units at once; the device trains in the first hour, sends in the second, and then has nothing.
    day = np.zeros(24, dtype=int)
    day[0] = 11
    books = live_with(make_node(write_trace(tmp_path / "sun.csv", day)), (40.0, 1.0), keep_books=True).books
    assert books is not None
    assert books.short.sum() == 365 * 22
    idle = live_with(
        make_node(write_trace(tmp_path / "sun.csv", day), policy={"selected": 0.0}), (40.0, 1.0), keep_books=True
    )
    assert idle.books is not None
    assert idle.books.short.sum() == 0  # from the first hour on it could train, and is never asked to


def test_a_server_that_selects_half_of_the_rounds_selects_all_candidates_in_the_same_ones() -> None:
    node = make_node({"p": 1.0}, policy={"selected": 0.5}, years=3)
    starts = live_with(node, (11.0, 1.0), (11.0, 1.0)).starts
    assert (starts[0] == starts[1]).all()
    everyone = live_with(make_node({"p": 1.0}, years=3), (11.0, 1.0)).starts
    assert 0.4 * everyone.sum() < starts[0].sum() < 0.7 * everyone.sum()


def test_many_candidates_in_parts_and_threads_do_what_each_does_alone(monkeypatch) -> None:
    node = make_node({"p": 0.7}, ALL, years=3)
    sizes = [(20.0 + 7 * number, 0.5 + 0.25 * number) for number in range(7)]
    together = live_with(node, *sizes).starts
    monkeypatch.setattr("fallow.planning.lives.CLIENTS_AT_ONCE", 6)
    assert (live_with(node, *sizes).starts == together).all()
    assert (live_with(node, sizes[4]).starts == together[4:5]).all()


def test_the_energy_of_a_year_is_an_upper_bound() -> None:
    starts = live_with(make_node({"p": 0.5}, years=4), (40.0, 1.0)).starts.sum(axis=2)
    assert (starts * 11 <= 8760 * 0.55).all()
    assert (starts * 11 >= 8760 * 0.45).all()


def test_a_battery_below_one_training_never_trains() -> None:
    assert DEVICE["train_joules"] == 10.0
    assert live_with(make_node({"p": 1.0}), (9.9, 1.0), (10.0, 1.0)).starts.sum(axis=(1, 2)).tolist()[0] == 0


@pytest.mark.parametrize(
    "energy",
    [{"model": "markov", "good": 5.0, "bad": 10.0, "units_good": 6.0}, {"model": "poisson", "rate": 0.4, "packet": 5}],
    ids=lambda energy: energy["model"],
)
def test_other_weather_of_the_same_law_gives_the_engine_the_same_mean_within_its_spread(energy: dict[str, Any]) -> None:
    node = make_node(energy, ALL, years=40, slot_seconds=21_600.0, seed=1)
    planned = live_with(node, (40.0, 1.0)).starts.sum(axis=(0, 2))
    engine = engine_of(make_node(energy, ALL, slot_seconds=21_600.0, seed=2), 365, clients=40)
    for _ in engine:
        pass
    lived = engine.world.state.starts
    error = np.sqrt((planned.var(ddof=1) + lived.var(ddof=1)) / 40)
    assert abs(planned.mean() - lived.mean()) < 4 * error
    assert planned.mean() > 20
