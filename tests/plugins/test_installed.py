"""Policies and others that an installed package offers through entry points are listed and used by name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

POLICY = """
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Sunny:
    \"\"\"Those whose battery is above a level.\"\"\"

    level: int = 21

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, view.battery >= self.level
"""
POINTS = """
[fallow.policies]
sunny = sunny_policies:Sunny
broken = sunny_policies:Cloudy
vaoi = sunny_policies:Sunny
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """What pip leaves behind of a package: its module and its metadata."""
    (tmp_path / "sunny_policies.py").write_text(POLICY)
    (tmp_path / "sunny_policies-1.0.dist-info").mkdir()
    (tmp_path / "sunny_policies-1.0.dist-info" / "METADATA").write_text("Name: sunny-policies\nVersion: 1.0\n")
    (tmp_path / "sunny_policies-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    return tmp_path


def fallow(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "fallow", *arguments]
    return subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, cwd=package, capture_output=True, text=True, check=False
    )


def test_an_installed_policy_is_listed_with_its_package(package: Path) -> None:
    listed = json.loads(fallow(package, "list", "--json").stdout)["policy.name"]
    assert listed["sunny"] == "from the package sunny-policies (sunny_policies:Sunny)"
    assert listed["vaoi"].startswith("The k clients with the largest version age")  # Fallow's own goes before


def test_an_installed_policy_is_used_by_name(package: Path) -> None:
    arguments = ("run", "--set=policy.name=sunny", "--set=policy.level=22", "--set=epochs=5", "--out=run")
    done = fallow(package, *arguments)
    assert done.returncode == 0, done.stderr
    config = (package / "run" / "config.toml").read_text()
    assert 'name = "sunny"\nreserve = false\nlevel = 22\n' in config


def test_one_that_can_not_be_loaded_is_one_sentence(package: Path) -> None:
    done = fallow(package, "run", "--set=policy.name=broken")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: The policy 'broken' of the package 'sunny-policies' can't be loaded: ")
    assert done.stderr.count("\n") == 1


def test_a_name_near_an_installed_one_is_asked_for(package: Path) -> None:
    done = fallow(package, "run", "--set=policy.name=suny")
    assert done.stderr == "Error: There is no policy 'suny'; did you mean 'sunny'?\n"
