"""The built-ins' results: written, read, and compared with the code and the scenario."""

import json
from pathlib import Path

import pytest

from fallow.errors import ConfigError, FallowError
from fallow.study.bench.entrants import built_ins
from fallow.study.bench.reference import read_reference, say_origins, write_reference
from fallow.study.bench.scenarios import Scenario, read_suite
from tests.study.bench.small import score
from tests.study.bench.test_bench import MISSING


@pytest.fixture
def poor(small: Path) -> Scenario:
    return read_suite(small).scenarios[0]


def write(scenario: Scenario, folder: Path, *names: str, f1: float = 0.5) -> None:
    scores = [score("poor", name, seed, f1 + seed / 10) for name in names for seed in range(2)]
    write_reference(scenario, built_ins(names), scores, folder)


def test_what_is_written_is_read(poor: Scenario, tmp_path: Path) -> None:
    write(poor, tmp_path / "new", "fedavg", "unlimited")
    found = read_reference(poor, tmp_path / "new")
    assert found.notes == ()
    assert found.scores[:2] == (score("poor", "fedavg", 0, 0.5), score("poor", "fedavg", 1, 0.6))
    assert found.ranked == ["fedavg"]  # energy is no limit for the other
    assert {"commit", "processor", "python", "fallow", "numpy", "torch"} <= set(found.made["fedavg"])
    (origin,) = say_origins([found])
    assert origin.startswith("Results of the built-ins: ")
    assert (tmp_path / "new" / "poor.csv").read_text().splitlines()[:2] == [
        "entrant,seed,f1,energy",
        "fedavg,0,0.5,100",
    ]


def test_some_are_made_anew_beside_the_others(poor: Scenario, tmp_path: Path) -> None:
    write(poor, tmp_path, "vaoi", "fedavg")
    write(poor, tmp_path, "vaoi", "random-k", f1=0.8)
    found = read_reference(poor, tmp_path)
    assert [(one.entrant, one.values["f1"]) for one in found.scores if one.seed == 0] == [
        ("vaoi", 0.8),
        ("fedavg", 0.5),
        ("random-k", 0.8),
    ]
    assert list(found.made) == ["vaoi", "fedavg", "random-k"]


def test_results_of_other_code_are_shown_and_said(poor: Scenario, tmp_path: Path) -> None:
    write(poor, tmp_path, "vaoi", "fedavg")
    told = json.loads((tmp_path / "poor.json").read_text())
    told["entrants"]["vaoi"]["code"] = "0" * 64
    (tmp_path / "poor.json").write_text(json.dumps(told))
    found = read_reference(poor, tmp_path)
    assert len(found.scores) == 4
    assert found.notes == ("poor: the reference of vaoi was made by another version of the code.",)


def test_results_of_another_scenario_are_never_shown(poor: Scenario, small: Path, tmp_path: Path) -> None:
    write(poor, tmp_path, "vaoi")
    (small / "poor.toml").write_text((small / "poor.toml").read_text().replace("version = 1", "version = 2"))
    newer = read_suite(small).scenarios[0]
    found = read_reference(newer, tmp_path)
    assert found.scores == ()
    assert found.notes == (
        "poor: the built-ins were run in another version of the scenario: version 1, not 2, or other settings.",
    )
    write(newer, tmp_path, "fedavg")  # and are not kept
    assert list(read_reference(newer, tmp_path).made) == ["fedavg"]


def test_a_default_that_has_changed_since_makes_another_scenario(poor: Scenario, tmp_path: Path) -> None:
    write(poor, tmp_path, "vaoi")
    told = json.loads((tmp_path / "poor.json").read_text())
    assert "policy.k" not in told["settings"]
    told["settings"]["sgd.lr"] = 0.5
    (tmp_path / "poor.json").write_text(json.dumps(told))
    (note,) = read_reference(poor, tmp_path).notes
    assert note.endswith("another version of the scenario: sgd.lr = 0.5, not 0.01.")


def test_what_is_missing_torn_or_damaged_is_said(poor: Scenario, tmp_path: Path) -> None:
    missing = (f"poor: {MISSING}",)
    assert read_reference(poor, tmp_path).notes == missing
    write(poor, tmp_path, "vaoi")
    description = (tmp_path / "poor.json").read_text()
    (tmp_path / "poor.csv").write_text("entrant,seed,f1\nvaoi,0,0.9\n")  # of another moment than its description
    assert read_reference(poor, tmp_path).notes == missing
    (tmp_path / "poor.json").write_text(description[:-30])
    with pytest.raises(ConfigError, match=r"The reference .*poor.csv can't be read .* make it anew with --reference"):
        read_reference(poor, tmp_path)


def test_a_folder_that_is_a_file_is_said(poor: Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FallowError, match="The references can't be written to"):
        write(poor, tmp_path / "file", "vaoi")


def test_the_references_that_come_with_fallow_can_be_read() -> None:
    for suite in map(read_suite, ("quick", "full")):
        for scenario in suite.scenarios:
            read_reference(scenario, suite.folder)
