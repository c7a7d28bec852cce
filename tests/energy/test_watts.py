from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from fallow.energy import Scale, Watts, prepare_harvest
from fallow.errors import ConfigError, TraceError
from fallow.experiment import Experiment

MINUTE = Scale(slot_seconds=60, unit_joules=1.0)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*rows: str, header: str = "time,watts") -> str:
    Path("roof.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return "roof.csv"


def units(model: Watts, epochs, clients: int = 1, slots: int = 5, scale: Scale = MINUTE, **more) -> list:
    harvest = prepare_harvest(model, seed=0, clients=clients, slots_per_epoch=slots, scale=scale, **more)
    found = np.concatenate([np.array(list(harvest(epoch))) for epoch in epochs])
    return (found[:, 0] if clients == 1 else found).tolist()


def test_power_holds_until_the_next_stamp_and_slots_that_straddle_one_get_of_both():
    path = write("2025-06-21T12:00:00Z,1", "2025-06-21T12:01:30Z,3", "2025-06-21T12:03:00Z,0")
    # 60 J; 30 · 1 + 30 · 3; 60 · 3; then 0 for the last row, which lasts the typical 90 s; then again.
    assert units(Watts(path), [0]) == [60, 120, 180, 0, 30]
    assert units(Watts(path, end="zeros"), [0]) == [60, 120, 180, 0, 0]


def test_after_the_last_row_it_may_go_on():
    path = write("2025-06-21T12:00Z,1", "2025-06-21T12:02Z,2")
    assert units(Watts(path, end="hold"), [0, 1]) == [60, 60, 120, 120, 120, 120, 120, 120, 120, 120]
    assert units(Watts(path, end="zeros"), [0]) == [60, 60, 120, 120, 0]
    assert units(Watts(path), [0]) == [60, 60, 120, 120, 60]


def test_any_number_of_slots_has_the_integral_of_the_file_to_a_unit():
    rng = np.random.default_rng(4)
    seconds = np.cumsum(rng.integers(1, 900, 400))
    watts = rng.random(400).round(3)
    path = write(*(f"{t},{w}" for t, w in zip(seconds, watts, strict=True)))
    lengths = np.append(np.diff(seconds), np.median(np.diff(seconds)))
    for slot_seconds, unit in ((7.3, 0.9), (60.0, 3.0), (3600.0, 0.01), (1e5, 7.0)):
        scale = Scale(slot_seconds, unit)
        lived = np.array(units(Watts(path, gap=1000.0), range(60), scale=scale)).cumsum()
        until = np.arange(1, 301) * slot_seconds
        rounds, rest = np.divmod(until, lengths.sum())
        begins = np.cumsum(lengths) - lengths
        inside = np.clip(rest[:, None] - begins, 0, lengths) @ watts
        real = (rounds * (lengths * watts).sum() + inside) / unit
        assert np.abs(lived - real).max() < 1 + 1e-6


def test_an_epoch_alone_is_the_same_as_in_a_run_also_after_the_file_has_ended_many_times():
    path = write("2025-06-21T12:00Z,0.123", "2025-06-21T12:07Z,0.456", "2025-06-21T12:13Z,0.789")
    whole = np.array(units(Watts(path), range(2000)))
    for epoch in (1999, 7, 1000):
        assert units(Watts(path), [epoch]) == whole[epoch * 5 : epoch * 5 + 5].tolist()
    mean = (0.123 * 420 + 0.456 * 360 + 0.789 * 390) / 1170 * 60
    assert whole.sum() == pytest.approx(mean * 10_000, abs=mean * 20)


def test_a_column_for_each_client_and_factors():
    path = write("2025-06-21T12:00Z,1,2", "2025-06-21T12:05Z,0,4", header="time,north,south")
    assert units(Watts(path), [0], clients=2)[0] == [60, 120]
    assert units(Watts(path, factor=(0.5, 0.001)), [1], clients=2, scale=Scale(60, 0.01))[0] == [0, 24]
    with pytest.raises(TraceError, match=r"roof\.csv has 2 columns of watts for 3 clients"):
        units(Watts(path), [0], clients=3)
    with pytest.raises(ConfigError, match=r"has 2 numbers for 3 clients"):
        units(Watts(write("0,1", "60,2"), factor=(1.0, 2.0)), [0], clients=3)


def test_start_picks_where_in_the_file_the_run_begins():
    path = write("2025-06-21T12:00Z,1", "2025-06-21T12:02Z,2")
    assert units(Watts(path, start="2025-06-21T12:01:30Z"), [0]) == [90, 120, 90, 60, 90]
    assert units(Watts(path, start="2025-06-21T14:02", timezone="Europe/Rome"), [0]) == [120, 120, 60, 60, 120]
    for moment in ("2025-06-21T11:59Z", "2025-06-21T12:04Z"):
        with pytest.raises(ConfigError, match=r"is not in roof\.csv, which has 240 seconds from 2025-06-21T12:00:00Z"):
            units(Watts(path, start=moment), [0])


def test_a_gap_is_filled_as_stated_and_reported():
    rows = [f"2025-06-21T12:{minute:02}Z,{watts}" for minute, watts in ((0, 1), (1, 1), (2, 6), (7, 1), (8, 1))]
    zeros, line, hold = (Watts(write(*rows), fill=fill) for fill in ("zeros", "interpolate", "hold"))
    assert units(zeros, [0], slots=9) == [60, 60, 360, 0, 0, 0, 0, 60, 60]
    assert units(line, [0], slots=9) == [60, 60, 360, 300, 240, 180, 120, 60, 60]
    assert units(hold, [0], slots=9) == [60, 60, 360, 360, 360, 360, 360, 60, 60]
    found = zeros.describe()
    assert (found.gaps, found.gap_seconds, found.step, found.rows, found.seconds) == (1, 240, 60, 5, 540)
    assert found.mean_watts == pytest.approx(10 / 9)
    assert "1 gap of 4 min, filled with zeros" in str(found)
    assert Watts("roof.csv", gap=5.0).describe().gaps == 0


def test_offsets_and_zones_mean_the_same_moments():
    first = datetime(2025, 6, 21, 10, 0, tzinfo=UTC)
    for rows, zone in (
        (("2025-06-21T10:00:00Z,1", "2025-06-21T10:01:00Z,2"), "UTC"),
        (("2025-06-21 12:00+02:00,1", "2025-06-21 10:01Z,2"), "Asia/Tokyo"),
        (("2025-06-21 12:00,1", "2025-06-21 12:01,2"), "Europe/Rome"),
        (("2025-06-21 12:00:00.000,1", "2025-06-21 12:01:00.000,2"), "+02:00"),
        (("1750500000,1", "1750500060,2"), "Europe/Rome"),
    ):
        found = Watts(write(*rows), timezone=zone).describe()
        assert (found.first, found.step) == (first, 60.0)


def local(hours) -> list[str]:
    return [f"{hour},{watts}" for watts, hour in enumerate(hours)]


def test_an_hour_that_comes_twice_is_taken_in_order():
    quarters = [f"2025-10-26 02:{minute:02}" for minute in (0, 15, 30, 45)]
    path = write(*local(["2025-10-26 01:45", *quarters, *quarters, "2025-10-26 03:00"]))
    found = Watts(path, timezone="Europe/Rome").describe()
    assert (found.step, found.seconds, found.gaps) == (900, 10 * 900, 0)
    assert (found.clock_changes, found.repeated, found.missing) == (1, 4, 0)
    assert "1 clock change; 4 stamps in a repeated hour" in str(found)


def test_hourly_rows_with_the_repeated_hour_once_leave_a_gap_of_an_hour():
    path = write(*local([f"2025-10-26 {hour:02}:00" for hour in range(6)]))
    found = Watts(path, timezone="Europe/Rome", gap=1.5).describe()
    assert (found.repeated, found.gaps, found.gap_seconds) == (0, 1, 3600)


def test_an_hour_that_a_clock_leaves_out_is_no_gap():
    path = write(*local(["2025-03-30 01:00", "2025-03-30 01:30", "2025-03-30 03:00", "2025-03-30 03:30"]))
    found = Watts(path, timezone="Europe/Rome").describe()
    assert (found.step, found.seconds, found.gaps, found.clock_changes) == (1800, 7200, 0, 1)


def test_stamps_in_an_hour_that_does_not_exist_are_taken_as_if_the_clock_had_not_changed_and_reported():
    path = write(*local(["2025-03-30 01:30", "2025-03-30 02:00", "2025-03-30 03:30"]))
    found = Watts(path, timezone="Europe/Rome").describe()
    assert (found.missing, found.step, found.seconds) == (1, 1800, 5400)
    assert "1 stamp in an hour that does not exist" in str(found)
    path = write(*local(["2025-03-30 01:30", "2025-03-30 02:30", "2025-03-30 03:30"]))
    with pytest.raises(TraceError, match=r"line 4: the time 2025-03-30 03:30 repeats .* offset such as \+01:00\.$"):
        Watts(path, timezone="Europe/Rome").describe()
    assert Watts(path, timezone="+01:00").describe().step == 3600


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            ["0,1", "60,2", "60,3"],
            r"roof\.csv, line 4: the time 60 repeats 60 of the line before; rows must be in order",
        ),
        (["0,1", "60,2", "30,3"], r"line 4: the time 30 is before 60 of the line before"),
        (["2025-06-21T12:00Z,1", "2025-06-21T11:00Z,2"], r"line 3: the time 2025-06-21T11:00Z is before"),
        (["2025-06-21T12:00Z,1", "2025-06-21T13:00,2"], r"line 3: the time 2025-06-21T13:00 has no offset"),
        (["2025-06-21,1", "31/12/2025,2"], r"line 3: '31/12/2025' is no time; write it as in"),
        (
            ["2025-06-21,1", "2025-06-22,-0.5"],
            r"line 3, column 'watts': -0\.5 is negative; harvested watts are 0 or more",
        ),
        (["2025-06-21,1", "2025-06-22,sun"], r"line 3, column 'watts': 'sun' is not a number"),
        (["2025-06-21,1", "2025-06-22,nan"], r"line 3, column 'watts': 'nan' is not a finite number"),
        (["2025-06-21,1", "2025-06-22,"], r"line 3, column 'watts': the cell is empty"),
        (["2025-06-21,1", "2025-06-22"], r"line 3: 1 cells where line 1 has 2"),
        (["2025-06-21,1", "", "2025-06-22,2"], r"line 3: 0 cells where line 1 has 2"),
        (["2025-06-21,1"], r"roof\.csv has one row"),
        ([], r"roof\.csv holds no power"),
    ],
)
def test_a_wrong_row_is_named(rows, words):
    with pytest.raises(TraceError, match=words):
        Watts(write(*rows)).describe()


