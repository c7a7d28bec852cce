from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.reports.days import Rows, clock_of, day_course, fold, year_course
from fallow.reports.harvests import given_files
from fallow.reports.runs import ReportedRun, read_runs
from tests.reports.made_runs import live

HOURLY: dict[str, Any] = {"slot_seconds": 3600.0, "slots_per_epoch": 24, "energy__model": "trace", "energy__p": None}


def read(directory: Path) -> ReportedRun:
    return read_runs([directory])[0][0]


def table_of(seconds: float, slots: int, rows: list[tuple[float, float, float]], **settings: Any) -> ReportedRun:
    """A run of two clients with batteries of ten units, as (harvested, consumed so far, stored) in each epoch."""
    harvested, spent, stored = np.array(rows, dtype=float).T
    known = {"clients": 2, "slots_per_epoch": slots, "slot_seconds": seconds, "battery.capacity": 10}
    costs = {"battery.initial": 0, "cost.train": 1, "cost.transmit": 1, "cost.probe": 0}
    summary = {"starts": 0, "consumed_train": 0, "consumed_probe": 0}
    columns = {"harvested": harvested, "energy_total": spent, "stored": stored}
    return ReportedRun("run", Path("nowhere"), known | costs | settings, summary, columns)


def test_stretches_of_one_hour_are_averaged_over_time_and_clients() -> None:
    rows = Rows(7200.0, np.array([8.0, 4.0, 0.0]), np.array([0.0, 2.0, 4.0]), np.array([10.0, 20.0, 5.0]))
    course = fold(rows, np.array([6, 6, 8]), clients=2, capacity=20)
    assert course.at.tolist() == [6, 8]
    assert course.harvested.tolist() == [1.5, 0.0]  # 12 units in 4 hours, of 2 clients
    assert course.consumed.tolist() == [0.25, 1.0]
    assert course.charge.tolist() == [0.75, 0.25]


def test_epochs_of_an_hour_give_the_day_without_a_replay() -> None:
    rows = [(float(hour % 24), 2.0 * (hour + 1), 10.0) for hour in range(48)]
    course, why = day_course(table_of(60.0, 60, rows), {}, replay=False)
    assert course is not None
    assert why == ""
    assert course.at.tolist() == list(range(24))
    assert course.harvested.tolist() == [hour / 2 for hour in range(24)]
    assert course.consumed.tolist() == [1.0] * 24
    assert course.charge.tolist() == [0.5] * 24


def test_a_run_begins_when_its_harvest_says() -> None:
    rows = [(3.0, 0.0, 0.0), (5.0, 0.0, 0.0)]
    run = table_of(60.0, 60, rows, **{"energy.start": "2025-06-21T23:00", "energy.timezone": "Europe/Rome"})
    course, _ = day_course(run, {}, replay=False)
    assert course is not None
    assert dict(zip(course.at.tolist(), course.harvested.tolist(), strict=True)) == {23: 1.5, 0: 2.5}
    assert clock_of(run) == (np.datetime64("2025-06-21T23:00"), "Europe/Rome")
    assert clock_of(table_of(60.0, 60, rows, **{"energy.start": "2025-06-21T12:00+02:00"}))[1] == "UTC+02:00"
    assert clock_of(table_of(60.0, 60, rows, **{"energy.start": 7.5})) == (None, "")


def test_months_are_those_of_the_calendar() -> None:
    rows = [(float(day), 0.0, 20.0) for day in range(60)]  # from 1 January: 31 days, 28 days, one more
    course, why = year_course(table_of(3600.0, 24, rows))
    assert course is not None
    assert why == ""
    assert course.at.tolist() == [1, 2, 3]
    assert course.harvested == pytest.approx(np.array([15.0, 44.5, 59.0]) / 48)
    july, _ = year_course(table_of(3600.0, 24, rows, **{"energy.start": "2025-07-31"}))
    assert july is not None
    assert july.at.tolist() == [7, 8, 9]


def test_a_replay_tells_the_hours_of_longer_epochs(tmp_path: Path) -> None:
    trace = tmp_path / "sun.csv"
    trace.write_text("units\n" + "\n".join(str(2 if 8 <= hour < 16 else 0) for hour in range(24)) + "\n")
    given = HOURLY | {"energy__path": str(trace), "battery__capacity": 1000, "battery__initial": 7, "epochs": 3}
    run = read(live(tmp_path / "run", policy__name="fedavg", **given))
    course, why = day_course(run, given_files([trace]), replay=True)
    assert course is not None
    assert why == ""
    assert course.harvested.tolist() == [2.0 if 8 <= hour < 16 else 0.0 for hour in range(24)]
    assert course.consumed.sum() * 6 * 3 == pytest.approx(run.summary["energy_total"])
    assert course.consumed.sum() > 0
    assert course.charge[0] * 6000 * 3 == pytest.approx(sum(_stored_after_first_slots(run)))


def test_what_is_lost_is_not_consumed(tmp_path: Path) -> None:
    losses = {"battery__efficiency": 0.8, "battery__self_discharge": 0.2, "battery__idle": 0.3, "cost__listen": 1}
    run = read(live(tmp_path / "run", slot_seconds=3600.0, slots_per_epoch=24, energy__p=0.9, **losses))
    course, _ = day_course(run, {}, replay=True)
    assert course is not None
    assert min(run.summary["leakage"], run.summary["conversion_loss"], run.summary["consumed_idle"]) > 0
    assert course.consumed.sum() * 6 * 8 == pytest.approx(run.summary["energy_total"])
    assert course.harvested.sum() * 6 * 8 == pytest.approx(run.summary["harvested"])


def _stored_after_first_slots(run: ReportedRun) -> list[int]:
    """What is stored after the first slot of each epoch, by hand: nothing is harvested at night, and starts cost 20."""
    from fallow.reports.activity import read_events

    stored = [6 * 7, *run.epochs["stored"][:-1].astype(int).tolist()]
    starts, uploads = read_events(run, ("start",)), read_events(run, ("upload",))
    spent = [20 * int((starts.slot == 24 * t).sum()) + int((uploads.slot == 24 * t).sum()) for t in range(3)]
    return [before - gone for before, gone in zip(stored, spent, strict=True)]


def test_where_there_is_no_course_a_sentence_says_why(tmp_path: Path) -> None:
    row = [(1.0, 1.0, 1.0)] * 3
    assert "A slot is a day or longer" in day_course(table_of(86400.0, 1, row), {}, replay=True)[1]
    assert "kept in detail" in day_course(table_of(3600.0, 24, row), {}, replay=False)[1]
    assert "output.events = false" in day_course(table_of(3600.0, 24, row), {}, replay=True)[1]
    assert "spans 3 days" in year_course(table_of(3600.0, 24, row))[1]
    assert "longer than a month" in year_course(table_of(86400.0, 40, row))[1]
    trace = tmp_path / "secret.csv"
    trace.write_text("units\n1\n")
    run = read(live(tmp_path / "run", **HOURLY, energy__path=str(trace)))
    assert day_course(run, {}, replay=True)[1].startswith("The course of a day is not known. The harvest was read from")


def test_a_long_run_is_replayed_for_as_many_whole_days_as_is_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fallow.reports.days.MOST_SLOTS", 60)
    run = read(live(tmp_path / "run", slot_seconds=3600.0, slots_per_epoch=12, epochs=8, energy__p=1.0))
    course, why = day_course(run, {}, replay=True)
    assert course is not None
    assert why == "The course of a day is that of the first 2 days."
    assert course.harvested.tolist() == [1.0] * 24
