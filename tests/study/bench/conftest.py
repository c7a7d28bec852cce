from pathlib import Path

import pytest

from tests.study.bench.small import write_suite


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A suite of two scenarios that take a second."""
    return write_suite(tmp_path / "small")
