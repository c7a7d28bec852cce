"""Run directories are data: reading one executes nothing, whatever its config names."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w

import fallow
from fallow.cli import app
from fallow.errors import RunDirectoryError
from fallow.reports import write_report
from fallow.runs.reader import read_epochs, read_settings, read_summary
from fallow.study.outcomes import read_outcomes
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.table import finished_rows
from tests.cli.runner import invoke

TRAP = "from pathlib import Path\nPath({path!r}).write_text('executed')\n"


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch) -> Path:
    """A finished run whose config names classes of a module that is not here, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    invoke(app, "run", "--set", "epochs=4", "--set", "clients=12", "--set", "energy.p=0.5", "--out", str(run))
    config = (run / "config.toml").read_text()
    named = config.replace('name = "vaoi"', 'name = "my_module:MyPolicy"').replace('"bernoulli"', '"my_module:Sun"')
    named = named.replace('name = "digits"', 'name = "my_module:data"')
    assert named.count("my_module:") == 3
    (run / "config.toml").write_text(named)
    return run


@pytest.mark.parametrize("trap", [False, True], ids=["module gone", "module writes a file"])
def test_reading_a_run_executes_nothing_of_what_its_config_names(trap: bool, foreign: Path, tmp_path: Path) -> None:
    executed = tmp_path / "executed"
    if trap:
        (tmp_path / "my_module.py").write_text(TRAP.format(path=str(executed)))
    assert "energy consumed" in invoke(app, "show", str(foreign))
    run = fallow.load(foreign)
    assert run.settings["policy"]["name"] == "my_module:MyPolicy"
    assert len(run.epochs) == 4
    assert len(run.events)
    assert write_report([foreign], tmp_path / "report").runs == 1
    planned = PlannedRun({"data.alpha": 0.1, "energy.p": 0.5, "policy.name": "x", "seed": 0}, None, foreign)  # type: ignore[arg-type]
    assert finished_rows([planned])[0]["epochs"] == 4
    assert len(read_outcomes(foreign.parent).runs) == 1
    assert "my_module" not in sys.modules
    assert not executed.exists()


def test_reading_runs_loads_nothing_heavy() -> None:
    heavy = "('pyarrow', 'pandas', 'scipy', 'matplotlib', 'torch', 'pydantic')"
    ours = "('fallow.experiment', 'fallow.simulation', 'fallow.learning', 'fallow.policies', 'fallow.energy')"
    code = "import sys; import fallow.runs.layout, fallow.runs.reader"
    print_loaded = f"print(sorted(name for name in sys.modules if name in {heavy} or name.startswith({ours})))"
    command = [sys.executable, "-c", f"{code}; {print_loaded}"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "[]"


def test_settings_are_plain_data(foreign: Path) -> None:
    settings = read_settings(foreign)
    assert settings["clients"] == 12
    assert settings["energy"] == {"model": "my_module:Sun", "correlation": 0.0, "mean": 0.0, "p": 0.5}


def test_a_column_is_float64_and_an_empty_cell_is_nan(foreign: Path) -> None:
    table = foreign / "epochs.csv"
    head, *rows = table.read_text().splitlines()
    place = head.split(",").index("mean_age_delivered")
    cells = [row.split(",") for row in rows]
    cells[1][place] = ""
    table.write_text("\n".join([head, *map(",".join, cells)]) + "\n")
    epochs = read_epochs(foreign)
    assert {column.dtype for column in epochs.values()} == {np.dtype(np.float64)}
    assert np.isnan(epochs["mean_age_delivered"]).tolist() == [False, True, False, False]
    assert epochs["epoch"].tolist() == [0, 1, 2, 3]


def test_counts_are_whole_numbers_in_a_frame(foreign: Path) -> None:
    types = fallow.load(foreign).epochs.dtypes
    assert (types["starts"], types["mean_age_delivered"]) == (np.dtype(np.int64), np.dtype(np.float64))


def test_half_a_row_of_a_run_that_was_killed_is_left_out(foreign: Path) -> None:
    (foreign / "summary.json").unlink()
    with (foreign / "epochs.csv").open("a") as file:
        file.write("4,12,3")
    assert read_epochs(foreign)["epoch"].tolist() == [0, 1, 2, 3]
    with (foreign / "epochs.csv").open("a") as file:
        file.write("\n")
    with pytest.raises(RunDirectoryError, match=r"line 6 has 3 cells, and the table 15 columns\.$"):
        read_epochs(foreign)


def test_a_run_of_the_version_before_is_read(tmp_path: Path) -> None:
    """It had k and mu in the policy's section whatever the policy, and no clients.parquet."""
    run = tmp_path / "run"
    invoke(app, "run", "--set", "epochs=3", "--set", "policy.name=fedavg", "--out", str(run))
    settings = read_settings(run)
    settings["policy"] |= {"k": 10, "mu": 0.5}
    settings["learning"].pop("ages", None)
    (run / "config.toml").write_text(tomli_w.dumps(settings))
    (run / "clients.parquet").unlink(missing_ok=True)
    summary = json.loads((run / "summary.json").read_text())
    summary.pop("ages", None)
    (run / "summary.json").write_text(json.dumps(summary))
    assert "energy consumed" in invoke(app, "show", str(run))
    assert fallow.load(run).settings["policy"]["k"] == 10
    assert write_report([run], tmp_path / "report").runs == 1


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("config.toml", "x = 1\n", "has no 'seed'; it is not the config of a run of a version that Fallow knows."),
        ("config.toml", "x = ", "is not valid TOML: "),
        ("summary.json", '{"total": 1}', "has no 'policy'; it is not the summary of a run of a version that Fallow"),
        ("epochs.csv", "round,loss\n0,1\n", "has no column 'epoch'; it is not the table of a run of a version that"),
        ("epochs.csv", "", "has no column 'epoch'"),
    ],
)
def test_what_is_no_run_of_a_known_version_is_one_sentence(name: str, text: str, words: str, foreign: Path) -> None:
    (foreign / name).write_text(text)
    read: dict[str, Callable[[Path], object]]
    read = {"config.toml": read_settings, "summary.json": read_summary, "epochs.csv": read_epochs}
    with pytest.raises(RunDirectoryError) as caught:
        read[name](foreign)
    assert str(caught.value).startswith(f"{foreign / name} {words}")
    assert "\n" not in str(caught.value)


