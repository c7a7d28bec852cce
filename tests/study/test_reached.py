"""Energy and epochs to a score over the runs of a study, worked by hand."""

import math
from pathlib import Path

import pytest

from fallow.errors import ConfigError
from fallow.study.study import Study, load_study
from tests.study.written_runs import write_run


def test_energy_to_a_score_counts_those_that_never_reach_it(study: Study) -> None:
    found = study.energy_to(f1=0.55).set_index("policy")
    few, many = found.loc["vaoi(k=5)"], found.loc["vaoi(k=10)"]
    # Of the three only the last reaches 0.6, at the very end; of the others all do, at epochs 10, 9 and 9.
    assert (few.reached, few.runs, few.epochs, few.energy) == (1, 3, 10, 102)
    assert (many.reached, many.epochs) == (3, pytest.approx(28 / 3))
    assert many.energy == pytest.approx((200 + 180 + 180) / 3)
    # Over all three, with those that never get there: 102 of (102, ∞, ∞) is no median; 180 of (180, 180, 200) is.
    assert (few.energy_median, few.epochs_median) == (math.inf, math.inf)
    assert (many.energy_median, many.epochs_median) == (180, 9)
    hardly = study.energy_to(f1=0.95).set_index("policy")
    assert list(hardly.reached) == [0, 1, 0]
    assert list(hardly.energy.isna()) == [True, False, True]
    assert list(hardly.energy_median) == [math.inf] * 3


def test_a_table_with_a_target_says_what_it_took_and_how_many_got_there(study: Study) -> None:
    table = study.table(target=0.55).set_index("policy")
    few, many = table.loc["vaoi(k=5)"], table.loc["vaoi(k=10)"]
    assert (few.energy_to_target, few.epochs_to_target, few.reached, few.runs) == (102, 10, 1, 3)
    assert (few.energy_to_target_median, many.energy_to_target_median) == (math.inf, 180)
    assert many.energy_to_target_sd == pytest.approx(20 / 3**0.5)
    headings, rows = study.cells(target=0.55)
    assert headings[-4:] == ["units to F1 0.55", "epochs to F1 0.55", "reached", "seeds"]
    assert [row[-4:] for row in rows] == [
        ["never", "never", "1 of 3", "3"],
        ["180", "9", "3 of 3", "3"],
        ["400", "10", "2 of 3", "3"],
    ]
    assert "never & never & 1 of 3 & $3$" in study.to_latex(target=0.55)
    assert "reached" not in study.table()


@pytest.mark.usefixtures("study")
def test_runs_that_do_not_learn_are_not_in_the_race(tmp_path: Path) -> None:
    write_run(tmp_path / "d", "oldest", 0, settings={"learning": {"mode": "none"}})
    headings, rows = load_study(tmp_path).cells(target=0.55)
    assert rows[-1][headings.index("units to F1 0.55") :] == ["–", "–", "–", "1"]
    found = load_study(tmp_path).energy_to(0.55).set_index("policy").loc["oldest"]
    assert (found.reached, found.runs) == (0, 0)
    assert math.isnan(found.energy_median)


@pytest.mark.parametrize("ask", ["table", "cells", "to_latex", "report"])
def test_a_target_that_is_no_score_is_one_sentence(study: Study, ask: str) -> None:
    with pytest.raises(ConfigError, match="The target 40 is no F1 score"):
        getattr(study, ask)(target=40)
