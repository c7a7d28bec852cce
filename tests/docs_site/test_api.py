"""The API reference has every public name, and an example of each room that prints what it says."""

import re

import pytest

from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.data import DATASETS, PARTITIONS
from fallow.energy import ENERGY_MODELS
from fallow.models import MODELS
from fallow.policies import POLICIES
from tests.docs_site.reader import DOCS

ROOMS = {
    "policies": [POLICIES],
    "energy": [ENERGY_MODELS],
    "data": [DATASETS, PARTITIONS],
    "models": [MODELS],
    "aggregation": [AGGREGATIONS, STALENESS],
}
PAGE = (DOCS / "api-rooms.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ROOMS)
def test_every_class_with_a_name_is_in_the_reference(room: str) -> None:
    shown = re.findall(rf"^::: fallow\.{room}\.(\w+)$", PAGE, re.MULTILINE)
    for table in ROOMS[room]:
        assert {cls.__name__ for cls in table.values()} <= set(shown)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_an_example_and_what_it_prints(room: str) -> None:
    section = PAGE.split(f"\n## fallow.{room}\n")[1].split("\n## ")[0]
    assert re.search(rf"```python\n(.*\n)*from fallow\.{room} import (.*\n)*```\n\n```text\n", section)
