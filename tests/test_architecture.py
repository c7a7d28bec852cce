"""The architecture, read off the imports."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "fallow"

PLAN = Path(__file__).parents[1] / "docs" / "architecture.md"
ROOMS = re.findall(r"^(\w+)/? +\S", PLAN.read_text(encoding="utf-8").split("```")[1], re.MULTILINE)
"""From the ground up, as the plan lists them. A room imports only from itself and those before it."""

LAYER = {room: height for height, room in enumerate(ROOMS)}

MOST_MODULES = 8
"""Modules that stand directly in the package, beside the rooms."""


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            found.add(node.module or "")
            if node.module == "fallow":
                found |= {f"fallow.{alias.name}" for alias in node.names}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_points_upwards(path: Path) -> None:
    height = LAYER[room_of(path)]
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "fallow" and len(parts) > 1 and parts[1] in LAYER:
            assert LAYER[parts[1]] <= height, f"{path.name} imports {module}, which stands above it"


def test_the_plan_names_every_room_and_no_other() -> None:
    assert {room_of(path) for path in FILES} == set(LAYER)


def test_few_modules_stand_beside_the_rooms() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= MOST_MODULES


def test_only_the_learning_rooms_import_torch() -> None:
    for path in FILES:
        if room_of(path) not in {"models", "learning"}:
            assert not {module for module in imports(path) if module.split(".")[0] == "torch"}, path


def test_an_energy_only_run_loads_no_torch() -> None:
    code = (
        "import sys; from fallow.experiment import Experiment; from fallow.simulation.engine import Engine; "
        "list(Engine(Experiment(epochs=2))); import fallow.cli; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
