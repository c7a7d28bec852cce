"""Grids, their directories, and runs that fail, die or are already there."""

import csv
import multiprocessing
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fallow.cli import app
from fallow.errors import ConfigError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.begun import find_difference
from fallow.simulation.engine import Engine
from fallow.sweeps import pool
from fallow.sweeps.checks import check_directories
from fallow.sweeps.grid import plan, read_grid, run_name
from fallow.sweeps.pool import run_all
from fallow.sweeps.table import finished_rows
from tests.cli.runner import fail, invoke

SMALL = {"clients": 8, "epochs": 6, "energy": {"p": 0.5}, "policy": {"k": 2}, "output": {"checkpoint_every": 2}}
QUICK = [f"--set={s}" for s in ("clients=8", "epochs=6", "energy.p=0.5", "policy.k=2", "output.checkpoint_every=2")]


def test_a_grid_comes_from_the_file_and_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text('epochs = 7\n[grid]\nseed = [0, 1]\n"energy.p" = [0.1, 1.0]\n[grid.policy]\nname = ["vaoi"]\n')
    shared, grid = read_grid(path, ["clients=12"], ["seed=5,6,7"])
    assert shared == {"epochs": 7, "clients": 12}
    assert grid == {"seed": [5, 6, 7], "energy.p": [0.1, 1.0], "policy.name": ["vaoi"]}


def test_every_point_is_planned_the_last_axis_fastest(tmp_path: Path) -> None:
    runs = plan(SMALL, {"policy.name": ["vaoi", "fedavg"], "seed": [0, 1]}, tmp_path)
    assert [run.directory.name for run in runs] == [
        "name=vaoi,seed=0",
        "name=vaoi,seed=1",
        "name=fedavg,seed=0",
        "name=fedavg,seed=1",
    ]
    assert [run.experiment.seed for run in runs] == [0, 1, 0, 1]
    assert SMALL["policy"] == {"k": 2}


def test_names_are_told_apart_and_fit_a_folder() -> None:
    assert (
        run_name({"policy.name": "my/mod:Policy", "data.name": "digits"})
        == "policy.name=my_mod_Policy,data.name=digits"
    )
    assert run_name({}) == "run"


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (["seed"], "not of the form key=value,value"),
        (["seed="], "not of the form key=value,value"),
        (["seed=1,1"], "The axis seed holds a value twice"),
        (["policy.k=2,900"], "At policy.k = 900: policy.k = 900 is more than clients"),
        (["polcy.k=2"], "There is no setting 'polcy'"),
    ],
)
def test_a_wrong_grid_is_one_sentence_before_anything_runs(axes: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        plan(*read_grid(None, (), axes), tmp_path)
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_another_experiment_is_left_alone(tmp_path: Path) -> None:
    invoke(app, "sweep", *QUICK, "--grid", "seed=0", "--out", str(tmp_path))
    other = plan(SMALL | {"epochs": 9}, {"seed": [0]}, tmp_path)
    with pytest.raises(RunDirectoryError, match="holds a run of another experiment, with epochs = 6, not 9"):
        check_directories(other)
    check_directories(plan(SMALL, {"seed": [0]}, tmp_path))


def test_how_arithmetic_is_spread_does_not_make_another_experiment(tmp_path: Path) -> None:
    def resolved(settings: dict, **axes: list) -> dict:
        return tomllib.loads(plan(settings, axes, tmp_path)[0].experiment.to_toml())

    one, two = (resolved(SMALL | {"compute": {"workers": n}}) for n in (1, 2))
    assert find_difference(one, two) is None
    assert find_difference(one, resolved(SMALL, seed=[3])) == "seed = 0, not 3"
    del one["seed"]
    assert find_difference(one, two) == "seed unset, not 0"


def test_a_sweep_writes_a_table_and_is_quick_the_second_time(tmp_path: Path) -> None:
    command = ("sweep", *QUICK, "--grid", "policy.name=vaoi,fedavg", "--grid", "seed=0,1", "--out", str(tmp_path))
    assert "4 of 4 runs finished in" in invoke(app, *command)
    before = (tmp_path / "table.csv").read_bytes()
    output = invoke(app, *command)
    assert "4 of 4 runs finished;" in output
    assert (tmp_path / "table.csv").read_bytes() == before
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy.name"], row["seed"]) for row in rows] == [
        ("vaoi", "0"),
        ("vaoi", "1"),
        ("fedavg", "0"),
        ("fedavg", "1"),
    ]
    assert rows[0]["harvested"] == rows[2]["harvested"] != rows[1]["harvested"]


def test_the_table_has_a_line_for_each_point_but_the_seed(tmp_path: Path) -> None:
    command = ["sweep", *QUICK, "--set=epochs=2", "--grid", "clients=8,9", "--grid", "seed=0,1", "--out", str(tmp_path)]
    lines = [line.split() for line in invoke(app, *command).splitlines()]
    assert lines[1][:2] == ["policy", "clients"]
    assert [(line[1], line[-1]) for line in lines if line[:1] == ["vaoi"]] == [("8", "2"), ("9", "2")]


