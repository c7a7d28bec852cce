"""Ranks, differences and tables, worked by hand."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from fallow.errors import ConfigError
from fallow.study.bench.ranking import Rank, rank_entrants
from fallow.study.bench.result import Bench
from fallow.study.bench.scenarios import read_suite
from tests.study.bench.small import score

SCORES = (
    *(score("poor", "mine", seed, f1) for seed, f1 in enumerate((0.5, 0.7))),
    *(score("poor", "vaoi", seed, f1, 60) for seed, f1 in enumerate((0.4, 0.4))),
    *(score("poor", "fedavg", seed, f1, 200) for seed, f1 in enumerate((0.6, 0.4))),
    *(score("poor", "unlimited", seed, 0.9, 0) for seed in range(2)),
    score("rich", "mine", 0, 0.8),
    score("rich", "vaoi", 0, 0.8),
)


@pytest.fixture
def bench(small: Path) -> Bench:
    return Bench(read_suite(small), ("mine",), SCORES, ("mine", "vaoi", "fedavg"), small / "runs")


def test_ranks_are_means_over_scenarios_and_seeds_and_equal_scores_share_their_places(bench: Bench) -> None:
    # poor, seed 0: fedavg 1, mine 2, vaoi 3; seed 1: mine 1, the others share 2 and 3; rich: both share 1 and 2.
    assert bench.ranks() == [
        Rank("mine", (2 + 1 + 1.5) / 3, 3),
        Rank("fedavg", (1 + 2.5) / 2, 2),
        Rank("vaoi", (3 + 2.5 + 1.5) / 3, 3),
    ]


def test_a_bound_has_no_rank_and_stands_last(bench: Bench) -> None:
    assert bench.names == ["mine", "fedavg", "vaoi", "unlimited"]
    assert rank_entrants(SCORES, ["unlimited"]) == [Rank("unlimited", 1, 2)]


def test_differences_are_paired_over_common_seeds_with_students_interval(bench: Bench) -> None:
    rows = bench.differences().set_index(["scenario", "other"])
    # 0.5 − 0.4 and 0.7 − 0.4: mean 0.2, deviation 0.2 / √2, so half of the interval is t(1) · 0.1 = 12.706 · 0.1.
    first = rows.loc[("poor", "vaoi")]
    assert first.difference == pytest.approx(0.2)
    assert (first.low, first.high) == pytest.approx((0.2 - 1.2706, 0.2 + 1.2706), abs=1e-4)
    assert rows.loc[("poor", "fedavg")].difference == pytest.approx((-0.1 + 0.3) / 2)
    single = rows.loc[("rich", "vaoi")]
    assert (single.difference, single.low, single.seeds) == (0, -math.inf, 1)
    assert ("rich", "fedavg") not in rows.index
    assert bench.differences("energy").set_index(["scenario", "other"]).loc[("poor", "vaoi")].difference == 40


def test_the_table_has_means_deviations_and_seeds(bench: Bench) -> None:
    row = bench.table().set_index(["scenario", "entrant"]).loc[("poor", "mine")]
    assert (row.f1, row.f1_sd, row.seeds) == pytest.approx((0.6, 0.2 / math.sqrt(2), 2))


def test_the_text_marks_entrants_and_says_over_how_many_a_rank_is(bench: Bench) -> None:
    headings, rows = bench.cells()
    assert headings == ["policy", "poor", "rich", "mean rank"]
    assert rows[0] == ["mine *", "0.600 ± 0.141", "0.800", "1.5"]
    assert rows[1] == ["fedavg", "0.500 ± 0.141", "–", "1.8 (of 2)"]
    assert rows[3][-1] == "–"
    assert bench.cells("energy")[1][0] == ["mine *", "100 ± 0", "100"]


def test_latex_has_scores_and_differences(bench: Bench) -> None:
    assert r"mine * & $0.600 \pm 0.141$ & $0.800$ & $1.5$ \\" in bench.to_latex()
    assert r"vaoi & $+0.200\ [-1.071,\ +1.471]$ & $+0.000$ \\" in bench.to_latex("differences")
    with pytest.raises(ConfigError, match="of = 'ranks' must be 'scores' or 'differences'"):
        bench.to_latex("ranks")
    with pytest.raises(ConfigError, match=r"The benchmark has no column 'enrgy'; did you mean 'energy'\?"):
        bench.differences("enrgy")


def test_the_page_carries_everything_and_no_name_becomes_markup(bench: Bench, tmp_path: Path) -> None:
    nasty = "<img src=x>"
    scores = (*SCORES, score("poor", nasty, 0, 0.3))
    page = Bench(bench.suite, ("mine",), scores, (*bench.ranked, nasty), tmp_path, ("A note.",)).report()
    text = page.read_text(encoding="utf-8")
    assert nasty not in text
    assert "&lt;img src=x&gt;" in text
    assert "A note." in text
    assert text.count('<svg class="chart"') == 2
    assert text.count('<g class="point">') == 4 + 2  # the bound is a line
    assert "A dashed line is a bound" in text
    assert "Each panel has a scale of its own" in text
    assert "{{" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert bench.report(tmp_path / "other.html").name == "other.html"


def test_the_page_of_one_scenario_without_a_bound_speaks_of_neither_bounds_nor_several_scales(bench: Bench) -> None:
    scores = tuple(one for one in SCORES if one.scenario == "poor" and one.entrant != "unlimited")
    suite = replace(bench.suite, scenarios=bench.suite.scenarios[:1])
    text = replace(bench, suite=suite, scores=scores).report().read_text(encoding="utf-8")
    assert text.count('<svg class="chart"') == 1
    assert "dashed" not in text
    assert "scale of its own" not in text
