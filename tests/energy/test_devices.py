"""Devices and radios in joules: their figures have sources, their arithmetic comes out, and joules become units."""

import re
from pathlib import Path

import pytest

from fallow.energy import Scale
from fallow.energy.devices import (
    Figure,
    as_units,
    assign_classes,
    describe_profile,
    find_profile,
    find_radio,
    list_profiles,
    list_radios,
    over_clients,
)
from fallow.errors import ConfigError
from fallow.models import PaperCNN, build_module

SCALE = Scale(slot_seconds=60.0, unit_joules=0.5)


@pytest.fixture(scope="module")
def paper_cnn_bytes() -> int:
    """The bytes of the paper's network: 846k parameters of four bytes, 27 Mbit."""
    module = build_module(PaperCNN(), (3, 32, 32), classes=10, seed=0)
    return 4 * sum(parameter.numel() for parameter in module.parameters())


def test_the_papers_network_is_27_megabits(paper_cnn_bytes: int) -> None:
    assert round(paper_cnn_bytes / 4 / 1000) == 846
    assert round(8 * paper_cnn_bytes / 1e6) == 27


def test_the_papers_network_over_ble_takes_0_4_joules_and_27_seconds(paper_cnn_bytes: int) -> None:
    assert round(find_radio("ble").joules(paper_cnn_bytes), 1) == 0.4
    assert round(find_radio("ble").seconds(paper_cnn_bytes)) == 27


def test_the_papers_network_over_lora_takes_some_680_joules_and_80_minutes(paper_cnn_bytes: int) -> None:
    assert find_radio("lora").joules(paper_cnn_bytes) == pytest.approx(680, rel=0.01)
    assert find_radio("lora").seconds(paper_cnn_bytes) / 60 == pytest.approx(80, rel=0.03)


def test_a_bit_costs_what_current_voltage_and_rate_make_it_cost() -> None:
    assert find_radio("ble").joules_per_bit.value == pytest.approx(4.8e-3 * 3 / 1e6)
    assert find_radio("lora").joules_per_bit.value == pytest.approx(41.5e-3 * 3.3 / 5500)
    assert find_radio("wifi").joules_per_bit.value == pytest.approx(190e-3 * 3.3 / 20e6)


@pytest.mark.parametrize(
    ("name", "watts", "hours"), [("phone-high", 6.3, 5), ("phone-mid", 5.4, 4), ("phone-low", 3.0, 3)]
)
def test_phones_have_the_watts_and_ampere_hours_of_eafl(name: str, watts: float, hours: float) -> None:
    figures = find_profile(name).figures
    assert figures["active_watts"].value == watts
    assert figures["capacity_joules"].value == pytest.approx(hours * 3.85 * 3600)


FIGURES = {f"{name}.{key}": figure for name, one in list_profiles().items() for key, figure in one.figures.items()}
for radio in list_radios().values():
    FIGURES |= {f"{radio.name}.joule": radio.joules_per_bit, f"{radio.name}.bits": radio.bits_per_second}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_every_figure_has_a_source_or_is_called_estimated(figure: Figure) -> None:
    sources = r"^(estimated: |EAFL's config: |measured by |Nordic|a LoRa module's data sheet|LoRa, |Bluetooth LE )"
    assert re.match(sources, figure.origin)
    if figure.origin.startswith("estimated"):
        assert re.search(r"\d", figure.origin)


NUMBER = r"(\d+(?:\.\d+)?)"
PREFIX = {"": 1.0, "m": 1e-3, "µ": 1e-6, "k": 1e3, "M": 1e6, "G": 1e9}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_the_arithmetic_of_an_origin_comes_to_its_figure(figure: Figure) -> None:
    origin, value = figure.origin, figure.value
    if found := re.search(rf"{NUMBER} Ah × {NUMBER} V × 3600", origin):
        assert value == pytest.approx(float(found[1]) * float(found[2]) * 3600)
    elif found := re.search(rf"{NUMBER} (m|µ|)A × {NUMBER} V / {NUMBER} (k|M)b/s", origin):
        power = float(found[1]) * PREFIX[found[2]] * float(found[3])
        assert value == pytest.approx(power / (float(found[4]) * PREFIX[found[5]]))
    elif found := re.search(rf"{NUMBER} (m|µ|)A × {NUMBER} V", origin):
        power = float(found[1]) * PREFIX[found[2]] * float(found[3])
        rate = re.search(rf"W / {NUMBER} Mb/s", origin)
        assert value == pytest.approx(power / (float(rate[1]) * 1e6) if rate else power)
    elif found := re.search(rf"= {NUMBER} GFLOP/s, of which training gets {NUMBER} %", origin):
        factors = re.search(rf"{NUMBER} [A-Za-z0-9 -]+ × {NUMBER} GHz × {NUMBER} FLOP", origin)
        assert float(found[1]) == pytest.approx(float(factors[1]) * float(factors[2]) * float(factors[3]), rel=1e-3)
        assert value == pytest.approx(float(found[1]) * 1e9 * float(found[2]) / 100, rel=1e-3)
    elif found := re.search(rf"{NUMBER} MHz × {NUMBER} FLOP a cycle", origin):
        assert value == pytest.approx(float(found[1]) * 1e6 * float(found[2]))
    else:
        said = re.search(rf"{NUMBER} (kb/s|Mb/s|W)", origin)
        scale = {"kb/s": 1e3, "Mb/s": 1e6, "W": 1.0}
        assert "1M" in origin or value == float(said[1]) * scale[said[2]]


