"""What ``make`` would do, asked with ``make -n``: nobody waits for more than the command needs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE, ALL = ".installed-core", ".installed"


def planned(target: str, venv: Path) -> str:
    """Returns the commands that ``make`` would run for a target."""
    command = ["make", "-n", target, f"VENV={venv}", f"PYTHON={sys.executable}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_the_demo_installs_no_more_than_fallow_itself_and_says_so(tmp_path: Path) -> None:
    demo = planned("demo", tmp_path)
    assert 'echo "Installing Fallow and PyTorch' in demo
    assert "-c constraints.txt -e .\n" in demo
    assert "--quiet" not in demo
    assert "[dev]" not in demo


def test_the_tests_install_the_rest_after_a_demo(tmp_path: Path) -> None:
    (tmp_path / CORE).touch()
    assert "pip install" not in planned("demo", tmp_path)
    assert "-e '.[dev]'" in planned("test", tmp_path)


def test_an_attack_is_of_four_kinds_in_ten_minutes(tmp_path: Path) -> None:
    lines = [line for line in planned("attack", tmp_path).splitlines() if "tests.attack." in line]
    assert [line.split("tests.attack.")[1] for line in lines] == [
        f"{kind} --seconds 150" for kind in ("configs", "run_directories", "hostile_entries", "plugins")
    ]


def test_nothing_is_installed_twice(tmp_path: Path) -> None:
    installing = planned("test", tmp_path)
    assert installing.count("pip install") == 1
    assert f"touch {tmp_path / CORE} {tmp_path / ALL}" in installing
    (tmp_path / CORE).touch()
    (tmp_path / ALL).touch()
    for target in ("demo", "test"):
        assert "pip install" not in planned(target, tmp_path)
