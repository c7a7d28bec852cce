"""Scenarios: frozen, read from files, and wrong ones named in a sentence."""

from pathlib import Path

import pytest

from fallow.errors import ConfigError
from fallow.study.bench.scenarios import list_suites, read_suite

FROZEN: dict[tuple[str, str, int], str] = {
    ("full", "mild-scarce", 1): "d0b00dd127a0333a2226c091dab89d8df3086b3bcd9bca9a469353bece4bb2c5",
    ("full", "skewed-medium", 1): "21ebd930670cd1c9978048ca48c1a775c81de16bc01d0524c654bef2a43f2542",
    ("full", "skewed-scarce", 1): "3311402ad1228daafab6f32f0c183a684c5a92228b376a8d27edcbd7d58e107f",
    ("full", "unequal-scarce", 1): "c5d55b7e8fca085801aa7df7b7e0c7a666dc0d35f21352fa27c280247d1912e3",
    ("quick", "mild-scarce", 1): "f4f7f46f1e486f217a5e25e3a2bb8514f5e81aedaa9ffa8bd8347e16c33cee8f",
    ("quick", "skewed-medium", 1): "a17a674ded62e0dc26cb6a64b9f8a23301964b0c7e2d86042fc5a77ac5d01b1b",
    ("quick", "skewed-scarce", 1): "3b56dcfe06cc4bc8c52b16b955979c2d97cc794af2bf52769b5d9a3b7bfc4591",
    ("quick", "unequal-scarce", 1): "47bf8a8334d8bfa62ac0ed702767be9e547a11cc96cac08ee38d748734641603",
}
"""The fingerprint of every scenario by suite, name and version. A change of a scenario needs a new version, and a line
here; the results of the built-ins are then made anew."""


def test_every_scenario_is_what_its_version_was_when_it_was_frozen() -> None:
    suites = [read_suite(name) for name in list_suites()]
    found = {(suite.name, one.name, one.version): one.fingerprint for suite in suites for one in suite.scenarios}
    assert found == FROZEN


@pytest.mark.parametrize("name", ["quick", "full"])
def test_the_suites_have_five_seeds_and_say_what_they_are(name: str) -> None:
    suite = read_suite(name)
    assert suite.seeds == 5
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
