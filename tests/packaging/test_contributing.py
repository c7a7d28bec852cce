"""The way in for contributors: what CONTRIBUTING.md says is there, hooks fetch nothing, workflows have no rights."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
KINDS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")]
    for line in GUIDE.split("## Add a thing with a name")[1].splitlines()
    if line.startswith("| ") and "`fallow." in line
]


@pytest.mark.parametrize("row", KINDS, ids=lambda row: row[0])
def test_the_guide_leads_to_the_table_and_its_contract(row: list[str]) -> None:
    kind, place, line, methods, _ = row
    path = ROOT / place
    assert path.exists()
    table, file = re.fullmatch(r"(\w+)` in `(\w+\.py)", line).groups()
    folder = path if path.is_dir() else path.parent
    assert f"\n{table}: dict[str, " in (folder / file).read_text(encoding="utf-8")
    module = ".".join(folder.relative_to(ROOT / "src").parts)
    names = vars(import_module(f"{module}.{file.removesuffix('.py')}" if file != "__init__.py" else module))[table]
    needed = re.findall(r"\w+", methods.split(", perhaps")[0])
    for cls in names.values():
        assert all(callable(getattr(cls, method)) for method in needed), f"{kind} {cls}"


@pytest.mark.parametrize("group", [row[4] for row in KINDS])
def test_the_guide_names_groups_that_are_looked_up(group: str) -> None:
    sources = (ROOT / "src" / "fallow").rglob("*.py")
    assert any(f'"{group}"' in path.read_text(encoding="utf-8") for path in sources)


def test_the_guide_has_every_kind() -> None:
    assert len(KINDS) == 8


def test_every_path_and_target_of_the_guide_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"make ([a-z]+(?:-[a-z]+)*)(?=`| )", GUIDE)) - {"are"} <= targets
    for name in re.findall(r"`((?:src|tests|docs|\.ci|\.github)/[\w./-]*)`", GUIDE):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"\]\((?!https:)([^)#]+)", GUIDE):
        assert (ROOT / name).exists(), name


def test_hooks_are_programs_of_the_project_and_fetch_nothing() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    for repository in config["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].startswith(".venv/bin/")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_pins_its_actions(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    for job in workflow["jobs"].values():
        assert "permissions" not in job
        assert job["timeout-minutes"] <= 90
        used = [step for step in job["steps"] if "uses" in step]
        assert all(re.fullmatch(r"actions/[\w-]+@v\d+\.\d+\.\d+", step["uses"]) for step in used)
        assert used[0]["with"]["persist-credentials"] is False


def test_the_workflows_run_the_checks_and_build_the_documentation() -> None:
    commands = [
        step.get("run")
        for path in WORKFLOWS
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        for step in job["steps"]
    ]
    assert ".ci/run" in commands
    assert "make docs" in commands