def test_the_table_holds_lists_and_runs_without_scores(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    many = [0.5] * 8
    path.write_text(f'[grid]\n"energy.p" = [{many}, 0.3]\n"learning.mode" = ["none", "train"]\n')
    output = invoke(app, "sweep", str(path), *QUICK, "--set=epochs=1", "--out", str(tmp_path / "out"))
    assert "4 of 4 runs finished" in output
    assert "–" in output
    with (tmp_path / "out" / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["energy.p"] for row in rows] == [str(many)] * 2 + ["0.3"] * 2
    assert [bool(row["f1"]) for row in rows] == [False, True, False, True]


def test_a_long_name_is_cut_and_stays_its_own() -> None:
    names = {run_name({"energy.p": [p] * 60, "seed": 0}) for p in (0.1, 0.2)}
    assert len(names) == 2
    assert all(len(name.encode()) < 200 for name in names)


def test_two_runs_never_share_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="would both be run in"):
        plan(SMALL, {"data.name": ["npz:a/b.npz", "npz:a_b.npz"]}, tmp_path)
    with pytest.raises(ConfigError, match="holds a value twice"):
        plan(SMALL, {"policy.name": ["vaoi", "vaoi"]}, tmp_path)


def test_compare_meets_every_policy_with_the_same_seeds(tmp_path: Path) -> None:
    output = invoke(app, "compare", *QUICK, "--policies", "vaoi,oldest", "--seeds", "2", "--out", str(tmp_path))
    assert "4 of 4 runs finished" in output
    assert "±" in output
    assert "oldest" in output


def test_a_dry_run_counts_and_touches_nothing(tmp_path: Path) -> None:
    output = invoke(app, "compare", *QUICK, "--out", str(tmp_path / "none"), "--dry-run")
    assert output.splitlines()[-1].startswith("12 runs; about ")
    assert not (tmp_path / "none").exists()


def test_a_dry_run_says_what_is_finished(tmp_path: Path) -> None:
    invoke(app, "sweep", *QUICK, "--grid", "seed=0", "--out", str(tmp_path))
    command = ("sweep", *QUICK, "--out", str(tmp_path), "--dry-run", "--workers", "1")
    for seeds, words in (("0,1", "2 runs, 1 of them finished"), ("1", "1 run")):
        said = invoke(app, *command, "--grid", f"seed={seeds}").splitlines()[-1]
        assert re.fullmatch(rf"{words}; about \d+ s, one at a time.", said)


def test_a_run_that_fails_does_not_stop_the_others_and_is_listed(tmp_path: Path, capsys, monkeypatch) -> None:
    policies = "policy.name=tests.policies.test_check:Crash,vaoi"
    monkeypatch.chdir(Path(__file__).parents[2])
    arguments = [a for a in QUICK if "policy.k" not in a]
    code, words = fail(
        capsys, monkeypatch, "sweep", *arguments, "--set=policy.k=2", "--grid", policies, "--out", str(tmp_path)
    )
    assert code == 1
    assert "Failed: name=tests.policies.test_check_Crash: The policy" in words
    assert "AttributeError" in words
    assert (tmp_path / "name=vaoi" / "summary.json").exists()


def test_a_worker_that_dies_before_it_reads_its_orders_costs_one_try(tmp_path: Path, monkeypatch) -> None:
    start, started = pool._start, []

    def die_at_first() -> object:
        pipe, process = start()
        if not started:
            process.kill()
        started.append(process)
        return pipe, process

    monkeypatch.setattr(pool, "_start", die_at_first)
    said = list(run_all(plan(SMALL, {"seed": [0]}, tmp_path), 1))
    assert said[-1].finished
    assert len(started) == 2


def test_a_run_goes_on_as_it_began_though_the_plan_leaves_its_strategy_open(tmp_path: Path, monkeypatch) -> None:
    settings = SMALL | {"learning": {"mode": "train"}}
    (run,) = plan(settings, {}, tmp_path)
    (begun,) = plan(settings | {"compute": {"strategy": "spread"}}, {}, tmp_path)
    run.directory.mkdir()
    (run.directory / "config.toml").write_text(
        begun.experiment.to_toml()
    )  # as a kill soon after its beginning leaves it
    built = []

    def build(experiment: Experiment, **options: int) -> Engine:
        built.append(experiment.compute.strategy)
        return Engine(experiment, **options)

    monkeypatch.setattr("fallow.runs.execute.Engine", build)
    pool.carry_out(run.experiment, run.directory, lambda _: None)
    assert (run.experiment.compute.strategy, built) == ("auto", ["spread"])


