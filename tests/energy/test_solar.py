import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from fallow.energy import Scale, Solar, prepare_harvest
from fallow.energy.cloudy import Cloudy
from fallow.energy.steady import ROUNDING, Steady
from fallow.energy.sun import Orientation, Place
from fallow.energy.typical_year import TypicalYear, read_year
from fallow.errors import ConfigError, TraceError
from fallow.experiment import Experiment

pvlib = pytest.importorskip("pvlib")

HOURLY = Scale(slot_seconds=3600, unit_joules=1.0)
NEW_YEAR = datetime(2025, 1, 1, tzinfo=UTC)
JUNE = {"start": "2025-06-21", "area": 0.001}


def units(model: Solar, epochs, clients: int = 2, slots: int = 24, scale: Scale = HOURLY, **more) -> np.ndarray:
    harvest = prepare_harvest(model, seed=5, clients=clients, slots_per_epoch=slots, scale=scale, **more)
    return np.concatenate([np.array(list(harvest(epoch))) for epoch in epochs])


def test_units_are_irradiance_times_area_times_efficiency_fractions_carried_over_the_whole_run():
    model = Solar(**JUNE, efficiency=0.15, depth=0.0)
    lived = units(model, range(40), slots=7)[:, 0].cumsum()
    real = model.at_scale(HOURLY).totals(np.arange(1, 281))[:, 0] * 0.001 * 0.15
    assert np.array_equal(lived, np.floor(real + ROUNDING))


def test_a_slot_of_a_second_and_a_slot_of_a_week_are_cut_from_the_same_sun():
    noon = Solar(start="2025-06-21T10:00", depth=0.0)
    seconds = units(noon, [0], slots=7200, scale=Scale(1.0, 1e-3), clients=1)
    hours = units(noon, [0], slots=2, scale=Scale(3600, 1e-3), clients=1)
    assert seconds.reshape(2, 3600).sum(axis=1).tolist() == hours[:, 0].tolist()
    assert hours.min() > 1e6
    week = units(Solar(**JUNE, depth=0.0), [0], slots=1, scale=Scale(7 * 86_400, 1.0), clients=1)
    days = units(Solar(**JUNE, depth=0.0), [0], slots=7, scale=Scale(86_400, 1.0), clients=1)
    assert week.sum() == days.sum() > 0


def test_clouds_take_their_share_and_no_more():
    clear = units(Solar(**JUNE, depth=0.0), range(3), clients=4)
    cloudy = units(Solar(**JUNE, depth=0.5), range(3), clients=4)
    assert (cloudy <= clear + 1).all()
    assert (cloudy.sum(axis=0) >= 0.5 * clear.sum(axis=0) - 3).all()
    assert (cloudy[clear == 0] <= 1).all()


def test_carried_fractions_leave_the_mean_right_also_where_an_epoch_brings_less_than_a_unit():
    model = Solar(**JUNE, depth=0.5, persistence=1.0)
    scale = Scale(slot_seconds=3600, unit_joules=1000.0)
    lived = units(model, [0, 1], clients=20_000, slots=24, scale=scale)
    real = np.diff(model.at_scale(scale).clear.totals(np.arange(49))[:, 0]) * 0.001 * 0.2 / 1000 * 0.75
    assert real.sum() < 20  # units in two days
    assert lived.mean(axis=1) == pytest.approx(real, abs=0.02)


@pytest.mark.parametrize("options", [{}, {"depth": 0.0}, {"year": "703165TY.csv"}])
def test_an_epoch_alone_is_the_same_as_in_a_run(options):
    model = Solar(**JUNE, **options)
    whole = units(model, range(9), slots=10).reshape(9, 10, 2)
    assert np.array_equal(units(model, [7], slots=10), whole[7])
    assert np.array_equal(units(model, [7, 3], slots=10), np.concatenate([whole[7], whole[3]]))


def test_a_larger_panel_never_has_less_by_any_slot():
    lived = units(Solar(**(JUNE | {"area": (0.001, 0.0012, 0.01)})), range(5), clients=3, correlation=1.0)
    # Fractions are each client's own; so a unit in an epoch is left to chance.
    total = lived.cumsum(axis=0)
    assert (np.diff(total, axis=1) >= -5).all()


def test_shared_clouds_are_the_same_for_everyone():
    lived = units(Solar(**JUNE), [0, 1], clients=5, correlation=1.0, scale=Scale(3600, 1e-3))
    assert (np.ptp(lived, axis=1) <= 1).all()
    alone = units(Solar(**JUNE), [0, 1], clients=5, scale=Scale(3600, 1e-3))
    assert np.ptp(alone, axis=1).max() > 100


