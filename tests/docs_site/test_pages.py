"""What the pages tell the reader to do works, and prints what they say."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from fallow.policies import EpochView
from fallow.policies.check import check_policy
from fallow.rng import Purpose
from fallow.trackers import TrackedRun
from tests.docs_site.reader import DOCS, blocks, follow
from tests.test_docs import names, rows


@pytest.mark.parametrize(
    "page",
    [
        "index.md",
        "api.md",
        "api-rooms.md",
        "energy.md",
        "write-a-policy.md",
        "bring-your-own.md",
        "reproducibility.md",
        "many-runs.md",
        "benchmark.md",
        "calibrate.md",
        "flower.md",
        "plan.md",
        "trackers.md",
        "devices.md",
    ],
)
def test_following_a_page_to_the_letter_works(page: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)  # pages speak of a user who has not set it
    assert follow(page, tmp_path) >= 5


def test_the_policy_of_the_page_has_fifteen_lines_and_keeps_its_contract() -> None:
    code = next(block.text for block in blocks("write-a-policy.md") if block.title == "fair_share.py")
    assert sum(bool(line.strip()) for line in code.splitlines()) == 15
    namespace: dict = {"__name__": "fair_share"}
    exec(compile(code, "fair_share.py", "exec"), namespace)  # noqa: S102
    assert check_policy(namespace["FairShare"]()) == []
    assert check_policy(namespace["FairShare"](k=3)) == []


def test_the_page_names_all_that_a_policy_sees() -> None:
    assert names("write-a-policy.md", "What it sees") == [field.name for field in fields(EpochView)]


def test_the_page_names_all_that_a_tracker_is_told_of_a_run() -> None:
    told = {name for name in vars(TrackedRun) if isinstance(getattr(TrackedRun, name), property)}
    assert set(names("trackers.md", "Your own")) == told | {field.name for field in fields(TrackedRun)}


def test_the_page_names_every_random_stream() -> None:
    assert names("reproducibility.md", "Seeds and streams") == list(Purpose)


def test_the_glossary_explains_every_symbol_of_the_paper() -> None:
    page = (DOCS / "reading-the-paper.md").read_text(encoding="utf-8")
    symbols = page.split("\n## Symbols\n")[1].split("\n\n")[0].replace("\n", " ").split(" · ")
    named = {words.split()[0] for words in symbols}
    assert len(named) == 16
    assert named <= {row[0] for row in rows("glossary.md", "Symbols")}


def test_the_settings_of_the_glossary_are_settings() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    settings = [row[2] for row in rows("glossary.md", "Symbols") if row[2] != "–"]
    assert settings
    assert all(f"| {setting} |" in page for setting in settings)


def test_every_page_is_in_the_menu() -> None:
    menu = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    for page in DOCS.glob("*.md"):
        assert f": {page.name}\n" in menu, f"{page.name} is not in the menu of mkdocs.yml"


def test_every_picture_is_there() -> None:
    # A page without its picture is built without a word.
    for page in DOCS.glob("*.md"):
        for picture in re.findall(r"!\[[^]]*\]\(([^)\s]+)", page.read_text(encoding="utf-8")):
            assert (DOCS / picture).is_file(), f"{page.name} shows {picture}, which is not there"


def test_tables_are_whole() -> None:
    for page in DOCS.glob("*.md"):
        for row in rows(page.name):
            assert len(row) >= 2, f"{page.name}: {row}"
