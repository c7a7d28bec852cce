"""Scenarios: frozen, read from files, and wrong ones named in a sentence."""

from pathlib import Path

import pytest

from fallow.errors import ConfigError
from fallow.study.bench.scenarios import list_suites, read_suite

FROZEN: dict[tuple[str, str, int], str] = {
    ("full", "mild-scarce", 1): "388e220ba5681cb251bb2c4e710c3d01b602bbf8131cbb6f9fd82bafb196bbca",
    ("full", "skewed-medium", 1): "efe4891f69e5f5eb16b70203e6c40bfe2f894840f528ab4d5eaf6d5cef0e9c26",
    ("full", "skewed-scarce", 1): "237af52014ba7cd7ecb58d461155354fa2449e54ac8917484ffc4325a6598012",
    ("quick", "mild-scarce", 1): "f1718796f009e92db4da78bb41a4fdb4f26ce022923201d0ec88ece0d9dc8d02",
    ("quick", "skewed-medium", 1): "fd20c3a48e2b8167cc2b4ef5c88b5f9c443207fb8f48e5747cb9b7be845c79bc",
    ("quick", "skewed-scarce", 1): "b765748d726bb7d17dd2fdb507f824faa5ae254dffaab77af87059350cbb4491",
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