def test_costs_are_rounded_up_and_what_a_battery_holds_is_rounded_down() -> None:
    physical = {"train_joules": 1.1, "cutoff_joules": 1.1, "capacity_joules": 1.9, "initial_joules": 0.9}
    assert as_units(physical, SCALE, "It") == {"train": 3, "cutoff": 3, "capacity": 3, "initial": 1}


def test_whole_units_stay_whole_whatever_a_double_makes_of_their_quotient() -> None:
    assert as_units({"train_joules": 1.1}, Scale(1.0, 0.1), "It") == {"train": 11}  # 1.1 / 0.1 is 11.000000000000002
    assert as_units({"capacity_joules": 0.3}, Scale(1.0, 0.1), "It") == {"capacity": 3}  # and 0.3 / 0.1 is 2.99…


def test_seconds_become_slots_of_which_the_last_may_be_used_in_part() -> None:
    assert as_units({"train_seconds": 60.0}, SCALE, "It") == {"train_slots": 1}
    assert as_units({"train_seconds": 60.1}, SCALE, "It") == {"train_slots": 2}
    assert as_units({"transmit_seconds": 0.0}, SCALE, "It") == {"transmit_slots": 1}


def test_watts_become_real_units_a_slot() -> None:
    assert as_units({"idle_watts": 0.002}, SCALE, "It") == {"idle": pytest.approx(0.24)}  # 0.12 J in 60 s


@pytest.mark.parametrize(
    ("scale", "missing"),
    [
        (Scale(), "slot_seconds and unit_joules are"),
        (Scale(60.0), "unit_joules is"),
        (Scale(0.0, 1.0), "slot_seconds is"),
    ],
)
def test_joules_without_a_scale_are_refused(scale: Scale, missing: str) -> None:
    with pytest.raises(ConfigError, match=f"It is in joules and seconds, and {missing} not stated; set"):
        as_units({"train_joules": 1.0}, scale, "It")


def test_more_units_than_there_can_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"capacity_joules = 1e\+10, which is 2e\+10 units.*raise unit_joules"):
        as_units({"capacity_joules": 1e10}, SCALE, "It")


def test_classes_are_blocks_by_largest_remainder() -> None:
    # 7 clients: 3.5, 2.1 and 1.4 of them; the first has the largest remainder.
    assert assign_classes([0.5, 0.3, 0.2], 7).tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert assign_classes([5, 3, 2], 7).tolist() == assign_classes([0.5, 0.3, 0.2], 7).tolist()
    assert assign_classes([0, 1], 2).tolist() == [1, 1]


def test_what_a_class_leaves_out_is_the_sections_also_where_that_is_a_list() -> None:
    table = {"clients": 4, "battery": {"capacity": [1, 2, 3, 4], "idle": 0.5}, "cost": {"train": 20}}
    spread = over_clients(table | {"device": [{"share": 1, "idle": 0.25}, {"share": 1, "capacity": 9}]})
    assert spread["battery"]["capacity"].tolist() == [1, 2, 9, 9]
    assert spread["battery"]["idle"].tolist() == [0.25, 0.25, 0.5, 0.5]
    assert spread["cost"] == {"train": 20}
    assert table["battery"]["capacity"] == [1, 2, 3, 4]


def test_a_profile_may_be_a_file_of_the_kind_that_calibrate_writes(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntrain_joules = 3.5\ntrain_joules_origin = "measured: RAPL"\nupdate_bytes = 100\n'
        "step_seconds = 0.1\n"
    )
    profile = find_profile(str(path))
    assert profile.name == "mine"
    assert {key: figure.value for key, figure in profile.figures.items()} == {
        "train_joules": 3.5,
        "update_bytes": 100.0,
    }
    assert "train_joules = 3.5 (measured: RAPL)" in describe_profile(profile)
    assert profile.figures["update_bytes"].origin == "stated"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("train_joules = -1", "has train_joules = -1; it must be a number of at least 0"),
        ('train_joules = "much"', "has train_joules = 'much'; it must be a number"),
        ("train_joules = nan", "has train_joules = nan; it must be a number"),
        ("train_joules = true", "has train_joules = True; it must be a number"),
        ("train_joules = 1\ntrain_joules_origin = 3", "has train_joules_origin = 3; it must be a text"),
        ("name = 3\ntrain_joules = 1", "has name = 3; it must be a text"),
        ('radio = "blee"\ntrain_joules = 1', "There is no radio 'blee'; did you mean 'ble'?"),
        ("train_joules = = 1", "is not valid TOML"),
        ("[table]", "states none of train_joules"),
    ],
)
def test_a_damaged_profile_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        find_profile(str(path))
    assert words in str(caught.value)


def test_unknown_profiles_radios_and_files_are_named() -> None:
    with pytest.raises(ConfigError, match=r"There is no device profile 'pi-zero'; did you mean 'pi-zero-2w'\?"):
        find_profile("pi-zero")
    with pytest.raises(ConfigError, match=r"There is no radio 'carrier pigeon'; valid names are ble, lora, wifi."):
        find_radio("carrier pigeon")
    with pytest.raises(ConfigError, match=r"The device profile nowhere.toml can't be read: No such file"):
        find_profile("nowhere.toml")
