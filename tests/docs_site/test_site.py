"""The site as it is built: no warning, nothing loaded from elsewhere."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("zensical") is None, reason="needs Zensical: pip install -e '.[docs]'"),
]

LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Loads(HTMLParser):
    """Notes whatever a browser would load with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if address := dict(attrs).get(LOADING.get(tag, "")):
            self.found.append(address)


def build(project: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Builds the site of a copy of the project, with some lines more on its first page; it is in site/ there."""
    shutil.copy(ROOT / "mkdocs.yml", project)
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (project / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.writelines(more)
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project")
    done = build(project)
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "site"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[A link](nowhere.md).", "page does not exist"),
        ("[A link](metrics.md#nothing).", "anchor does not exist"),
        ("[A name][fallow.nothing].", "unresolved autoref"),
        ("::: fallow.nothing", "Could not collect 'fallow.nothing'"),
    ],
)
def test_what_leads_nowhere_stops_the_build(line: str, complaint: str, tmp_path: Path) -> None:
    done = build(tmp_path, f"\n{line}\n")
    assert done.returncode != 0
    assert complaint in done.stderr


def test_every_page_of_the_menu_is_built(site: Path) -> None:
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert pages <= {page.stem for page in site.glob("*.html")}
    assert not list(site.rglob("*.py"))


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert loads.found
        assert not [address for address in loads.found if re.match(r"(https?:)?//", address)], page.name


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", text), sheet.name


def test_no_page_names_a_machine(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert str(ROOT) not in text, page.name
        assert str(site.parent) not in text, page.name
