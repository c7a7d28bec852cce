from pathlib import Path

import numpy as np
import pytest

from fallow.planning.weather import MONTH_DAYS, STEPS, share_units
from tests.planning.nodes import make_node, world_of, write_trace


def test_a_larger_panel_gets_every_unit_that_a_smaller_one_gets() -> None:
    totals = np.arange(3 * STEPS)[:, None]
    gains = np.diff(share_units(totals, np.arange(1, 3 * STEPS, 37)), axis=0)
    assert (gains >= 0).all()
    assert (np.diff(gains, axis=1) >= 0).all()


def test_a_panel_gets_its_share_to_within_a_few_units_however_long_it_takes() -> None:
    steps = np.arange(1, STEPS + 1)
    totals = np.arange(STEPS)[:, None] + 10**9 // STEPS * STEPS
    off = share_units(totals, steps) - totals * (steps / STEPS)
    assert np.abs(off).max() < 5
    assert (share_units(totals, np.array(STEPS)) == totals).all()
    assert (share_units(totals, np.array(2 * STEPS)) == 2 * totals).all()


def test_rounds_of_a_panel_are_those_of_the_model_times_its_size() -> None:
    node = make_node({"model": "bernoulli", "p": 0.5}, years=3, warm_up_days=30)
    _, weather = world_of(node)
    assert weather.units.shape == ((30 + 365) * 24, 3)
    rounds = list(weather.harvest(np.array([STEPS // 2, STEPS, 3 * STEPS])))
    half, whole, thrice = np.concatenate(rounds).transpose(1, 0, 2)
    assert (whole == weather.units).all()
    assert (thrice == 3 * whole).all()
    assert np.abs(half.sum(axis=0) - whole.sum(axis=0) / 2).max() < 5


def test_the_months_of_daily_rounds_are_those_of_the_calendar() -> None:
    _, weather = world_of(make_node())
    assert weather.month_days.tolist() == list(MONTH_DAYS)
    assert [weather.ends_month(day) for day in (29, 30, 31, 364)] == [False, True, False, True]


def test_a_year_that_is_counted_from_april_has_its_january_last() -> None:
    _, weather = world_of(make_node(warm_up_days=90))
    assert weather.months[0] == 3
    assert weather.months[-1] == 2
    assert weather.month_days.tolist() == list(MONTH_DAYS)


@pytest.mark.parametrize(("round_hours", "rounds"), [(1, 8760), (24, 365), (168, 52), (720, 12)])
def test_a_year_has_as_many_rounds_as_fit(round_hours: float, rounds: int) -> None:
    _, weather = world_of(make_node(round_hours=round_hours))
    assert weather.rounds == len(weather.months) == rounds


def test_the_years_of_a_trace_are_its_years_one_after_another(tmp_path: Path) -> None:
    trace = np.repeat([1, 2, 3], 8760)
    node = make_node(write_trace(tmp_path / "sun.csv", trace), years=4, warm_up_days=365)
    _, weather = world_of(node)
    warm_up, counted = weather.units[:8760], weather.units[8760:]
    assert warm_up.mean(axis=0).tolist() == [1, 2, 3, 1]
    assert counted.mean(axis=0).tolist() == [2, 3, 1, 2]


def test_months_are_those_of_the_date_at_which_the_sun_or_a_file_begins(tmp_path: Path) -> None:
    file = tmp_path / "roof.csv"
    file.write_text("time,watts\n2025-03-01T00:00+01:00,1\n2025-03-02T00:00+01:00,2\n")
    watts = {"model": "watts", "path": str(file), "timezone": "+01:00"}
    for energy in (watts, {"model": "solar", "start": "2025-03-01"}):
        _, weather = world_of(make_node(energy, round_hours=24 * 5, slot_seconds=86_400.0))
        assert (weather.months[0], weather.months[-1]) == (2, 1)


def test_clouds_differ_from_year_to_year_and_a_clear_sky_has_one_year() -> None:
    coarse = {"slot_seconds": 86_400.0, "round_hours": 240.0, "years": 3}
    _, cloudy = world_of(make_node({"model": "solar", "area": 0.1}, **coarse))
    assert cloudy.years == 3
    assert (cloudy.units[:, 0] != cloudy.units[:, 1]).any()
    _, clear = world_of(make_node({"model": "solar", "area": 0.1, "depth": 0.0}, **coarse))
    assert clear.years == 1