def test_the_mean_is_that_of_a_year_and_another_mean_is_another_panel():
    model = Solar(start="2025-03-01", depth=0.4, efficiency=(0.1, 0.2)).at_scale(HOURLY)
    assert isinstance(model, Cloudy)
    clear = Solar(start="2025-03-01", depth=0.0, efficiency=(0.1, 0.2)).at_scale(HOURLY)
    year = units(Solar(start="2025-03-01", depth=0.0, efficiency=(0.1, 0.2)), [0], slots=8760)
    assert clear.mean(2) == pytest.approx(year.mean(axis=0), abs=1e-3)
    assert model.mean(2) == pytest.approx(0.8 * clear.mean(2))
    assert model.with_mean(3.0).mean(2) == pytest.approx([2.0, 4.0])
    assert clear.with_mean(3.0).mean(2) == pytest.approx([2.0, 4.0])


def test_without_clouds_the_forecast_is_the_truth():
    model = Solar(**JUNE, depth=0.0, efficiency=(0.1, 0.2)).at_scale(HOURLY)
    lived = units(Solar(**JUNE, depth=0.0, efficiency=(0.1, 0.2)), [2, 3], slots=10)
    expected, error = model.prepare_forecast(5, 2, 10)(2, 2)
    assert expected.tolist() == [[lived[1:10, client].sum(), lived[10:, client].sum()] for client in (0, 1)]
    assert not error.any()


def test_under_clouds_the_forecast_misses_by_as_much_as_it_says():
    model, scale = Solar(**JUNE, depth=0.8, persistence=5.0), Scale(3600, 20.0)
    lived = units(model, [1, 2], clients=3000, slots=12, scale=scale)
    expected, error = model.at_scale(scale).prepare_forecast(5, 3000, 12)(1, 2)
    missed = np.stack([lived[1:12].sum(axis=0), lived[12:].sum(axis=0)], axis=1) - expected
    assert np.abs(missed.mean(axis=0)).max() < 4 * error.mean() / np.sqrt(3000)
    assert (missed**2).mean(axis=0) == pytest.approx((error**2).mean(axis=0), rel=0.1)
    # Asked alone, or after another epoch, it is the same.
    again = model.at_scale(scale).prepare_forecast(5, 3000, 12)
    again(0, 1)
    assert np.array_equal(again(1, 2).units, expected)


def test_a_panel_of_no_area_can_have_no_mean():
    with pytest.raises(ConfigError, match=r"The panel gives nothing, so energy\.mean can't be had of it"):
        Solar(area=0.0).at_scale(HOURLY).with_mean(2.0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"latitude": 95.0}, r"energy\.latitude = 95\.0 must be at most 90"),
        ({"longitude": -200.0}, r"energy\.longitude = -200\.0 must be at least -180"),
        ({"depth": 1.5}, r"energy\.depth = 1\.5 must be at most 1"),
        ({"area": -1.0}, r"energy\.area"),
    ],
)
def test_a_place_or_panel_that_does_not_exist_is_one_sentence(settings, words):
    with pytest.raises(ConfigError, match=words):
        Experiment(energy={"model": "solar", **settings})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"start": "midsummer"}, r"energy\.start = 'midsummer' is no date and time; write it as in 2025-06-21"),
        (
            {"timezone": "Europe/Romme"},
            r"energy\.timezone = 'Europe/Romme' is no time zone; did you mean 'Europe/Rome'",
        ),
        ({"timezone": "qqqq"}, r"energy\.timezone = 'qqqq' is no time zone; write a name such as Europe/Rome"),
        ({"area": (0.1, 0.2, 0.3)}, r"has 3 numbers for 2 clients"),
        ({"efficiency": (0.1, 0.2, 0.3), "area": (0.1, 0.2)}, r"energy\.efficiency has 3 numbers for 2 clients"),
        ({"start": "2245-01-01", "depth": 0.0}, r"beyond the year 2250"),
    ],
)
def test_what_can_not_be_is_one_sentence(settings, words):
    with pytest.raises(ConfigError, match=words):
        units(Solar(**settings), [0, 2000])


def test_watts_without_a_scale_are_one_sentence():
    with pytest.raises(ConfigError, match=r"The sun is in watts, and slot_seconds and unit_joules are not stated"):
        Solar().prepare(0, 2, 3)
    with pytest.raises(ConfigError, match="unit_joules is not stated"):
        Experiment(energy="solar", slot_seconds=60.0).build_harvest()


def test_without_pvlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pvlib", None)
    with pytest.raises(ConfigError, match=r"needs pvlib, which is not installed; .*pip install 'fallow\[solar\]'\.$"):
        units(Solar(start="2031-01-01", depth=0.0), [0])


def test_weather_can_not_be_shared_where_there_is_none():
    for options in ({"depth": 0.0}, {"year": "703165TY.csv"}):
        with pytest.raises(ConfigError, match=r"energy\.correlation = 0\.5 is for models in which chance decides"):
            units(Solar(**options), [0], correlation=0.5)


@pytest.mark.parametrize(
    ("name", "latitude"),
    [("723170TYA.CSV", 36.1), ("703165TY.csv", 55.317), pytest.param("12839.tm2", 25.8, marks=pytest.mark.slow)],
)
def test_pvlibs_typical_years_are_read_from_pvlib_and_say_where_they_are(name, latitude):
    year = read_year(name, Orientation(0.0, 180.0), NEW_YEAR)
    assert year.place.latitude == latitude
    assert 700 < year.mean_watts() * 8.76 < 2000  # kWh a square metre and year on the level