def test_files_that_are_none_are_one_sentence():
    Path("empty.csv").write_text("", encoding="utf-8")
    Path("one.csv").write_text("watts\n1\n", encoding="utf-8")
    Path("binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    for path, words in (
        ("nowhere.csv", r"The file nowhere\.csv can't be read: No such file or directory\.$"),
        ("empty.csv", "empty.csv holds no power"),
        ("one.csv", "one.csv has one column"),
        ("binary.csv", "can't be read"),
        ("…", r"set energy\.path to a CSV file of times and watts"),
    ):
        with pytest.raises(TraceError, match=words):
            Watts(path).describe()


def test_a_gap_too_long_to_interpolate_is_one_sentence():
    with pytest.raises(TraceError, match=r"too long to interpolate in steps of 1 s; set energy\.fill to zeros"):
        Watts(write("0,1", "1,1", "2,1", "3,1", "99999999,1"), fill="interpolate").describe()


def test_a_file_that_changed_is_read_again():
    model = Watts(write("0,1", "60,1"))
    assert model.describe().mean_watts == 1
    write("0,1.5", "60,2.5")
    assert model.describe().mean_watts == 2


@pytest.mark.slow
def test_a_million_rows_in_local_time_are_read_at_once():
    import pandas as pd

    local = pd.date_range("2025-01-01", periods=1_000_000, freq="30s", tz="Europe/Rome").tz_localize(None)
    pd.DataFrame({"time": local, "watts": np.arange(1_000_000) % 3}).to_csv("roof.csv", index=False)
    found = Watts("roof.csv", timezone="Europe/Rome").describe()
    assert (found.rows, found.step, found.seconds) == (1_000_000, 30, 30_000_000)
    assert (found.clock_changes, found.repeated, found.missing, found.gaps) == (2, 120, 0, 0)


def test_the_mean_is_that_of_the_file_and_another_mean_is_a_factor():
    path = write("0,1,3", "60,2,0", header="time,a,b")
    model = Watts(path).at_scale(Scale(60, 30.0))
    assert model.mean(2).tolist() == [3.0, 3.0]
    assert model.with_mean(1.0).mean(2) == pytest.approx([1.0, 1.0])
    assert units(Watts(path), [0], clients=2, slots=2, mean=30.0) == [[20, 60], [40, 0]]
    with pytest.raises(ConfigError, match=r"roof\.csv gives nothing, so energy\.mean can't be had"):
        units(Watts(write("0,0", "60,0")), [0], mean=2.0)


def test_watts_without_a_scale_are_one_sentence():
    with pytest.raises(ConfigError, match=r"is in watts, and slot_seconds and unit_joules are not stated"):
        Experiment(energy=Watts(write("0,1", "60,2"))).build_harvest()
