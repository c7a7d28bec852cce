from pathlib import Path

import pytest

import fallow
from fallow.cli import app
from fallow.errors import RunDirectoryError
from tests.cli.runner import invoke


def test_a_run_is_read_as_frames(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=5", "--set", "energy.p=1", "--out", str(tmp_path / "run"))
    run = fallow.load(tmp_path / "run")
    assert run.settings["epochs"] == len(run.epochs) == 5
    assert (run.events.kind == "start").sum() == run.epochs.starts.sum() == run.summary["starts"]


def test_a_run_without_events_has_none(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=2", "--set", "output.events=false", "--out", str(tmp_path / "run"))
    assert fallow.load(str(tmp_path / "run")).events is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("summary.json", b"{", "can't be read: Expecting property name"),
        ("summary.json", b"[]", "has no 'policy'"),
        ("summary.json", b'{"policy": "vaoi", "clients": "many"}', "has no 'clients'"),
        ("epochs.csv", None, "can't be read: No such file or directory."),
        ("epochs.csv", b"", "has no column 'epoch'"),
        ("epochs.csv", b"\xff\xfe\x00", "can't be read: 'utf-8' codec"),
        ("epochs.csv", b"hello\n", "has no column 'epoch'"),
        ("events.parquet", None, "can't be read: No such file or directory."),
        ("events.parquet", b"hello", "can't be read: Could not open Parquet"),
        ("events.parquet", b"PAR1" + 40 * b"\xff" + b"\x20\x00\x00\x00PAR1", "can't be read: Could"),
    ],
)
def test_a_damaged_run_is_one_sentence(name: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    invoke(app, "run", "--set", "epochs=2", "--set", "clients=3", "--set", "policy.k=1", "--out", str(run))
    (run / name).unlink()
    if content is not None:
        (run / name).write_bytes(content)
    with pytest.raises(RunDirectoryError) as caught:
        fallow.load(run)
    sentence = str(caught.value)
    assert sentence.startswith(f"{run / name} {words}")
    assert "\n" not in sentence
    assert ".." not in sentence.removeprefix(str(run))