def test_a_worker_that_is_killed_costs_one_try_and_the_run_goes_on(tmp_path: Path) -> None:
    runs = plan(SMALL | {"epochs": 2000, "output": {"checkpoint_every": 100}}, {"seed": [0, 1]}, tmp_path)
    killed = False
    ends = []
    for said in run_all(runs, 1):
        if not killed and said.epochs > 10:
            for child in multiprocessing.active_children():
                child.kill()
                killed = True
        if said.finished or said.failure:
            ends.append((said.run.directory.name, said.failure))
    assert killed
    assert sorted(ends) == [("seed=0", None), ("seed=1", None)]
    assert len(finished_rows(runs)) == 2


FORECASTS = ("--set=policy.name=fedzero", "--set=policy.forecast_by=model")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["sweep", "--grid", "energy.path=nope.csv,there.csv", "--set=energy.model=trace"],
            "The trace nope.csv",
        ),
        (
            ["sweep", "--grid", "seed=0,1", "--set=energy.model=tests.oracle.harvest:Bursts", *FORECASTS],
            "The policy needs a forecast of the energy model, and Bursts has none",
        ),
        (["sweep", "--grid", "data.name=npz:nope.npz,digits", "--set=learning.mode=train"], "nope.npz"),
        (["sweep", "--grid", "seed=0,1", "--grid", "seed=2,3"], "The axis seed is given twice"),
        (["sweep", "--grid", "seed=1979-05-27,1979-05-28"], "must be a whole number"),
        (
            ["compare", "--set=policy.name=oldest"],
            "policy.name can't be set for all runs: it differs from run to run; use --policies",
        ),
        (
            ["compare", "--set", "seed = 5"],
            "seed can't be set for all runs: it differs from run to run; use --seeds",
        ),
        (["compare", "--policies=vaoi,vaoi"], "holds a value twice"),
        (["compare", "--out=there.csv"], "there.csv is a file"),
        (["compare", "--out=there.csv", "--dry-run"], "there.csv is a file"),
        (["compare", "--out=there.csv/below"], "there.csv is a file"),
        (["compare", "--out=a run"], "a run holds a run"),
        (["run", "grid.toml"], "grid.toml describes a grid of runs; `fallow sweep grid.toml`"),
        (["run", "--out", "x" * 300], "File name too long"),
        (["run", "--set=clients=99999999999999999999999"], "must be at most 9223372036854775807"),
    ],
)
def test_a_careless_command_is_one_sentence_before_anything_runs(
    arguments: list[str], words: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.csv").write_text("1\n")
    Path("grid.toml").write_text("[grid]\nseed = [0, 1]\n")
    Path("a run").mkdir()
    (Path("a run") / "config.toml").write_text(Experiment.read(None).to_toml())
    before = sorted(tmp_path.rglob("*"))
    code, said = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert words in said
    assert sorted(tmp_path.rglob("*")) == before


def test_names_with_brackets_stand_in_the_table_as_they_are(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("[a].csv", "b[/b].csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("1\n")
    output = invoke(
        app,
        "sweep",
        *QUICK[:2],
        "--set=policy.k=2",
        "--set=energy.model=trace",
        "--grid",
        "energy.path=[a].csv,b[/b].csv",
    )
    assert "[a].csv" in output
    assert "b[/b].csv" in output
    assert "2 of 2 runs finished" in output


def test_names_may_be_parted_by_spaces_too(tmp_path: Path) -> None:
    assert "2 of 2 runs" in invoke(
        app, "compare", *QUICK, "--policies", "vaoi, fedavg", "--seeds=1", "--out", str(tmp_path)
    )


@pytest.mark.parametrize("command", ["sweep", "compare"])
def test_latex_is_all_that_is_printed(command: str, tmp_path: Path) -> None:
    grid = ("--grid", "policy.name=vaoi,fedavg") if command == "sweep" else ("--policies=vaoi,fedavg", "--seeds=1")
    result = CliRunner().invoke(
        app, [command, *QUICK, *grid, "--out", str(tmp_path), "--latex"], catch_exceptions=False
    )
    lines = result.stdout.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{tabular}{lrrrr}", r"\end{tabular}")
    assert lines[2] == r"policy & units & trainings & mean age & seeds \\"
    assert [line.split(" & ")[0] for line in lines[4:6]] == ["vaoi", "fedavg"]
    assert "2 of 2 runs finished" in result.stderr


def test_latex_and_json_are_one_too_many(tmp_path: Path, capsys, monkeypatch) -> None:
    command = ("sweep", *QUICK, "--grid=seed=0", "--latex", "--json", "--out", str(tmp_path / "out"))
    code, words = fail(capsys, monkeypatch, *command)
    assert (code, "--latex and --json both say what to print; choose one of the two." in words) == (2, True)
    assert not (tmp_path / "out").exists()
