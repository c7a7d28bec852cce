import subprocess
import sys
from pathlib import Path

import pytest

from fallow.aggregation import AGGREGATIONS
from fallow.policies import POLICIES


@pytest.mark.slow
def test_sixty_kills_over_all_policies_change_no_byte() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tests.e2e.kill", "--kills", "60"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("the same bytes each time") == len(POLICIES)


@pytest.mark.slow
@pytest.mark.parametrize(("tracker", "kills"), [("tensorboard", "30"), ("mlflow", "10")])
def test_kills_at_any_moment_leave_every_point_of_a_tracker_there_once(tracker: str, kills: str) -> None:
    command = [sys.executable, "-m", "tests.e2e.kill", "--kills", kills, "--policy", "vaoi", "--tracker", tracker]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_kills_at_any_moment_leave_every_rule_its_memory() -> None:
    rules = [argument for rule in AGGREGATIONS for argument in ("--rule", rule)]
    command = [sys.executable, "-m", "tests.e2e.kill", "--kills", "90", "--policy", "fedavg", *rules]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("the same bytes each time") == len(AGGREGATIONS)


@pytest.mark.parametrize("rule", ["received", "mifa"])
def test_a_few_kills_change_no_byte(rule: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.e2e.kill",
        "--kills",
        "4",
        "--seed",
        "5",
        "--policy",
        "vaoi",
        "--rule",
        rule,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert result.returncode == 0, result.stdout + result.stderr
