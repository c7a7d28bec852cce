"""The energy of some work: what the counter moved, or the area under the watts."""

import time
from pathlib import Path

import pytest

from fallow.calibration.figures import Figure
from fallow.calibration.meters.base import MeterError
from fallow.calibration.meters.ina3221 import find_ina3221
from fallow.calibration.meters.rapl import find_rapl
from fallow.calibration.meters.recording import mean_power, record
from fallow.calibration.timing import compute_joules, measure_idle, measure_joules, time_calls
from tests.calibration.machines import ina3221, rapl_zone


def test_a_counter_is_read_before_and_after(tmp_path: Path) -> None:
    counter = rapl_zone(tmp_path, "0", "package-0", energy=1_000_000) / "energy_uj"
    spent = record(find_rapl(tmp_path), lambda: counter.write_text("8500000") and None)
    assert spent.joules == 7.5


def test_a_constant_power_is_watts_times_seconds(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    spent = record(find_ina3221(tmp_path), lambda: time.sleep(0.05))
    assert spent.joules == pytest.approx(3.2 * spent.seconds)


def test_the_trapezoid_rule_is_exact_for_straight_lines_at_any_times() -> None:
    # From 0 W to 6 W in 3 s is 9 J, a mean of 3 W, however the readings lie.
    assert mean_power([0.0, 0.5, 0.7, 3.0], [0.0, 1.0, 1.4, 6.0]) == pytest.approx(3.0)


def test_a_meter_that_stops_answering_is_one_sentence(tmp_path: Path) -> None:
    folder = ina3221(tmp_path, in1_input=5000, curr1_input=640)

    def unplug() -> None:
        (folder / "curr1_input").unlink()
        time.sleep(0.06)  # three readings

    with pytest.raises(MeterError) as caught:
        record(find_ina3221(tmp_path), unplug)
    assert str(caught.value) == (
        f"The meter ina3221 stopped answering: {folder / 'curr1_input'} can't be read: No such file or directory; "
        "choose another meter, or state watts (--watts)."
    )


def test_an_error_in_the_work_ends_the_readings(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    with pytest.raises(ZeroDivisionError):
        record(find_ina3221(tmp_path), lambda: 1 / 0)


def test_warm_up_is_not_measured_and_repeats_are_counted() -> None:
    calls: list[int] = []
    figure = time_calls(lambda: calls.append(1), repeats=5, budget=60.0)
    assert (len(calls), figure.how) == (3 + 5, "median of 5")
    assert figure.low <= figure.value <= figure.high


def test_after_the_budget_there_are_three_repeats() -> None:
    assert time_calls(lambda: None, repeats=50, budget=1e-12).how == "median of 3"


def test_the_joules_of_a_window_are_shared_among_its_calls(tmp_path: Path) -> None:
    folder = rapl_zone(tmp_path, "0", "package-0")
    rapl, used = find_rapl(tmp_path), 0

    def work() -> None:  # 0.5 J a call
        nonlocal used
        used += 500_000
        (folder / "energy_uj").write_text(f"{used}\n")

    idle = Figure(0.0, "W", "stated")
    found = measure_joules(rapl, work, idle, window=0.01)
    assert (found.in_all.value, found.above_idle.value) == (0.5, 0.5)
    assert found.in_all.how == "by rapl (processor and memory), median of 5 windows of 0.01 s"


def test_idle_power_is_taken_off_the_work(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    found = measure_joules(find_ina3221(tmp_path), lambda: None, Figure(0.8, "W", "stated"), window=0.01)
    # Of a constant 3.2 W three quarters are left, in every window, however long it is.
    assert found.above_idle.value == pytest.approx(0.75 * found.in_all.value)


def test_joules_above_idle_are_never_negative(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    meter = find_ina3221(tmp_path)
    assert measure_idle(meter, window=0.01).value == pytest.approx(3.2)
    found = measure_joules(meter, lambda: time.sleep(0.001), Figure(4.0, "W", "stated"), window=0.01)
    assert found.in_all.value > 0
    assert found.above_idle.value == 0
    assert found.above_idle.how.endswith("less 4 W idle")


def test_a_counter_that_stands_still_is_one_sentence(tmp_path: Path) -> None:
    rapl_zone(tmp_path, "0", "package-0", energy=7)
    with pytest.raises(MeterError, match=r"The meter rapl counted 0 J in .* s of work; choose another meter"):
        measure_joules(find_rapl(tmp_path), lambda: None, Figure(0.0, "W", "stated"), window=0.01)


def test_stated_watts_are_multiplied_in_the_open() -> None:
    seconds = Figure(0.41, "s", "measured", "median of 20")
    assert repr(compute_joules(seconds, 3.2, None).above_idle) == "1.312 J (computed: 3.2 W × 0.41 s)"
    found = compute_joules(seconds, 3.2, 1.1)
    assert repr(found.in_all) == "1.312 J (computed: 3.2 W × 0.41 s)"
    assert repr(found.above_idle) == "0.861 J (computed: (3.2 W − 1.1 W) × 0.41 s)"
