from pathlib import Path

import pytest

from fallow.errors import RunDirectoryError
from fallow.reports.activity import read_by_epoch, read_events, uploads_per_client
from fallow.reports.runs import read_runs
from fallow.runs.event_table import KINDS
from tests.reports.made_runs import live


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


@pytest.mark.parametrize("piece", [1, 7, 2**18])
def test_epochs_are_whole_however_the_file_is_cut(piece: int, tmp_path: Path, monkeypatch) -> None:
    (run,), _ = read_runs([live(tmp_path / "run", epochs=12, energy__p=0.1)])
    whole = read_events(run, ("start", "upload"))
    assert len(set(whole.epoch.tolist())) < 12  # in some epochs nothing happens
    monkeypatch.setattr("fallow.reports.activity.PIECE", piece)
    found = [(events.epoch.tolist(), events.slot.tolist()) for events in read_by_epoch(run, ("start", "upload"))]
    assert found == [
        ([epoch] * int((whole.epoch == epoch).sum()), whole.slot[whole.epoch == epoch].tolist()) for epoch in range(12)
    ]
