"""The wheel and the source distribution: what is in them, and that the wheel works where nothing else is installed."""

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fallow import __version__

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
SMALL = (
    *("clients=6", "epochs=4", "energy.p=0.6", "policy.k=2"),
    *("learning.mode=train", "compute.strategy=stacked", "compute.workers=1"),
)

pytestmark = pytest.mark.slow


def call(*command: str | Path, cwd: Path, code: int = 0) -> str:
    """Runs a program that sees nothing of this project's own environment; returns what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def make_environment(folder: Path) -> Path:
    """Makes an empty virtual environment; returns the folder of its programs."""
    call(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin"


def install(programs: Path, *what: str | Path) -> None:
    call(
        *(programs / "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"),
        *("-c", ROOT / "constraints.txt", *what),
        cwd=programs,
    )


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that is gone afterwards: an environment with PyTorch is large, and pytest would keep three."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def distributions(folder: Path) -> tuple[Path, Path]:
    """Builds the source distribution, and from it the wheel."""
    programs = make_environment(folder / "builder")
    install(programs, "build", "hatchling")
    call(programs / "python", "-m", "build", "--no-isolation", "--outdir", folder / "dist", ROOT, cwd=folder)
    (source,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def programs(folder: Path, distributions: tuple[Path, Path]) -> Path:
    """Installs the wheel, and what it says it needs, where nothing was."""
    programs = make_environment(folder / "empty")
    install(programs, distributions[1])
    return programs


def test_the_wheel_has_every_file_of_the_package_and_no_other(distributions: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(distributions[1]) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in (SOURCES / "fallow").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert packed == {path.relative_to(SOURCES).as_posix() for path in files}
    assert packed > {
        "fallow/py.typed",
        "fallow/data/digits.npz",
        "fallow/reports/page/page.html",
        "fallow/reports/page/page.js",
        "fallow/flower/deploy/template/README.md",
        "fallow/flower/deploy/template/gitignore",
    }


def test_the_source_distribution_has_the_sources_and_nothing_that_was_made(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    for wanted in ("pyproject.toml", "LICENSE", "README.md", "src/fallow/py.typed", "tests/conftest.py"):
        assert Path(wanted) in names
    made = {"node_modules", "__pycache__", ".git", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    assert not [name for name in names if made & set(name.parts) or name.parts[:1] in [("runs",), ("site",)]]


def test_the_wheel_trains_and_reports_where_nothing_else_is_installed(programs: Path, tmp_path: Path) -> None:
    fallow = programs / "fallow"
    assert call(fallow, "--version", cwd=tmp_path).strip() == f"fallow {__version__}"
    where = call(programs / "python", "-c", "import fallow; print(fallow.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(programs.parent)
    settings = (f"--set={setting}" for setting in SMALL)
    assert "updates received" in call(fallow, "run", *settings, "--out", "run", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {"epochs.csv", "model.safetensors", "summary.json"}
    call(fallow, "report", "run", "--out", "report", cwd=tmp_path)
    assert '<script type="application/json" id="data">' in (tmp_path / "report" / "report.html").read_text("utf-8")


def test_the_wheel_begins_a_flower_app_once_flower_is_installed(
    programs: Path, distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    assert "Flower is not installed" in call(programs / "fallow", "flower", "new", "solar", cwd=tmp_path, code=2)
    install(programs, f"{distributions[1]}[node]")
    call(programs / "fallow", "flower", "new", "solar", cwd=tmp_path)
    assert (tmp_path / "solar" / ".gitignore").is_file()
    assert (tmp_path / "solar" / "solar_app" / "experiment.toml").is_file()
