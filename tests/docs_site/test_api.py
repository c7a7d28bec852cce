"""The API reference has every public name, each with an example that prints what it says."""

import re
from types import ModuleType

import pytest

import fallow
from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.data import DATASETS, PARTITIONS
from fallow.energy import ENERGY_MODELS
from fallow.models import MODELS
from fallow.objectives import OBJECTIVES
from fallow.policies import POLICIES
from tests.docs_site.reader import DOCS, blocks

ROOMS = {
    "policies": [POLICIES],
    "energy": [ENERGY_MODELS],
    "data": [DATASETS, PARTITIONS],
    "models": [MODELS],
    "objectives": [OBJECTIVES],
    "aggregation": [AGGREGATIONS, STALENESS],
}
DOOR = (DOCS / "api.md").read_text(encoding="utf-8")
PAGE = (DOCS / "api-rooms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", fallow.__all__)
def test_every_public_name_is_in_the_reference_with_an_example(name: str) -> None:
    if isinstance(getattr(fallow, name), ModuleType):
        assert f"\n## fallow.{name}\n" in PAGE
        return
    assert re.search(rf"^::: fallow\.{name}$", DOOR, re.MULTILINE)
    assert any(f"fallow.{name}(" in block.text for block in blocks("api.md") if block.language == "python")


def test_the_reference_has_what_runs_and_studies_offer() -> None:
    assert re.search(r"^::: fallow\.runs\.run\.Run$", DOOR, re.MULTILINE)
    assert re.search(r"^::: fallow\.study\.study\.Study$", DOOR, re.MULTILINE)
    assert re.search(r"^::: fallow\.planning\.result\.Plan$", DOOR, re.MULTILINE)
    assert re.search(r"^::: fallow\.study\.bench\.result\.Bench$", DOOR, re.MULTILINE)


@pytest.mark.parametrize("room", ROOMS)
def test_every_class_with_a_name_is_in_the_reference(room: str) -> None:
    shown = re.findall(rf"^::: fallow\.{room}\.(\w+)$", PAGE, re.MULTILINE)
    for table in ROOMS[room]:
        assert {cls.__name__ for cls in table.values()} <= set(shown)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_an_example_and_what_it_prints(room: str) -> None:
    section = PAGE.split(f"\n## fallow.{room}\n")[1].split("\n## ")[0]
    assert re.search(rf"```python\n(.*\n)*from fallow\.{room} import (.*\n)*```\n\n```text\n", section)


def test_examples_stand_in_a_section_that_the_reference_shows_as_code() -> None:
    for path in (DOCS.parent / "src").rglob("*.py"):
        assert not re.search(r"^ *Example:$", path.read_text(encoding="utf-8"), re.MULTILINE), (
            f"{path}: write Examples:"
        )