WRONG_TOTALS = {
    "f1": "good",
    "mean_age_selected": [1],
    "energy_total": 10**400,
    "uploads": {"x": 1},
    "unit_joules": "many",
    "versions": "all",
    "ages": 3,
}


@pytest.mark.parametrize("key", WRONG_TOTALS)
def test_a_wrong_type_in_a_summary_is_one_sentence_wherever_it_is_read(key: str, foreign: Path, tmp_path: Path) -> None:
    summary = json.loads((foreign / "summary.json").read_text())
    (foreign / "summary.json").write_text(json.dumps(summary | {key: WRONG_TOTALS[key]}))
    planned = PlannedRun({"seed": 0}, None, foreign)  # type: ignore[arg-type]
    for read in (
        lambda: invoke(app, "show", str(foreign)),
        lambda: fallow.load(foreign),
        lambda: fallow.load(foreign.parent),
        lambda: write_report([foreign], tmp_path / "report"),
        lambda: finished_rows([planned]),
    ):
        with pytest.raises(RunDirectoryError, match=key) as caught:
            read()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "1" * 10_000, "\x00", '{"policy": "vaoi"'])
def test_a_summary_that_is_no_json_is_one_sentence(text: str, foreign: Path) -> None:
    (foreign / "summary.json").write_text(text)
    with pytest.raises(RunDirectoryError, match=r"summary\.json (can't be read|has no 'policy')") as caught:
        read_summary(foreign)
    assert "\n" not in str(caught.value)


def test_a_setting_where_a_table_should_be_is_one_sentence(foreign: Path) -> None:
    config = (foreign / "config.toml").read_text()
    for text, words in (
        ('output = 3\n"policy.name" = "x"\n', "no table"),
        ('"policy.name" = "x"\n', "no table 'policy'"),
    ):
        begin = config.split("[")[0]
        (foreign / "config.toml").write_text(text + begin)
        with pytest.raises(RunDirectoryError, match=words):
            read_settings(foreign)


def test_a_cell_longer_than_csv_allows_is_one_sentence(foreign: Path) -> None:
    table = foreign / "epochs.csv"
    table.write_text(table.read_text() + "1" * 200_000 + "\n")
    with pytest.raises(RunDirectoryError, match="field larger than field limit"):
        read_epochs(foreign)


def test_arrow_opens_tables_itself_and_reads_them_without_threads(foreign: Path, monkeypatch) -> None:
    """A thread of Arrow's that lets go of a Python file while the interpreter ends aborts the process, now and then."""
    sources = []

    class Watched(pq.ParquetFile):
        def __init__(self, source) -> None:
            sources.append(type(source))
            super().__init__(source)

        def read(self, *, use_threads: bool = True):
            assert not use_threads
            return super().read(use_threads=False)

    monkeypatch.setattr(pq, "ParquetFile", Watched)
    run = fallow.load(foreign)
    assert len(run.events) > len(run.clients) == 12
    assert sources == [pa.OSFile, pa.OSFile]
