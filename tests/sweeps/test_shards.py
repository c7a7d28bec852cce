"""Shards of one grid in a common directory."""

import csv
import os
import subprocess
import sys
from pathlib import Path

from fallow.cli import app
from fallow.sweeps import table
from fallow.sweeps.execute import execute
from fallow.sweeps.grid import plan
from fallow.sweeps.shards import Shard
from fallow.sweeps.table import TABLE, update_table
from tests.cli.runner import fail, invoke
from tests.docs_site.reader import blocks

SMALL = {"clients": 8, "epochs": 4, "energy": {"p": 0.5}, "policy": {"k": 2}}
GRID = {"policy.name": ["vaoi", "random-k"], "seed": [0, 1, 2]}
COMMAND = (
    *("sweep", "--set=clients=8", "--set=epochs=4", "--set=energy.p=0.5", "--set=policy.k=2"),
    *("--grid", "policy.name=vaoi,random-k", "--grid", "seed=0,1,2"),
)


def rows(folder: Path) -> list[tuple[str, str]]:
    with (folder / TABLE).open() as file:
        return [(row["policy.name"], row["seed"]) for row in csv.DictReader(file)]


def test_shards_have_every_run_once() -> None:
    runs = plan(SMALL, GRID, Path("out"))
    shares = [Shard(number, 4).share(runs) for number in (1, 2, 3, 4)]
    assert [len(share) for share in shares] == [2, 2, 1, 1]
    assert sorted(run.directory for share in shares for run in share) == sorted(run.directory for run in runs)


def test_a_shard_does_not_mind_what_others_have_not_done_and_the_last_sees_all(tmp_path: Path) -> None:
    output = invoke(app, *COMMAND, "--out", str(tmp_path), "--shard", "1/2")
    assert "3 of 6 runs finished, of which 3 are this shard's" in output
    assert rows(tmp_path) == [("vaoi", "0"), ("vaoi", "2"), ("random-k", "1")]
    assert "6 of 6 runs finished" in invoke(app, *COMMAND, "--out", str(tmp_path), "--shard", "2/2")
    assert len(rows(tmp_path)) == 6
    whole = (tmp_path / TABLE).read_bytes()
    assert "6 of 6 runs finished;" in invoke(app, *COMMAND, "--out", str(tmp_path))
    assert (tmp_path / TABLE).read_bytes() == whole


def test_more_shards_than_runs_leave_some_with_nothing_to_do(tmp_path: Path) -> None:
    assert "0 of 6 runs finished" in invoke(app, *COMMAND, "--out", str(tmp_path / "out"), "--shard", "7/8")


def test_shards_at_the_same_time_leave_the_table_of_one_sweep(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fallow", *COMMAND, "--workers", "1", "--out", str(tmp_path / "shards")]
    shards = [subprocess.Popen([*command, "--shard", f"{n}/3"], stdout=subprocess.DEVNULL) for n in (1, 2, 3)]
    assert [shard.wait() for shard in shards] == [0, 0, 0]
    execute(plan(SMALL, GRID, tmp_path / "whole"), tmp_path / "whole")
    assert (tmp_path / "shards" / TABLE).read_bytes() == (tmp_path / "whole" / TABLE).read_bytes()
    assert {path.name for path in (tmp_path / "shards").iterdir() if path.is_file()} == {TABLE}


def test_a_table_that_another_shard_made_old_while_it_was_written_is_written_again(tmp_path: Path, monkeypatch) -> None:
    runs = plan(SMALL, GRID, tmp_path)
    execute(runs, tmp_path)
    look, write = table.finished_rows, table.write_table
    looks, written = [], []

    def look_too_early(own: list) -> list:
        looks.append(own)
        return look(own)[: 3 if len(looks) == 1 else None]  # the other three are not finished yet

    def note_and_write(path: Path, own: list) -> None:
        written.append(len(own))
        write(path, own)

    monkeypatch.setattr(table, "finished_rows", look_too_early)
    monkeypatch.setattr(table, "write_table", note_and_write)
    assert len(update_table(tmp_path / TABLE, runs)) == 6
    assert written == [3, 6]
    assert len(rows(tmp_path)) == 6


def test_a_dry_run_counts_its_own_share(tmp_path: Path) -> None:
    said = invoke(app, *COMMAND, "--out", str(tmp_path), "--shard", "1/2", "--dry-run").splitlines()[-1]
    assert said.startswith("3 runs; about ")


def test_a_wrong_shard_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, *COMMAND, "--out", str(tmp_path / "out"), "--shard", "0/2")
    assert (code, "There is no shard '0/2'; in i/n, i goes from 1 to n." in words) == (2, True)
    assert not (tmp_path / "out").exists()


def test_the_job_script_of_the_docs_runs_its_shard(tmp_path: Path) -> None:
    files = {block.title: block.text for block in blocks("many-runs.md")}
    (tmp_path / "grid.toml").write_text(files["grid.toml"])
    script = files["sweep.sh"].replace("/shared/grid", "out").replace("\nfallow ", f"\n{sys.executable} -m fallow ")
    (tmp_path / "sweep.sh").write_text(script)
    for number in ("1", "8"):
        environment = os.environ | {"SLURM_ARRAY_TASK_ID": number}
        subprocess.run(["sh", "sweep.sh"], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "seed=0,p=0.1,name=vaoi",
        "seed=1,p=1.0,name=random-k",
        TABLE,
    }