def test_a_level_panel_has_the_global_irradiance_of_the_file():
    data, _ = pvlib.iotools.read_tmy3(Path(pvlib.__file__).parent / "data" / "723170TYA.CSV", coerce_year=2025)
    year = read_year("723170TYA.CSV", Orientation(0.0, 180.0), NEW_YEAR)
    # GHI is DHI + DNI·cos(zenith) but for rounding, and for the hours of sunrise and sunset.
    assert year.watts.sum() == pytest.approx(data["ghi"].sum(), rel=0.02)
    noon = np.arange(12, 8760, 24)
    assert year.watts[noon] == pytest.approx(data["ghi"].to_numpy()[noon], abs=25)


def test_a_leap_year_has_28_february_twice():
    watts = np.repeat(np.arange(365.0), 24)  # each hour has the number of its day
    days = np.arange(800) * 86_400.0
    for start, january in ((datetime(2024, 1, 1), 366), (datetime(2025, 1, 1), 365)):
        joules = np.diff(TypicalYear(watts, Place(0, 0), start).joules(days)) / 86_400
        assert joules[57:61].tolist() == ([57, 58, 58, 59] if january == 366 else [57, 58, 59, 60])
        assert joules[january - 1 : january + 2].tolist() == [364, 0, 1]
    half = TypicalYear(watts, Place(0, 0), datetime(2025, 12, 31, 12)).joules(np.array([0.0, 43_200, 129_600.5]))
    assert half.tolist() == [0.0, 364 * 43_200, 364 * 43_200 + 0.5]


def test_a_typical_year_begins_in_its_stations_own_standard_time():
    # Greensboro is five hours behind: at noon UTC it is 7 in the morning, and the sun of January rises at half past.
    lived = units(Solar(start="2025-01-10T12:00", year="723170TYA.CSV"), [0], clients=1)[:, 0]
    assert lived[:10].min() > 0
    assert lived[11:].max() == 0
    assert isinstance(Solar(year="723170TYA.CSV").at_scale(HOURLY), Steady)


def write_epw(path: Path, watts: float) -> None:
    """Writes a year in which the sky sends so many watts a square metre, day and night, and the sun none."""
    head = ["LOCATION,Padova,-,ITA,made,0,45.41,11.88,1.0,12.0", *[f"HEADER {line}" for line in range(7)]]
    hours = np.datetime64("2025-01-01T00", "h") + np.arange(8760)
    rows = []
    for hour in hours.tolist():
        cells = ["0"] * 35
        cells[:5] = ["2025", str(hour.month), str(hour.day), str(hour.hour + 1), "0"]
        cells[13], cells[15] = f"{watts}", f"{watts}"
        rows.append(",".join(cells))
    path.write_text("\n".join(head + rows) + "\n", encoding="utf-8")


def test_a_year_of_the_users_own_is_read_as_energyplus_writes_it(tmp_path):
    write_epw(tmp_path / "padova.epw", watts=100.0)
    year = read_year(str(tmp_path / "padova.epw"), Orientation(0.0, 180.0), NEW_YEAR)
    assert (year.place, year.start) == (Place(45.41, 11.88, 12.0), datetime(2025, 1, 1, 1))
    assert year.watts == pytest.approx(np.full(8760, 100.0))
    write_epw(tmp_path / "padova.epw", watts=-1.0)
    with pytest.raises(TraceError, match=r"padova\.epw, hour 1: the irradiance is missing or negative"):
        read_year(str(tmp_path / "padova.epw"), Orientation(0.0, 180.0), NEW_YEAR)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.csv", r"There is no typical year 'nowhere\.csv'; .*723170TYA\.CSV \(Greensboro\)"),
        ("Padova", r"The typical year 'Padova' must be a TMY3 file"),
        ("junk.csv", r"The typical year 'junk\.csv' can't be read as a \.csv file"),
        ("junk.epw", r"The typical year 'junk\.epw' can't be read as a \.epw file"),
    ],
)
def test_a_year_that_can_not_be_read_is_one_sentence(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for junk in ("junk.csv", "junk.epw"):
        (tmp_path / junk).write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(TraceError, match=words):
        units(Solar(year=name), [0])


def test_a_start_may_be_a_date_of_toml() -> None:
    scale = {"slot_seconds": 3600.0, "unit_joules": 1.0}
    written = Experiment.from_toml(
        'slot_seconds = 3600.0\nunit_joules = 1.0\nenergy = {model = "solar", start = 2026-01-01}'
    )
    assert written == Experiment(energy={"model": "solar", "start": "2026-01-01"}, **scale)
    assert (
        Experiment.read(None, ["energy.model=solar", "energy.start=2026-01-01T12:00:00+01:00"]).energy.options["start"]
        == "2026-01-01T12:00:00+01:00"
    )
