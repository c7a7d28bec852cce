"""Days and seasons by a formula: lengths of days, energy that is kept, and clouds."""

import subprocess
import sys

import numpy as np
import pytest

from fallow.energy import Daylight, Scale, prepare_harvest
from fallow.errors import ConfigError

MINUTES = Scale(slot_seconds=60.0, unit_joules=0.01)


def units(model: Daylight, epoch: int = 0, scale: Scale = MINUTES, slots: int = 1440, **more) -> np.ndarray:
    harvest = prepare_harvest(model, seed=0, clients=2, slots_per_epoch=slots, scale=scale, **more)
    return np.array([np.asarray(slot) for slot in harvest(epoch)])


@pytest.mark.parametrize(
    ("latitude", "day", "hours"),
    [(0.0, 81, 12.0), (45.0, 81, 12.0), (45.0, 172, 15.43), (45.0, 355, 8.57), (-45.0, 172, 8.57), (80.0, 172, 24.0)],
)
def test_days_have_their_length(latitude: float, day: int, hours: float) -> None:
    """By hand: the hour angle of dusk is arccos(−tan φ · tan δ), and δ = 23.45° at the solstices."""
    lit = np.count_nonzero(units(Daylight(latitude=latitude, day=day, depth=0.0))[:, 0]) / 60
    assert lit == pytest.approx(hours, abs=0.1)


def test_polar_night_has_none() -> None:
    assert not units(Daylight(latitude=80.0, day=355, depth=0.0)).any()
    assert not units(Daylight(latitude=-90.0, day=172, depth=0.0)).any()


def test_the_sun_is_highest_at_noon_and_overhead_at_the_equator_on_the_equinox() -> None:
    day = units(Daylight(latitude=0.0, day=81, watts=2.0, depth=0.0))[:, 0]
    assert abs(int(day.argmax()) - 720) <= 3  # whole units, which minutes around noon share
    assert day.max() * 0.01 == pytest.approx(120, rel=1e-3)  # 2 W for a minute
    assert day.sum() * 0.01 == pytest.approx(2 * 86_400 / np.pi, rel=1e-3)


def test_long_slots_bring_what_short_ones_do_and_years_repeat() -> None:
    model = Daylight(day=300, depth=0.0)
    week = units(model, slots=1, scale=Scale(7 * 86_400.0, 1.0))[0, 0]
    days = units(model, slots=7, scale=Scale(86_400.0, 1.0))[:, 0]
    assert days.sum() == week
    later = units(model, epoch=365, slots=24, scale=Scale(3600.0, 1.0))[:, 0]
    assert np.abs(later - units(model, slots=24, scale=Scale(3600.0, 1.0))[:, 0]).max() <= 1  # a carried fraction


@pytest.mark.parametrize("depth", [0.0, 0.8])
def test_a_year_has_the_mean_and_energy_mean_sets_it(depth: float) -> None:
    year = units(Daylight(depth=depth), slots=8760, scale=Scale(3600.0, 1.0), mean=50.0)
    assert year.mean() == pytest.approx(50.0, rel=0.02)


def test_clouds_take_some_and_can_be_shared() -> None:
    clear, cloudy = (units(Daylight(day=172, depth=depth), slots=24, scale=Scale(3600.0, 1.0)) for depth in (0.0, 0.8))
    assert (cloudy <= clear + 1).all()
    assert cloudy.sum() < clear.sum()
    shared = units(Daylight(day=172), slots=24, scale=Scale(3600.0, 1.0), correlation=1.0)
    assert np.abs(shared[:, 0] - shared[:, 1]).max() <= 1
    assert np.abs(cloudy[:, 0] - cloudy[:, 1]).max() > 1


def test_clients_have_panels_of_their_own() -> None:
    small, large = units(Daylight(day=172, watts=(1.0, 3.0), depth=0.0)).sum(axis=0)
    assert large == pytest.approx(3 * small, abs=3)


def test_watts_need_a_slot_and_a_unit() -> None:
    with pytest.raises(ConfigError, match="Daylight is in watts, and slot_seconds and unit_joules are not stated"):
        prepare_harvest(Daylight(), seed=0, clients=2, slots_per_epoch=24)


def test_it_needs_no_other_package() -> None:
    code = (
        "import sys; sys.modules['pvlib'] = None\n"
        "from fallow.energy import Daylight, Scale, prepare_harvest\n"
        "list(prepare_harvest(Daylight(), seed=0, clients=1, slots_per_epoch=9, scale=Scale(9600.0, 1.0))(0))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
