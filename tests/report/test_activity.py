from pathlib import Path

import numpy as np
import pytest

from fallow.errors import RunDirectoryError
from fallow.report.activity import KINDS, Events, age_map, read_events, uploads_per_client
from fallow.report.runs import read_runs
from tests.report.made_runs import live


def uploads(*pairs: tuple[int, int]) -> Events:
    """Uploads as (epoch, client)."""
    epoch, client = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    return Events(epoch, epoch * 10, client, np.full(len(pairs), KINDS.index("upload"), dtype=np.int8))


def test_ages_count_from_the_beginning_and_reset_when_an_update_is_received() -> None:
    ages = age_map(uploads((1, 0), (2, 1), (2, 0)), clients=2, epochs=4)
    assert ages.tolist() == [[1, 0, 0, 1], [1, 2, 0, 1]]


def test_many_epochs_and_clients_are_averaged_in_bins() -> None:
    ages = age_map(uploads((0, 0)), clients=200, epochs=600)
    assert ages.shape == (100, 300)
    assert ages[0, 0] == pytest.approx((0 + 1 + 1 + 2) / 4)
    assert ages[99, 299] == pytest.approx(599.5)


def test_events_of_a_real_run_agree_with_its_summary(tmp_path: Path) -> None:
    (run,), _ = read_runs([live(tmp_path / "run", policy__name="fedavg", epochs=12)])
    events = read_events(run, KINDS)
    counts = uploads_per_client(events.of("upload"), 6)
    assert (counts.sum(), len(events.of("start").slot)) == (run.summary["uploads"], run.summary["starts"])
    assert counts.sum() ** 2 / (6 * (counts**2).sum()) == pytest.approx(run.summary["jain_index_uploads"])
    assert len(events.of("select").slot) == 6 * 12


def test_only_the_kinds_and_epochs_asked_for_are_read(tmp_path: Path) -> None:
    (run,), _ = read_runs([live(tmp_path / "run", policy__name="fedavg")])
    events = read_events(run, ("select",), epochs=3)
    assert len(events.slot) == 6 * 3
    assert set(events.kind.tolist()) == {KINDS.index("select")}


def test_a_broken_events_file_is_named(tmp_path: Path) -> None:
    directory = live(tmp_path / "run")
    (directory / "events.parquet").write_bytes(b"no table")
    (run,), _ = read_runs([directory])
    with pytest.raises(RunDirectoryError, match=r"events\.parquet can't be read"):
        read_events(run, KINDS)
