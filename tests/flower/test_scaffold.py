"""A new app: named with care, accepted by Flower, without its keys in the bundle, and with comments that hold."""

import importlib
import io
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Context, RecordDict
from flwr.cli.build import build_fab_from_disk
from flwr.cli.config_utils import load_and_validate

from fallow.experiment import Experiment
from fallow.flower import LocalGrid, PowerSupply
from fallow.flower.deploy.keys import make_keys
from fallow.flower.deploy.scaffold import ScaffoldError, app_name, write_app
from tests.flower.superlink import PAGE, commands, rounds


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("solar", "solar"),
        ("My Solar_Farm", "my-solar-farm"),
        ("3 nodes", "app-3-nodes"),
        ("Москва", "app"),
        ("--", "app"),
        ("a" * 40, "a" * 32),
        ("a" * 31 + " b", "a" * 31),
    ],
)
def test_an_app_is_named_after_its_directory(directory: str, name: str) -> None:
    assert app_name(directory) == name


@pytest.mark.parametrize("directory", ["solar", "torch", "class", "3 nodes", 'with "quotes" and spaces', "日本"])
def test_flower_has_nothing_to_say_about_a_new_app(directory: str, tmp_path: Path) -> None:
    home = tmp_path / directory
    package = write_app(home)
    assert package.isidentifier()
    config, warnings = load_and_validate(home / "pyproject.toml")
    assert warnings == []
    assert config["tool"]["flwr"]["app"]["config"]["directory"] == str(home / "federation")
    connections = tomllib.loads((home / ".flwr" / "config.toml").read_text())["superlink"]
    assert connections["loopback"]["root-certificates"] == str(home / "keys" / "ca.crt")
    assert not re.search(r"APP_[A-Z]+", "".join(path.read_text() for path in home.rglob("*") if path.is_file()))


def test_the_readme_and_the_page_have_the_same_commands(tmp_path: Path) -> None:
    write_app(tmp_path / "solar")
    given = [one for one in commands(PAGE) if not one.startswith(("fallow flower new", "cd "))]
    page = [one for one in given if not one.endswith("--warm")]  # which is as you like
    assert commands(tmp_path / "solar" / "README.md") == page


def test_the_experiment_can_be_run(tmp_path: Path) -> None:
    package = write_app(tmp_path / "solar")
    experiment = Experiment.read(tmp_path / "solar" / package / "experiment.toml")
    config = tomllib.loads((tmp_path / "solar" / "pyproject.toml").read_text())["tool"]["flwr"]["app"]["config"]
    assert experiment.learning.mode == "train"
    assert experiment.clients == config["min-nodes"]
    assert f"num-supernodes={experiment.clients} " in (tmp_path / "solar" / "README.md").read_text()


def test_an_empty_directory_is_taken_and_a_full_one_refused(tmp_path: Path) -> None:
    write_app(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ScaffoldError, match="is there and not empty"):
        write_app(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_file_is_no_place_for_an_app(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScaffoldError, match="file is a file; choose another directory"):
        write_app(tmp_path / "file")
    with pytest.raises(ScaffoldError, match="can't be written: Not a directory"):
        write_app(tmp_path / "file" / "solar")


@pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")  # Flower's own
def test_the_bundle_that_goes_to_nodes_holds_the_app_and_nothing_secret(tmp_path: Path) -> None:
    package = write_app(tmp_path / "solar")
    make_keys(tmp_path / "solar" / "keys", nodes=1)
    for name in ("keys/secret.toml", "nodes/node-00/node.toml", "federation/notes.md"):
        path = tmp_path / "solar" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    with zipfile.ZipFile(io.BytesIO(build_fab_from_disk(tmp_path / "solar"))) as bundle:
        names = set(bundle.namelist())
    own = {f"{package}/{name}" for name in ("__init__.py", "client.py", "experiment.toml", "server.py")}
    assert names == own | {"README.md", "pyproject.toml", ".info/CONTENT"}


def uncomment(path: Path) -> None:
    """Puts the lines that are commented out in place of the others."""
    comment = path.read_text().split("in place of the lines above:\n", 1)[1]
    path.write_text("\n".join(line.removeprefix("#").removeprefix(" ") for line in comment.splitlines()) + "\n")


def test_the_lines_that_are_commented_out_make_a_federation_too(tmp_path: Path, monkeypatch) -> None:
    home = tmp_path / "commented-out"  # no other test's app: packages of one name are one to Python
    package = write_app(home)
    for side in ("client.py", "server.py"):
        uncomment(home / package / side)
    rng = np.random.default_rng(0)
    samples = {"x": rng.random((40, 1, 8, 8), dtype=np.float32), "y": rng.integers(0, 10, 40)}
    np.savez(tmp_path / "samples.npz", **samples)
    monkeypatch.setattr(PowerSupply, "__call__", lambda supply: 80.0 if supply.name == "BAT0" else 0.0)
    monkeypatch.setenv("FALLOW_NODES", str(tmp_path / "nodes"))
    monkeypatch.syspath_prepend(str(home))
    client, server = (importlib.import_module(f"{package}.{side}") for side in ("client", "server"))
    try:
        node_config = {"samples": str(tmp_path / "samples.npz")}
        grid = LocalGrid(client.app, {number: node_config | {"identity": f"roof {number}"} for number in range(2, 6)})
        # Five nodes never come: with another patience than this, every round would wait for the fifth.
        run_config = {"directory": str(tmp_path / "federation"), "min-nodes": 5, "patience": 0, "reply-seconds": 90}
        server.app(grid, Context(1, 1, {}, RecordDict(), run_config))
    finally:
        for name in [name for name in sys.modules if name.startswith(package)]:
            del sys.modules[name]
    found = rounds(tmp_path / "federation")
    assert len(found) == 20
    assert {(row["answered"], row["selected"], row["updates"]) for row in found} == {("4", "3", "3")}
