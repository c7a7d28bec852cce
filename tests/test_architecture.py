"""The architecture, read off the imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "fallow"

LAYERS = [
    {"errors"},
    {"names", "arrays", "threads", "locks", "rng", "paper", "sentences", "options", "settings", "state", "checkpoint"},
    {"energy", "policies", "data", "models"},
    {"happenings", "world", "learning"},
    {"choices", "records"},
    {"trackers"},
    {"sections"},
    {"config"},
    {"task"},
    {"engine"},
    {"summary", "events", "tables"},
    {"run_directory"},
    {"sweep", "pool", "leases", "ray_connection", "ray_pool", "estimate", "notebook"},
    {"report", "study", "flower"},
    {"cli"},
    {"__init__", "__main__"},
]
"""From the ground up. A room imports only from its own layer and those before it."""

LAYER = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}


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


def test_every_room_has_its_layer() -> None:
    assert {room_of(path) for path in FILES} <= set(LAYER)


def test_only_the_learning_rooms_import_torch() -> None:
    for path in FILES:
        if room_of(path) not in {"models", "learning"}:
            assert not {module for module in imports(path) if module.split(".")[0] == "torch"}, path


def test_an_energy_only_run_loads_no_torch() -> None:
    code = (
        "import sys; from fallow.config import Experiment; from fallow.engine import Engine; "
        "list(Engine(Experiment(epochs=2))); import fallow.cli; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
