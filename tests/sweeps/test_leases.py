"""Leases: who has none does not write."""

import multiprocessing
import time
from pathlib import Path

import pytest

from fallow import __version__
from fallow.errors import RunDirectoryError
from fallow.sweeps.grid import plan
from fallow.sweeps.leases import give_lease, lease_folder, read_report, report, take_lease
from fallow.sweeps.ray_pool import serve

ENDLESS = {"clients": 8, "epochs": 1_000_000, "policy": {"k": 2}, "output": {"checkpoint_every": 20, "events": False}}


def test_a_worker_says_in_its_lease_how_far_it_is_and_where(tmp_path: Path) -> None:
    with lease_folder(tmp_path) as (folder, _):
        lease = give_lease(folder)
        assert read_report(lease) == (None, "")
        report(lease, 7, "north")
        assert read_report(lease) == (7, "north")
        report(lease, 12, "north")
        assert read_report(lease) == (12, "north")
        take_lease(lease)
        assert read_report(lease) == (None, "")
    assert list(tmp_path.iterdir()) == []


def test_a_worker_whose_lease_is_taken_away_ends_at_once(tmp_path: Path) -> None:
    run = plan(ENDLESS, {}, tmp_path)[0]
    with lease_folder(tmp_path) as (folder, _):
        lease = give_lease(folder)
        worker = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=("here", lease, run.experiment.to_toml(), run.directory, tmp_path, __version__),
            daemon=True,
        )
        worker.start()
        while not read_report(lease)[0]:
            assert worker.exitcode is None
            time.sleep(0.01)
        take_lease(lease)
        worker.join(60)
        worker.kill()
        assert worker.exitcode == 1  # it would be 0, had it put its buffers in order
        assert not lease.exists()
    assert (run.directory / "checkpoint.fallow").exists()


def test_a_later_sweep_takes_the_folder_over(tmp_path: Path) -> None:
    with lease_folder(tmp_path) as (first, begin):
        lease = give_lease(first)
        assert begin <= time.monotonic()
        with lease_folder(tmp_path) as (second, later):
            assert later > time.monotonic()  # the workers of the first get time to find out
            assert not lease.exists()
            with pytest.raises(RunDirectoryError, match=f"Another sweep has taken over {tmp_path}"):
                give_lease(first)
            give_lease(second)


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunDirectoryError, match="can't be written to: "), lease_folder(tmp_path / "file"):
        pass
