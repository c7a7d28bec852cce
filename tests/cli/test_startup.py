"""What a command loads: no more than it needs, so that it answers at once."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from click import Context
from typer.main import get_group

from fallow.cli import app
from fallow.cli.commands import COMMANDS
from tests.reports.made_runs import live

TYPER = {"click", "shellingham", "typer"}
RICH = {"attr", "markdown_it", "mdurl", "pygments", "rich"}
SETTINGS = {"numpy", "tomli_w"}
PYDANTIC = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}

LIST_MODULES = """
import sys
before = set(sys.modules)
from fallow.__main__ import main
sys.argv = ["fallow", *sys.argv[1:]]
try:
    main()
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""


def packages_loaded_by(*command: str, **environment: str) -> set[str]:
    """Returns the installed packages, but for Fallow, of which a command has loaded anything when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", LIST_MODULES, *command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    modules = done.stderr.splitlines()[-1].split()
    assert "fallow.cli" in modules
    return {module.partition(".")[0] for module in modules} & packages_distributions().keys() - {"fallow"}


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("--version", TYPER),
        ("--help", TYPER | RICH),
        ("list", TYPER | RICH | SETTINGS | PYDANTIC),
        ("config", TYPER | SETTINGS | PYDANTIC),
        ("config --energy=trace", TYPER | SETTINGS | PYDANTIC),
        ("flower node --help", TYPER | RICH | SETTINGS),
        ("check vaoi", TYPER | RICH | SETTINGS | PYDANTIC),
    ],
)
def test_a_command_loads_only_what_it_needs(command: str, allowed: set[str]) -> None:
    assert packages_loaded_by(*command.split()) <= allowed


def test_show_loads_only_what_it_needs(tmp_path: Path) -> None:
    run = live(tmp_path / "run")
    assert packages_loaded_by("show", str(run)) <= TYPER | RICH | SETTINGS


def test_a_run_without_learning_loads_neither_pandas_nor_pytorch(tmp_path: Path) -> None:
    loaded = packages_loaded_by("run", "--set=epochs=5", "--set=energy.p=1", f"--out={tmp_path / 'run'}")
    assert "pyarrow" in loaded  # it writes the events
    assert not loaded & {"matplotlib", "pandas", "scipy", "torch"}


def test_completing_the_name_of_a_command_loads_none() -> None:
    asked = {"_FALLOW_COMPLETE": "complete_bash", "COMP_WORDS": "fallow co", "COMP_CWORD": "1"}
    assert packages_loaded_by(**asked) <= TYPER


def complete(*words: str) -> list[str]:
    """Returns what a shell offers for the last of the words."""
    asked = {"_FALLOW_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'fallow'; from fallow.__main__ import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | asked,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["fallow", "co"], ["compare", "config"]),
        (["fallow", "--ver"], ["--version"]),
        (["fallow", "data", "fe"], ["fetch"]),
        (["fallow", "config", "--agg"], ["--aggregation"]),
    ],
    ids=lambda given: " ".join(given),
)
def test_commands_and_options_are_completed(words: list[str], offered: list[str]) -> None:
    assert complete(*words) == offered


def test_the_help_of_the_whole_says_of_each_command_what_its_own_help_says() -> None:
    group = get_group(app)
    context = Context(group)
    helps = {name: group.get_command(context, name).help for name in group.list_commands(context)}
    assert helps == {name: place.line for name, place in COMMANDS.items()}


def test_a_slip_in_the_name_of_a_command_is_answered_with_the_right_one() -> None:
    done = subprocess.run([sys.executable, "-m", "fallow", "repot"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No such command 'repot'. Did you mean 'report'?" in done.stderr


def test_ctrl_c_while_a_command_is_loaded_is_answered_in_a_word() -> None:
    interrupt = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "fallow.cli.paper":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from fallow.__main__ import main
sys.argv = ["fallow", "paper"]
main()
"""
    done = subprocess.run([sys.executable, "-c", interrupt], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")
