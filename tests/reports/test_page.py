import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fallow.reports import write_report
from fallow.reports.contents import MOST_DETAILED, gather
from fallow.reports.page import SCRIPTS, build_page, embed
from fallow.reports.runs import read_runs
from fallow.runs.uses import USES
from tests.reports.made_runs import live, make_up

NASTY = "</script><img src=x onerror=alert(1)>&{{data}}"


def page_of(folder: Path) -> str:
    return build_page(gather(*read_runs([folder])))


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    contents: dict[str, Any] = json.loads(found[1])
    return contents


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two policies, two seeds and two p, lived through for real, without learning."""
    folder = tmp_path_factory.mktemp("grid")
    for policy in ("vaoi", "fedavg"):
        for seed in (1, 2):
            for p in (0.3, 0.6):
                live(folder / f"{policy}-{seed}-{p}", policy__name=policy, seed=seed, energy__p=p)
    return folder


def test_the_same_runs_give_the_same_bytes(grid: Path, tmp_path: Path) -> None:
    one, other = (write_report([grid], tmp_path / name) for name in ("one", "other"))
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "other").iterdir())
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in files)
    assert (one.runs, other.runs) == (8, 8)


def test_the_page_does_not_tell_where_the_runs_are_kept(grid: Path) -> None:
    assert str(grid.parent) not in page_of(grid)


def test_contents_of_a_grid(grid: Path) -> None:
    contents = gather(*read_runs([grid]))
    assert contents["lines"] == ["vaoi", "fedavg"]
    assert contents["panels"] == ["p_bc = 0.3", "p_bc = 0.6"]
    assert [one["title"] for one in contents["filters"]] == ["Policy", "α", "p_bc", "Seed"]
    order = [(run["panel"], run["line"], run["values"]["seed"]) for run in contents["runs"][:3]]
    assert order == [("p_bc = 0.3", "vaoi", "1"), ("p_bc = 0.3", "vaoi", "2"), ("p_bc = 0.3", "fedavg", "1")]
    assert all(run["score"] is None for run in contents["runs"])
    window = contents["runs"][0]["detail"]["window"]
    assert len(window["battery"]) == len(window["clients"]) == 6
    assert {"seed", "policy.name", "energy.p"} <= set(contents["differ"]["keys"])
    assert ["clients", "6"] in contents["common"]
    assert any(key == "versions.fallow" for key, _ in contents["common"])


def test_uses_of_energy_are_those_that_any_run_has(tmp_path: Path) -> None:
    plain, other = live(tmp_path / "runs" / "plain"), live(tmp_path / "runs" / "losing", seed=2)
    summary = json.loads((other / "summary.json").read_text()) | {"leakage": 3, "consumed_listen": 0}
    (other / "summary.json").write_text(json.dumps(summary))
    contents = gather(*read_runs([tmp_path / "runs"]))
    assert [use["name"] for use in contents["uses"]] == ["training", "sending", "leakage", "overflow", "still stored"]
    first = json.loads((plain / "summary.json").read_text())
    totals = contents["runs"][0]["totals"]
    assert sum(totals[key] or 0 for key, _ in USES) == first["harvested"]
    assert totals["leakage"] is None


def test_the_page_asks_no_one_for_anything(grid: Path) -> None:
    page = page_of(grid)
    program = page.replace("http-equiv", "")
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|fetch\(|XMLHttpRequest|WebSocket|sendBeacon", program)
    assert re.findall(r"<(?:link|script|img|iframe|object)\b[^>]*(?:src|href)=\"([^\"]*)\"", page) == ["data:,"]
    assert "default-src 'none'" in page


def test_names_can_not_become_markup(tmp_path: Path) -> None:
    make_up(tmp_path / "runs" / "<b>bold</b>", policy=NASTY, epochs=5)
    make_up(tmp_path / "runs" / "plain", epochs=5)
    page = page_of(tmp_path / "runs")
    assert NASTY not in page
    assert "<b>bold" not in page
    assert page.count("</script>") == 3
    assert NASTY in data_of(page)["lines"]


def test_embedded_json_reads_back() -> None:
    assert json.loads(embed({"a": "<&>\u2028"})) == {"a": "<&>\u2028"}
    assert not set("<>&\u2028") & set(embed({"a": "<&>\u2028"}))


def test_programs_never_write_markup() -> None:
    page = build_page({})
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", page)
    assert len(SCRIPTS) == len(set(SCRIPTS))


def test_two_hundred_runs_stay_small(tmp_path: Path) -> None:
    for policy in ("vaoi", "fedavg", "fedbacys", "random-k"):
        for seed in range(25):
            for p in (0.01, 0.1):
                make_up(tmp_path / "runs" / f"{policy}-{p}-{seed}", policy=policy, seed=seed, p=p)
    contents = gather(*read_runs([tmp_path / "runs"]))
    page = build_page(contents)
    assert len(contents["runs"]) == 200
    assert len(page.encode()) < 5_000_000
    assert sum("detail" in run for run in contents["runs"]) == MOST_DETAILED
    first = [(run["panel"], run["line"]) for run in contents["runs"] if "detail" in run]
    assert len(set(first)) == 8


def test_unfinished_runs_are_named(tmp_path: Path) -> None:
    make_up(tmp_path / "done", epochs=5)
    (make_up(tmp_path / "stopped", epochs=5) / "summary.json").unlink()
    assert data_of(page_of(tmp_path))["unfinished"] == [["stopped", 5, 5]]


def test_a_run_without_events_has_no_clients_to_show(tmp_path: Path) -> None:
    (run,) = gather(*read_runs([live(tmp_path / "run", output__events=False)]))["runs"]
    assert run["uploads"] is None
    assert run["detail"]["ages"] is None
    assert "output.events = false" in run["detail"]["why"]


def test_a_report_loads_neither_torch_nor_the_engine(tmp_path: Path) -> None:
    make_up(tmp_path / "run", epochs=5)
    code = (
        "import sys; from pathlib import Path; from fallow.reports import write_report; "
        "write_report([Path(sys.argv[1])], Path(sys.argv[2])); "
        "sys.exit(any(name.startswith(('torch', 'fallow.learning', 'fallow.simulation.engine', 'fallow.experiment')) "
        "for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run"), str(tmp_path / "out")]
    assert subprocess.run(command, check=False).returncode == 0
