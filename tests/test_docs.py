"""What the documentation says is so."""

import ast
import inspect
import json
import re
from dataclasses import fields
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fallow import paper
from fallow.cli import app
from fallow.policies import POLICIES
from fallow.runs.event_table import KINDS
from fallow.simulation.counters import EXTENDED_COUNTERS
from fallow.simulation.device_rows import DEVICE_COLUMNS
from fallow.simulation.records import columns
from fallow.study.bench.reference import PLACE
from fallow.study.bench.scores import F1, METRICS
from tests.cli.runner import invoke

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def rows(page: str, heading: str = "") -> list[list[str]]:
    """The cells of the tables below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0] if heading else text
    lines = [line for line in section.splitlines() if line.startswith("|") and not line.startswith("|---")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]


def names(page: str, heading: str) -> list[str]:
    return [name for row in rows(page, heading) for name in re.findall(r"`([^`]+)`", row[0])]


@pytest.mark.parametrize(("what", "function", "test"), rows("paper-map.md"), ids=lambda cell: cell.strip("`"))
def test_the_paper_map_is_true(what: str, function: str, test: str) -> None:
    module, *attributes = re.match(r"`((?:fallow)(?:\.[a-z_]+)*)\.([A-Z].*|[a-z_]+)`", function).groups()
    target = import_module(module)
    for name in attributes[0].split("."):
        target = getattr(target, name)
    assert callable(target), what
    path, name = test.strip("`").split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_function_of_the_paper_is_on_the_map() -> None:
    functions = {name for name, f in inspect.getmembers(paper, inspect.isfunction) if f.__module__ == "fallow.paper"}
    mapped = {row[1].strip("`").removeprefix("fallow.paper.") for row in rows("paper-map.md")}
    assert functions <= mapped


@pytest.mark.parametrize("policy", POLICIES)
def test_the_page_of_policies_has_every_policy_with_its_options(policy: str) -> None:
    page = (DOCS / "policies.md").read_text(encoding="utf-8")
    _, found, section = page.partition(f"\n## `{policy}`\n")
    words = (
        section.split("\n## ")[0] if found else next(line for line in page.splitlines() if f"| `{policy}` |" in line)
    )
    if policy == "eafl":
        words += page.partition("\n## `oort`\n")[2].split("\n## ")[0]  # it has the options of Oort
    assert {option.name for option in fields(POLICIES[policy])} <= set(re.findall(r"`(\w+)`", words))


def test_metrics_describe_every_column_of_epochs_csv_in_order() -> None:
    described = names("metrics.md", "epochs.csv")
    assert tuple(described) == columns(classes=1, extended=True)


def test_metrics_describe_what_a_run_beyond_the_paper_adds(tmp_path: Path) -> None:
    plain, more = tmp_path / "plain", tmp_path / "more"
    invoke(app, "run", "--set", "epochs=1", "--out", str(plain))
    joules = ("--set", "unit_joules=0.01", "--set", "slot_seconds=60.0")
    invoke(app, "run", "--set", "epochs=1", "--set", "battery.idle=0.1", *joules, "--out", str(more))
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")

    def told(heading: str) -> set[str]:
        section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        (paragraph,) = (words for words in section.split("\n\n") if words.startswith("Where energy goes beyond"))
        return set(re.findall(r"`(\w+)`", paragraph))

    before, after = (json.loads((run / "summary.json").read_text()) for run in (plain, more))
    assert told("summary.json") == set(after) - set(before)
    before, after = (pq.read_schema(run / "clients.parquet").names for run in (plain, more))
    assert told("clients.parquet") - {"outage"} == set(after) - set(before) == set(EXTENDED_COUNTERS)


def test_metrics_describe_every_file_key_and_event_column(tmp_path: Path) -> None:
    run, asked = tmp_path / "run", ("--set", "learning.client_eval_every=2")
    invoke(app, "run", "--set", "epochs=3", "--set", "learning.mode=train", *asked, "--out", str(run))
    summary = json.loads((run / "summary.json").read_text())
    assert set(names("metrics.md", "summary.json")) == set(summary)
    assert names("metrics.md", "events.parquet") == pq.read_schema(run / "events.parquet").names
    assert names("metrics.md", "client_scores.parquet") == pq.read_schema(run / "client_scores.parquet").names
    assert names("metrics.md", "clients.parquet") == pq.read_schema(run / "clients.parquet").names
    kinds = (DOCS / "metrics.md").read_text().split("The kinds, in their order")[1].split("## clients.parquet")[0]
    described = re.findall(r"^- `(\w+)`(?:, `(\w+)`)?", kinds, re.MULTILINE)
    assert {kind for pair in described for kind in pair if kind} == set(KINDS)
    files = re.findall(r"^\| `([^`]+)`", (DOCS / "metrics.md").read_text().split("## epochs.csv")[0], re.MULTILINE)
    assert set(files) == {path.name for path in run.iterdir()}


def test_metrics_describe_every_column_of_devices_csv() -> None:
    assert tuple(names("metrics.md", "devices.csv")) == DEVICE_COLUMNS


def test_metrics_describe_every_column_of_the_benchmarks_tables() -> None:
    assert names("metrics.md", "Benchmark tables") == [*PLACE, F1, *METRICS]


def test_links_between_pages_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize(
    ("folder", "page", "function"),
    [
        ("hardest-cell", "docs/results.md", "table"),
        ("hardest-cell", "docs/results.md", "differences"),
        ("hardest-cell", "README.md", "short_table"),
        ("paper", "docs/results.md", "table"),
        ("paper", "docs/results.md", "differences"),
        ("paper", "docs/results.md", "in_time"),
        ("paper", "docs/results.md", "verdicts"),
        ("paper", "docs/results.md", "verdicts_by_cell"),
        ("harvests", "docs/results.md", "table"),
        ("harvests", "docs/results.md", "differences"),
        ("recommended", "docs/results.md", "table"),
        ("recommended", "docs/results.md", "differences"),
    ],
)
def test_the_tables_of_the_results_are_those_of_their_runs(folder: str, page: str, function: str) -> None:
    path = ROOT / "results" / folder / "summarize.py"
    spec = spec_from_file_location("summarize", path)
    summarize = module_from_spec(spec)
    spec.loader.exec_module(summarize)
    assert getattr(summarize, function)(summarize.read_rows()) in (ROOT / page).read_text(encoding="utf-8")
