"""fallow calibrate: a thin coat, which prints a table, a profile's place, notes, or one JSON document."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fallow.cli import app
from tests.calibration.machines import ina3221
from tests.cli.runner import fail, invoke

QUICK = ("--samples=12", "--steps=3", "--eval-samples=5", "--repeats=3", "--sysfs=/nonexistent", "--vcgencmd=none-here")


def test_the_table_has_every_figure_with_its_origin(tmp_path: Path) -> None:
    out = tmp_path / "device.toml"
    printed = " ".join(invoke(app, "calibrate", "small-cnn", *QUICK, "--watts=3.2", f"--out={out}").split())
    assert "one training" in printed
    assert "3.2 W ×" in printed
    assert printed.endswith(f"The device profile is in {out}.")
    assert tomllib.loads(out.read_text())["update_bytes"] == 14632


def test_json_is_one_document() -> None:
    result = CliRunner().invoke(app, ["calibrate", "small-cnn", *QUICK, "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["seconds"]["training"]["origin"] == "measured: median of 3"
    assert (found["joules"], found["idle_watts"], found["profile"]) == (None, None, None)
    assert found["update_bytes"]["value"] == 14632
    assert found["notes"][0].startswith("There are no joules")
    assert (found["model"], found["input_shape"], found["threads"]) == ("small-cnn", [1, 8, 8], 1)


def test_notes_stand_beside_the_table() -> None:
    result = CliRunner().invoke(app, ["calibrate", "small-cnn", *QUICK], catch_exceptions=False)
    assert result.stderr.startswith("Note: There are no joules")


def test_a_meter_is_read(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    asked = ("calibrate", "small-cnn", *QUICK, f"--sysfs={tmp_path}", "--window=0.02", "--json")
    found = json.loads(CliRunner().invoke(app, list(asked), catch_exceptions=False).stdout)
    assert found["idle_watts"]["value"] == pytest.approx(3.2)


def test_options_of_the_model_are_set() -> None:
    asked = ("calibrate", "paper-cnn", *QUICK, "--input-shape=1,8,8", "--set", "width=0.125", "--json")
    found = json.loads(CliRunner().invoke(app, list(asked), catch_exceptions=False).stdout)
    assert found["model"] == "paper-cnn(width=0.125)"


def test_a_network_next_to_the_user_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_linear_net.py").write_text(
        "from torch import nn\n\ndef net(input_shape, classes):\n    return nn.Linear(input_shape[0], classes)\n"
    )
    printed = invoke(app, "calibrate", "my_linear_net:net", *QUICK, "--input-shape=4", "--classes=3", "--watts=1")
    assert "60 bytes" in printed  # 4·3 weights and 3 biases


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["paper-cn"], "There is no model 'paper-cn'; did you mean 'paper-cnn'?"),
        (["small-cnn", "--watts=-1"], "watts = -1.0 must be more than 0"),
        (["small-cnn", "--watts=many"], "'many' is not a valid float"),
        (["small-cnn", "--repeats=0"], "repeats = 0 must be at least 1."),
        (["small-cnn", "--out=/nonexistent/device.toml"], "There is no folder /nonexistent for device.toml"),
    ],
)
def test_careless_input_is_one_sentence(arguments: list[str], words: str, capsys, monkeypatch) -> None:
    code, said = fail(capsys, monkeypatch, "calibrate", *arguments)
    assert code == 2
    assert words in said
