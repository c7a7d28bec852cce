"""Each meter on files and commands as Linux has them, with numbers worked by hand."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fallow.calibration.meters import METERS, find_meter
from fallow.calibration.meters.base import MeterError
from fallow.calibration.meters.ina3221 import find_ina3221
from fallow.calibration.meters.pmic import find_pmic
from fallow.calibration.meters.power_supply import find_battery
from fallow.calibration.meters.rapl import find_rapl
from fallow.errors import ConfigError
from tests.calibration.machines import PMIC, answering, battery, ina3221, rapl_zone, vcgencmd, without_rights

# RAPL


def test_rapl_adds_packages_and_memory_and_nothing_twice(tmp_path: Path) -> None:
    zones = {"0": "package-0", "0:0": "core", "0:1": "uncore", "0:2": "dram", "1": "package-1", "2": "psys"}
    for zone, name in zones.items():
        rapl_zone(tmp_path, zone, name)
    rapl = find_rapl(tmp_path)
    assert [zone.path.name for zone in rapl.zones] == ["intel-rapl:0", "intel-rapl:1", "intel-rapl:0:2"]
    assert rapl.joules((1_000_000, 0, 5), (3_500_000, 250_000, 250_005)) == 3.0


def test_rapl_uses_the_platform_where_there_is_no_package(tmp_path: Path) -> None:
    rapl_zone(tmp_path, "0", "psys", energy=42)
    assert find_rapl(tmp_path).read() == (42,)


def test_a_counter_that_wraps_counts_on(tmp_path: Path) -> None:
    folder = rapl_zone(tmp_path, "0", "package-0", energy=65_500_000_000, most=65_532_610_987)
    rapl = find_rapl(tmp_path)
    before = rapl.read()
    (folder / "energy_uj").write_text("17389013\n")
    # 32,610,987 µJ to its largest number and 17,389,013 µJ after it make 50 J.
    assert rapl.joules(before, rapl.read()) == 50.0


def test_a_counter_beyond_its_own_range_is_an_error(tmp_path: Path) -> None:
    rapl_zone(tmp_path, "0", "package-0", energy=5000, most=1000)
    with pytest.raises(MeterError, match="went from 5000 to 10, past its largest number 1000"):
        find_rapl(tmp_path).joules((5000,), (10,))


def test_a_counter_that_only_root_may_read_is_one_sentence() -> None:
    with TemporaryDirectory(dir="/tmp") as sysfs:  # pytest's own folders are closed to others
        Path(sysfs).chmod(0o755)
        folder = rapl_zone(Path(sysfs), "0", "package-0")
        (folder / "energy_uj").chmod(0o000)
        with without_rights(), pytest.raises(MeterError) as caught:
            find_rapl(Path(sysfs))
    assert str(caught.value) == (
        f"{folder / 'energy_uj'} can't be read by this user: run as root, allow it with "
        f"`sudo chmod a+r {folder / 'energy_uj'}`, or state watts (--watts)."
    )


def test_a_counter_that_holds_no_number_is_one_sentence(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, "0", "package-0") / "energy_uj").write_text("n/a\n")
    with pytest.raises(MeterError, match="energy_uj says 'n/a', which is no whole number; choose another meter"):
        find_rapl(tmp_path)


# INA3221


def test_ina3221_multiplies_millivolts_and_milliamperes(tmp_path: Path) -> None:
    ina3221(tmp_path, 0, in1_input=5000, curr1_input=400, in2_input=1000, curr2_input=1200)
    ina3221(tmp_path, 3, in1_input=500, curr1_input=1000, in1_label="VDD_SOC")
    assert find_ina3221(tmp_path).watts() == pytest.approx(2.0 + 1.2 + 0.5)


def test_the_rail_that_feeds_the_others_counts_alone(tmp_path: Path) -> None:
    ina3221(
        tmp_path,
        in1_label="VDD_IN",
        in1_input=5000,
        curr1_input=1000,
        in2_label="VDD_CPU_GPU_CV",
        in2_input=5000,
        curr2_input=300,
    )
    found = find_ina3221(tmp_path)
    assert (found.watts(), found.covers) == (5.0, "VDD_IN")


def test_channels_that_are_off_or_unconnected_and_other_chips_are_left_out(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=1000, curr1_input=1000, in2_input=9000, curr2_input=9000, in2_enable=0)
    ina3221(tmp_path, 1, in1_input=9000, curr1_input=9000, in1_label="NC")
    (ina3221(tmp_path, 2, in1_input=9000, curr1_input=9000) / "name").write_text("cooling_fan\n")
    assert find_ina3221(tmp_path).watts() == 1.0


# The power chip of a Raspberry Pi 5


def test_the_power_chip_adds_the_rails_that_have_both_volts_and_amperes(tmp_path: Path) -> None:
    assert find_pmic(vcgencmd(tmp_path, answering(PMIC))).watts() == pytest.approx(3.2)


def test_a_raspberry_pi_without_the_chip_has_no_such_meter(tmp_path: Path) -> None:
    command = vcgencmd(tmp_path, "echo 'error=1 error_msg=\"Command not registered\"'")
    assert find_pmic(command) is None
    assert find_pmic(str(tmp_path / "nothing")) is None


def test_a_command_that_fails_is_one_sentence(tmp_path: Path) -> None:
    command = vcgencmd(tmp_path, 'echo "Can\'t open device file: /dev/vcio" >&2; exit 1')
    with pytest.raises(MeterError) as caught:
        find_pmic(command)
    assert str(caught.value) == (
        f"`{command} pmic_read_adc` failed: Can't open device file: /dev/vcio; choose another meter, or state watts "
        "(--watts)."
    )


def test_a_command_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fallow.calibration.meters.pmic.TIMEOUT", 0.1)
    with pytest.raises(MeterError, match=r"did not answer within 0\.1 seconds"):
        find_pmic(vcgencmd(tmp_path, "exec sleep 30"))


def test_a_chip_that_later_says_nothing_is_one_sentence(tmp_path: Path) -> None:
    found = find_pmic(vcgencmd(tmp_path, answering(PMIC)))
    vcgencmd(tmp_path, "echo busy")
    with pytest.raises(MeterError, match="says 'busy', no volts and amperes of a rail"):
        found.watts()


# Batteries


def test_a_battery_says_power_or_amperes_and_volts(tmp_path: Path) -> None:
    battery(tmp_path / "a", power_now=3_200_000)
    assert find_battery(tmp_path / "a").watts() == 3.2
    battery(tmp_path / "b", current_now=-400_000, voltage_now=8_000_000)  # some count what leaves as negative
    assert find_battery(tmp_path / "b").watts() == pytest.approx(3.2)


def test_a_battery_that_says_energy_alone_is_a_counter(tmp_path: Path) -> None:
    folder = battery(tmp_path, energy_now=50_000_000)
    found = find_battery(tmp_path)
    before = found.read()
    (folder / "energy_now").write_text("49990000\n")
    assert found.joules(before, found.read()) == pytest.approx(36.0)  # 0.01 Wh
    with pytest.raises(MeterError, match="rose from 1 to 2 µWh while it discharged"):
        found.joules((1,), (2,))


def test_two_batteries_of_which_one_rests_are_added(tmp_path: Path) -> None:
    battery(tmp_path, "BAT0", power_now=3_000_000)
    battery(tmp_path, "BAT1", power_now=0, status="Not charging")
    assert find_battery(tmp_path).watts() == 3.0


@pytest.mark.parametrize("state", ["Charging", "Full"])
def test_a_battery_on_the_charger_is_no_meter(state: str, tmp_path: Path) -> None:
    battery(tmp_path, power_now=9_000_000, status=state)
    with pytest.raises(MeterError, match=f"The battery BAT0 is in the state '{state}', so .* unplug the charger"):
        find_battery(tmp_path)


def test_a_charger_that_is_plugged_in_meanwhile_ends_the_readings(tmp_path: Path) -> None:
    folder = battery(tmp_path, power_now=3_200_000)
    found = find_battery(tmp_path)
    (folder / "status").write_text("Charging\n")
    with pytest.raises(MeterError, match="is in the state 'Charging'"):
        found.watts()


def test_a_charger_and_the_battery_of_a_mouse_are_no_meters(tmp_path: Path) -> None:
    battery(tmp_path, "AC", type="Mains", power_now=9)
    battery(tmp_path, "mouse", scope="Device", power_now=9)
    assert find_battery(tmp_path) is None


# All of them


def test_the_first_that_answers_is_taken_and_the_others_are_named(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, "0", "package-0") / "energy_uj").write_text("n/a\n")
    battery(tmp_path, power_now=3_200_000)
    found, silent = find_meter("auto", tmp_path, "no-such-command")
    assert found.name == "battery"
    assert len(silent) == 1
    assert "energy_uj says 'n/a'" in silent[0]


def test_a_machine_without_meters_has_none(tmp_path: Path) -> None:
    assert find_meter("auto", tmp_path, "no-such-command") == (None, [])


@pytest.mark.parametrize("name", METERS)
def test_a_meter_that_is_named_and_not_there_is_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"There is no {name} on this machine; leave the meter"):
        find_meter(name, tmp_path, "no-such-command")


def test_a_meter_that_is_named_and_silent_is_an_error(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, "0", "package-0") / "energy_uj").write_text("n/a\n")
    with pytest.raises(MeterError, match="says 'n/a'"):
        find_meter("rapl", tmp_path, "no-such-command")


def test_a_slip_in_the_name_of_a_meter_is_answered(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no meter 'ina3321'; did you mean 'ina3221'"):
        find_meter("ina3321", tmp_path, "no-such-command")
