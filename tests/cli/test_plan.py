"""``fallow plan`` on the command line."""

import json
import re
from pathlib import Path

import pytest

from fallow.cli import app
from tests.cli.runner import fail, invoke

NODE = """
unit_joules = 1.0
years = 2

[device]
train_joules = 10.0
transmit_joules = 1.0
capacity_joules = 40.0

[energy]
model = "bernoulli"
p = 1.0

[wish]
trainings_per_day = 2

[search]
batteries = [11.0, 40.0]
panels = [0.5, 1.0]
"""


@pytest.fixture
def node(tmp_path: Path) -> str:
    (tmp_path / "node.toml").write_text(NODE)
    return str(tmp_path / "node.toml")


def test_the_tables_and_the_answer_are_printed(node: str) -> None:
    words = invoke(app, "plan", node)
    assert "The device as given, over 2 simulated years" in words
    assert re.search(r"July +2\.1\d ", words)  # 24 J a day, and 11 J a training
    assert (
        "The smallest battery for 2 trainings a day with the given panel stores 11 J, the smallest on the list."
        in words
    )
    assert "has 1 times the given size; 0.5 is too small." in words


def test_json_is_all_that_is_printed_and_out_has_the_same(node: str, tmp_path: Path) -> None:
    document = json.loads(invoke(app, "plan", node, "--json", "--set", "years=1", "--out", str(tmp_path / "out")))
    assert document == json.loads((tmp_path / "out" / "plan.json").read_text())
    assert (document["years"], document["met"], document["smallest_battery"]["size"]) == (1, True, 11.0)
    assert sum(way["units"] for way in document["energy"]) == 8760


def test_a_wrong_node_is_one_sentence(node: str, tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "plan", str(tmp_path / "nowhere.toml"))
    assert (code, words.endswith("nowhere.toml can't be read: No such file or directory.\n")) == (2, True)
    code, words = fail(capsys, monkeypatch, "plan", node, "--set", "device.train_joules=-3")
    assert (code, words) == (2, "Error: device.train_joules = -3 must be more than 0.0.\n")
    code, words = fail(capsys, monkeypatch, "plan", node, "--runs", str(tmp_path))
    assert code == 2
    assert "is neither a run nor the folder of a sweep" in words
