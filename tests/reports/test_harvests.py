"""What a report runs and reads to compute a harvest again, and what it does not."""

from pathlib import Path
from typing import Any

import pytest

from fallow.energy import ENERGY_MODELS
from fallow.errors import ConfigError, FallowError
from fallow.reports import write_report
from fallow.reports.harvests import FILE_OPTION, build_harvest, given_files
from fallow.reports.runs import ReportedRun, read_runs
from tests.reports.made_runs import live

NAMES_CODE = {"signal"}
"""Models of Fallow whose option names code to import."""


def told(**energy: Any) -> ReportedRun:
    settings = {"seed": 0, "clients": 2, "slots_per_epoch": 2} | {f"energy.{key}": one for key, one in energy.items()}
    return ReportedRun("run", Path("run"), settings, {}, {})


def units(run: ReportedRun, files: dict[str, Path]) -> list[list[int]]:
    return [[int(one) for one in slot] for slot in build_harvest(run, files)(0)]


def test_of_every_model_it_is_decided_what_a_report_may_read() -> None:
    assert set(ENERGY_MODELS) <= set(FILE_OPTION) | NAMES_CODE
    assert not set(FILE_OPTION) & NAMES_CODE


@pytest.mark.parametrize("name", ["os:system", "signal", "…"])
def test_code_that_a_config_names_is_not_run(name: str) -> None:
    with pytest.raises(FallowError, match="is not one that a report computes again"):
        build_harvest(told(model=name, of="os:system"), {})


def test_a_file_that_a_config_names_is_read_only_if_the_reader_gave_it(tmp_path: Path) -> None:
    secret = tmp_path / "mine" / "sun.csv"
    secret.parent.mkdir()
    secret.write_text("units\n5\n5\n")
    run = told(model="trace", path=str(secret), end="repeat")
    with pytest.raises(FallowError, match=r"read from 'sun\.csv', and a report reads no file that a run names"):
        build_harvest(run, {})
    other = tmp_path / "sun.csv"
    other.write_text("units\n1\n2\n")
    assert units(run, given_files([other])) == [[1, 1], [2, 2]]  # the reader's file, not the run's
    windows = told(model="trace", path="C:\\traces\\sun.csv", end="repeat")
    assert units(windows, given_files([other])) == [[1, 1], [2, 2]]


def test_a_file_within_a_mix_and_of_a_device_class_is_guarded_too(tmp_path: Path) -> None:
    (tmp_path / "sun.csv").write_text("units\n1\n2\n")
    source = {"model": "trace", "path": "sun.csv", "end": "repeat"}
    mix = told(model="mix", sources=[source | {"share": 1}, {"model": "bernoulli", "p": 1.0, "share": 1}])
    classes = told(model="bernoulli", p=1.0)
    table = dict(classes.settings) | {
        "device": [{"name": "one", "share": 1}, {"name": "two", "share": 1, "energy": source}]
    }
    classes = ReportedRun("run", Path("run"), table, {}, {})
    for run in (mix, classes):
        with pytest.raises(FallowError, match="a report reads no file that a run names"):
            build_harvest(run, {})
    files = given_files([tmp_path / "sun.csv"])
    assert units(mix, files) == [[1, 1], [2, 1]]
    assert units(classes, files) == [[1, 1], [1, 2]]


def test_a_typical_year_is_a_file_unless_it_comes_with_pvlib() -> None:
    own = told(model="solar", year="../../home/somebody/year.epw")
    with pytest.raises(FallowError, match=r"read from 'year\.epw'"):
        build_harvest(own, {})
    with pytest.raises(FallowError, match="slot_seconds"):  # it would have been read, were the scale stated
        build_harvest(told(model="solar", year="12839.tm2"), {})


def test_a_mean_and_a_scale_that_the_run_states_are_kept() -> None:
    assert units(told(model="bernoulli", p=0.0, mean=1.0, correlation=0.0), {}) == [[1, 1], [1, 1]]


def test_files_that_are_not_there_or_share_a_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no file"):
        given_files([tmp_path / "none.csv"])
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sun.csv").write_text("")
    with pytest.raises(ConfigError, match="have one name"):
        given_files([tmp_path / "one" / "sun.csv", tmp_path / "two" / "sun.csv"])


def test_the_page_holds_nothing_of_a_file_that_was_not_given(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("units\n" + "7\n0\n0\n0\n" * 10)
    live(tmp_path / "run", energy__model="trace", energy__path=str(trace), energy__p=None, slot_seconds=3600.0)
    trace.write_text("password\n")  # a report that read it would say what is wrong with it
    page = write_report([tmp_path / "run"], tmp_path / "out").page.read_text(encoding="utf-8")
    assert "a report reads no file that a run names" in page
    assert "password" not in page
    (run,), _ = read_runs([tmp_path / "run"])
    assert run.settings["energy.path"] == str(trace)
