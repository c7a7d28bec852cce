"""Ages that were counted from different thresholds: whoever shows them side by side says so."""

import errno
import json
from pathlib import Path

import pytest

from fallow.errors import RunDirectoryError
from fallow.reports.contents import gather
from fallow.reports.output import report
from fallow.reports.runs import read_runs
from fallow.runs.thresholds import age_threshold
from fallow.study.study import load_study
from tests.reports.made_runs import make_up

SENTENCE = (
    "Version ages count from each run's own μ (0.3, 0.5) and do not compare; learning.ages = 'always' gives one μ."
)


def made(directory: Path, mu: float) -> None:
    """A run under VAoI that learns, and measured its ages by features."""
    make_up(directory, epochs=5)
    config, summary = directory / "config.toml", directory / "summary.json"
    config.write_text(config.read_text().replace("mu = 0.5", f"mu = {mu}", 1))
    totals = json.loads(summary.read_text()) | {"ages": "features", "mean_age_delivered": 2.0}
    summary.write_text(json.dumps(totals))


@pytest.mark.parametrize("other", [0.3, 0.5])
def test_a_study_and_a_report_say_where_thresholds_differ(other: float, tmp_path: Path) -> None:
    made(tmp_path / "one", 0.5)
    made(tmp_path / "two", other)
    differ = other != 0.5
    study = load_study(tmp_path)
    assert ("mean age (own μ)" in study.cells()[0], "mean age" in study.cells()[0]) == (differ, not differ)
    assert (SENTENCE.replace("'", "&#x27;") in study._repr_html_()) == differ
    assert gather(*read_runs([tmp_path]))["thresholds"] == (SENTENCE if differ else None)


@pytest.mark.parametrize(
    ("ages", "settings", "threshold"),
    [
        ("features", {"learning.ages": "needed", "policy.mu": 0.3, "learning.mu": 0.5}, 0.3),
        ("features", {"learning.ages": "always", "policy.mu": 0.3, "learning.mu": 0.5}, 0.5),
        ("parameters", {"policy.threshold": 2}, 2.0),
        ("by chance", {"policy.mu": 0.3}, None),
        (None, {"policy.mu": 0.3}, None),
    ],
)
def test_the_threshold_is_that_of_the_distance_which_was_measured(ages, settings, threshold) -> None:
    assert age_threshold(settings, {"ages": ages}) == threshold


def test_a_page_that_can_not_be_written_leaves_the_one_before(tmp_path: Path, monkeypatch) -> None:
    make_up(tmp_path / "run", epochs=5)
    (tmp_path / "out").mkdir()
    page = tmp_path / "out" / "report.html"
    page.write_text("the page before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fallow.storage.files.os.fsync", full)
    with pytest.raises(RunDirectoryError, match=r"The report can't be written to .*: No space left on device"):
        report(tmp_path / "run", out=tmp_path / "out")
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["the page before"]
