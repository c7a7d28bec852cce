"""The pictures: what the pages say of them, their size, and that they load nothing."""

import html
import re
import sys
from itertools import chain

import pytest

from tests.docs_site.reader import DOCS, blocks, commands

PICTURES = sorted((DOCS / "images").glob("*.svg"))


@pytest.fixture
def figure(monkeypatch):
    """Imports a program that draws, and forgets it again: their folder is no package."""
    monkeypatch.syspath_prepend(str(DOCS / "figures"))
    known = set(sys.modules)
    yield lambda name: __import__(name)
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(DOCS)):
            del sys.modules[name]


def said(program: str) -> list[str]:
    """The lines that concepts.md shows below a program."""
    for block in blocks("concepts.md"):
        for command, expected in commands(block.text):
            if command == f"python docs/figures/{program}.py":
                return expected
    raise AssertionError(f"concepts.md does not show {program}.py")


@pytest.mark.parametrize("program", ["timeline", "battery"])
def test_the_page_quotes_what_the_engine_did(program: str, figure) -> None:
    module = figure(program)
    assert module.facts(module.film()) == said(program)


def test_the_page_quotes_how_late_updates_are(figure) -> None:
    module = figure("staleness")
    assert module.facts({p: module.lateness(p) for p in module.HARVESTS}) == said("staleness")


def test_ages_fall_once_the_model_has_settled(figure) -> None:
    # Not to the digit: other processors round otherwise, and a distance near μ may fall to the other side.
    module = figure("version_age")
    early, late = (float(line.split()[-1]) for line in module.facts(module.witness()))
    shown_early, shown_late = (float(line.split()[-1]) for line in said("version_age"))
    assert early == pytest.approx(shown_early, abs=0.5)
    assert late == pytest.approx(shown_late, abs=0.5)
    assert late < early


def test_the_plan_is_drawn_from_the_list_of_today(figure) -> None:
    module = figure("plan")
    floors = module.split_floors(module.read_rooms())
    assert [rooms[0][0].rstrip("/") for rooms in floors] == [*module.FLOORS, module.ROOF]
    drawn = (DOCS / "images" / "plan.svg").read_text(encoding="utf-8")
    for name, words in chain(*floors[:-1]):
        assert f">{name.rstrip('/')}</text>" in drawn, f"run docs/figures/plan.py: it does not show {name}"
        assert all(html.escape(word, quote=False) in drawn for word in words.split()), (
            f"run docs/figures/plan.py: {name}"
        )


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_loads_nothing_and_is_shown(picture) -> None:
    text = picture.read_text(encoding="utf-8")
    assert picture.stat().st_size < 100_000
    assert not re.search(r"@import|url\((?!#)|<script|<image|<link", text)
    links = re.findall(r'(?:xlink:)?href="([^"]*)"', text)
    assert all(link.startswith("#") for link in links)
    shown = [DOCS.parent / "mkdocs.yml", *DOCS.glob("*.md")]
    assert any(f"images/{picture.name}" in page.read_text(encoding="utf-8") for page in shown)


@pytest.mark.parametrize("picture", [p for p in PICTURES if p.name != "favicon.svg"], ids=lambda path: path.name)
def test_a_picture_has_colours_for_day_and_night(picture) -> None:
    text = picture.read_text(encoding="utf-8")
    assert "@media (prefers-color-scheme: dark)" in text
    drawn = text.split("</style>", 1)[1]
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn)) == set(), "a colour that does not change at night"
