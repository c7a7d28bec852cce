"""What is read is read with little: importing these rooms loads none of the heavy packages."""

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fallow"
HEAVY = ("scipy", "pandas", "matplotlib", "torch", "pyarrow")
MODULES = [
    "fallow.sweeps.grid",
    *(f"fallow.study.{path.stem}" for path in sorted((SOURCE / "study").glob("[a-z]*.py"))),
    *(f"fallow.study.bench.{path.stem}" for path in sorted((SOURCE / "study" / "bench").glob("[a-z]*.py"))),
]


@pytest.mark.parametrize("module", MODULES)
def test_importing_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "\n"
