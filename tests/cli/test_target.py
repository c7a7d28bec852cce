"""``--target``: what it took to reach a score, on the command line."""

from pathlib import Path

import pytest

from fallow.cli import app
from fallow.cli.screen import share_columns
from tests.cli.runner import fail, invoke
from tests.cli.test_json import ask

SMALL = ("clients=10", "epochs=6", "energy.p=0.8", "policy.k=4", "data.samples_per_client=30", "learning.mode=train")
SETTINGS = [word for setting in (*SMALL, "learning.eval_every=2") for word in ("--set", setting)]


def test_compare_says_of_each_policy_how_many_runs_got_there(tmp_path: Path) -> None:
    command = ("compare", "--policies", "vaoi,fedavg", "--seeds", "2", *SETTINGS, "--out", str(tmp_path / "runs"))
    words = invoke(app, *command, "--target", "1")
    assert "units to F1 1" in words
    assert words.count("0 of 2") == 2
    assert words.count("never") == 4
    assert "worst tenth" in words
    assert "0 of 2" in invoke(app, *command, "--target", "1", "--latex")
    document, _ = ask(*command, "--target", "0.01")
    assert document["target"] == 0.01
    assert [row["policy"] for row in document["reached"]] == ["vaoi", "vaoi", "fedavg", "fedavg"]
    assert all(row["epochs"] == 2 and row["energy"] > 0 for row in document["reached"])
    assert "target" not in ask(*command)[0]
    report = invoke(app, "report", str(tmp_path / "runs"), "--out", str(tmp_path / "report"), "--target", "0.5")
    assert "The report of 4 runs" in report


@pytest.mark.parametrize(
    ("settings", "target", "sentence"),
    [
        (["--set", "learning.mode=train"], "40", "The target 40.0 is no F1 score"),
        ([], "0.4", "No run can reach the target 0.4, because none learns; set learning.mode to train."),
    ],
)
def test_a_target_out_of_reach_is_one_sentence_before_anything_runs(
    settings: list[str], target: str, sentence: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    command = ("compare", *settings, "--set", "epochs=3", "--out", str(tmp_path / "runs"), "--target", target)
    code, words = fail(capsys, monkeypatch, *command)
    assert code == 2
    assert sentence in words
    assert not (tmp_path / "runs").exists()


def test_a_wide_table_becomes_several_of_about_one_width() -> None:
    rows = [["policy", *["number"] * 6], ["vaoi", *["12,345"] * 6]]  # 8 letters a column, with the gap
    assert share_columns(rows, 1, 80) == [[0, 1, 2, 3, 4, 5, 6]]
    assert share_columns(rows, 1, 50) == [[0, 1, 2, 3], [0, 4, 5, 6]]  # not five and one
    assert share_columns(rows, 1, 24) == [[0, 1, 2], [0, 3, 4], [0, 5, 6]]
    assert share_columns(rows, 1, 3) == [[0, place] for place in range(1, 7)]
