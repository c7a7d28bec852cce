"""Scenarios: frozen, read from files, and wrong ones named in a sentence."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fallow.errors import ConfigError
from fallow.experiment.harvests import mean_harvest_of
from fallow.study.bench.scenarios import list_suites, read_suite

FROZEN: dict[tuple[str, str, int], str] = {
    ("full", "skewed-medium", 4): "62ef17294e819b6f31ab77767f7f39ba664be420e24ddd305850a308f085f0c1",
    ("full", "skewed-scarce", 4): "fd646aa306639eb338e0d5c595920662345567eb63e0f214d86702e2728a746c",
    ("full", "solar-scarce", 4): "f6b89f08732d6cd5033ffc247d0969848283934b5dd2ea8ff02614c856292643",
    ("full", "unequal-scarce", 4): "062a9d54076d2a17ad36671e742702cd41f713f882776bbf37f2d1bc42b4262a",
    ("quick", "bursty-scarce", 1): "169a030769a28940a9e9826038963356fa9345c5bffa03163ee699a768d8ad4e",
    ("quick", "mild-scarce", 1): "d1b64a9f16f72f6a2a3d16e2ce8328c388dc806ad6ea2366bd58ef22c5664473",
    ("quick", "sensors-scarce", 1): "525c6d733b0bc4461fca1313600d7a35a199dc2fbc09e84f2f9dfa00939fc3a9",
    ("quick", "skewed-medium", 1): "fd6faeaff03fab48e47e28c45584975475b526f7266a056807d332f95b4555f3",
    ("quick", "skewed-scarce", 1): "f013cacff0468fa8e8876947ad2372b6578c5027c26c46594467c8f7d4d02f3e",
    ("quick", "solar-scarce", 1): "f16d925b246707e3980370e9a6575026cf3589997959626c2b08ecae00b06008",
    ("quick", "unequal-scarce", 1): "dc36ff6b9b12d1ec279d1a01fa83825aefe6902226bac1ff7a1b8509adb3696a",
}
"""The fingerprint of every scenario by suite, name and version. A change of a scenario needs a new version, and a line
here; the results of the built-ins are then made anew."""


def test_every_scenario_is_what_its_version_was_when_it_was_frozen() -> None:
    suites = [read_suite(name) for name in list_suites()]
    found = {(suite.name, one.name, one.version): one.fingerprint for suite in suites for one in suite.scenarios}
    assert found == FROZEN


@pytest.mark.parametrize(
    ("name", "harvest"), [("quick", "bursty-scarce"), ("quick", "solar-scarce"), ("full", "solar-scarce")]
)
def test_a_harvest_in_bursts_or_by_day_has_the_mean_of_the_scarce_scenario(name: str, harvest: str) -> None:
    known = {one.name: one.experiment for one in read_suite(name).scenarios}
    scarce = known["skewed-scarce"].energy.options["p"]
    assert mean_harvest_of(known[harvest]) == pytest.approx(scarce)
    assert known[harvest].energy.model in ("markov", "daylight")  # which a plain install has


@pytest.mark.parametrize("name", ["quick", "full"])
def test_the_days_of_a_scenario_bring_what_days_of_a_year_do_in_the_mean(name: str) -> None:
    experiment = {one.name: one.experiment for one in read_suite(name).scenarios}["solar-scarce"]
    assert experiment.slots_per_epoch * experiment.slot_seconds == 86_400
    clear = replace(experiment.build("energy", "model"), depth=0.0).at_scale(experiment.scale)
    slots = experiment.epochs * experiment.slots_per_epoch
    (brought,) = clear.totals(np.array([slots]))[0] * clear.units_per_joule / slots
    assert brought == pytest.approx(clear.mean(1)[0], rel=0.003)


def test_one_scenario_of_a_suite_can_be_had_and_one_that_is_not_there_is_said(small: Path) -> None:
    assert [one.name for one in read_suite(small, ["rich"]).scenarios] == ["rich"]
    with pytest.raises(ConfigError, match=r"has no scenario 'ritch'; did you mean 'rich'\?"):
        read_suite(small, ["ritch"])


@pytest.mark.parametrize(("name", "seeds"), [("quick", 5), ("full", 3)])
def test_the_suites_say_what_they_are_and_how_many_seeds_they_have(name: str, seeds: int) -> None:
    suite = read_suite(name)
    assert suite.seeds == seeds
    assert suite.given == name
    assert all(scenario.words.endswith(".") for scenario in suite.scenarios)


def test_any_setting_and_the_version_change_the_fingerprint(small: Path) -> None:
    before = read_suite(small).scenarios[0].fingerprint
    text = (small / "poor.toml").read_text()
    (small / "poor.toml").write_text(text.replace("p = 0.1\n", "p = 0.2\n"))
    other_setting = read_suite(small).scenarios[0].fingerprint
    (small / "poor.toml").write_text(text.replace("version = 1", "version = 2"))
    other_version = read_suite(small).scenarios[0].fingerprint
    assert len({before, other_setting, other_version}) == 3


def test_a_scenario_has_the_settings_of_its_suite_and_its_own(small: Path) -> None:
    poor, rich = read_suite(small).scenarios
    assert (poor.name, rich.name) == ("poor", "rich")
    assert poor.experiment.clients == rich.experiment.clients == 6
    assert (poor.experiment.energy.options, rich.experiment.energy.options) == ({"p": 0.1}, {"p": 0.8})


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("poor.toml", "words = 'x'", r"poor.toml must state its version, a whole number from 1\."),
        ("poor.toml", "version = 'one'", r"version = 'one' must be of the type int\."),
        ("poor.toml", "verson = 1", r"has no setting 'verson'; did you mean 'version'\?"),
        ("poor.toml", "version = 1\n[experiment]\nepocs = 1", r"The scenario .*poor.toml: There is no setting 'epocs'"),
        ("poor.toml", "version = 1\n[experiment.learning]\nmode = 'none'", r"must learn; set learning.mode = 'train'"),
        ("suite.toml", "seeds = 0", r"seeds = 0 must be at least 1\."),
    ],
)
def test_a_wrong_scenario_is_one_sentence(small: Path, file: str, text: str, sentence: str) -> None:
    (small / file).write_text(text)
    with pytest.raises(ConfigError, match=sentence):
        read_suite(small)


def test_a_suite_that_is_not_there_and_one_without_scenarios_are_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no suite 'quik'; did you mean 'quick'\?"):
        read_suite("quik")
    (tmp_path / "suite.toml").write_text("seeds = 1")
    with pytest.raises(ConfigError, match=r"has no scenario; each is a TOML file beside suite.toml"):
        read_suite(tmp_path)
