"""The readings that touch energy: which combinations agree with the paper, by numbers worked by hand."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.errors import FallowError
from fallow.study.grid import HARVESTS
from fallow.study.readings import plan as planning
from fallow.study.readings.agreement import (
    STATEMENTS,
    Combination,
    Standing,
    combine,
    odd_slightly_below,
    saves_as_printed,
)
from fallow.study.readings.page import agreement_table, nearest
from fallow.study.readings.plan import plan_readings
from fallow.study.readings.run import readings_from, show_readings
from fallow.study.readings.spent import TABLE, Spent, load_spent, read_spent, write_spent
from tests.cli.runner import fail, invoke

AGREES = Standing(saving=0.36, odd=0.1, gap=0.4, younger_delivered=0.5, younger_selected=-1.0)


def rows(energy: dict[str, float]) -> Iterator[Spent]:
    """The same energy at every p_bc, under one reading of each policy; ages as energies, over 100."""
    for p in HARVESTS:
        for policy, units in energy.items():
            yield Spent(policy, "", 0, 0.3, p, units, units / 100, 1.0, seeds=2)


def combination(**at_one: float) -> Combination:
    at = {0.01: AGREES, 0.1: AGREES, 1.0: replace(AGREES, **at_one)}
    return Combination(0, "fedavg", "window battery", "top-k selected", 0.3, at)


def holds(one: Combination) -> list[bool]:
    return [statement.overall(one) for statement in STATEMENTS]


def test_a_standing_is_worked_out_from_the_energies_and_ages_of_the_four() -> None:
    energy = {"vaoi": 60.0, "fedavg": 100.0, "random-k": 80.0, "fedbacys": 90.0, "fedbacys-odd": 54.0}
    everyone, few = combine(rows(energy))
    assert (everyone.fedavg, few.fedavg) == ("fedavg", "random-k")
    standing = everyone.at[0.1]
    assert standing.saving == pytest.approx(0.4)  # 1 − 60/100
    assert standing.odd == pytest.approx(0.1)  # 1 − 54/60
    assert standing.gap == pytest.approx(0.46)  # 1 − 54/100
    assert standing.younger_selected == pytest.approx(0.54 - 0.60)
    assert standing.younger_delivered == 0
    assert few.at[1.0].saving == pytest.approx(0.25)  # 1 − 60/80
    assert few.at[1.0].gap == pytest.approx(0.4)  # 1 − 54/90: fedbacys is the greediest now


def test_a_combination_of_which_a_run_is_missing_is_left_out() -> None:
    energy = {"vaoi": 60.0, "fedavg": 100.0, "random-k": 80.0, "fedbacys": 90.0, "fedbacys-odd": 54.0}
    some = [row for row in rows(energy) if (row.policy, row.p) != ("random-k", 0.1)]
    assert [one.fedavg for one in combine(some)] == ["fedavg"]


def test_statements_are_decided_with_their_tolerances() -> None:
    # In this order: the saving, Odd, both, most at p_bc = 1, the two ages.
    assert holds(combination(gap=0.5)) == [True, True, True, True, True, False]
    assert holds(combination(gap=0.3)) == [True, True, True, False, True, False]
    assert holds(combination(saving=0.41)) == [False, True, False, False, True, False]  # the largest is beyond 40 %
    assert holds(combination(saving=0.2)) == [True, True, True, False, True, False]  # 'up to': others save 36 %
    assert holds(combination(odd=0.16))[1:3] == [False, False]
    assert holds(combination(odd=-0.01))[1:3] == [False, False]
    assert not holds(combination(younger_delivered=0.0))[4]


def test_the_page_counts_by_cell_and_names_what_comes_nearest() -> None:
    both = [combination(saving=0.86, gap=0.9), combination(saving=0.36, gap=0.9)]
    table = agreement_table(both)
    assert table[2].startswith("| VAoI saves up to 37% against FedAvg")
    assert table[2].endswith("| 2 | 2 | 1 | 1 |")
    assert "| – | – | – | 2 |" in table[5]
    assert table[-1].endswith("| 0 |")  # being selected resets the age: nowhere
    words = nearest(both)
    assert words[0].startswith("2 combinations give the paper's saving")
    assert words[-2].endswith("| **36.0% / 10.0%** | **36.0% / 10.0%** | 86.0% / 10.0% |")
    nowhere = replace(both[0], at={p: replace(AGREES, odd=0.5) for p in HARVESTS})
    assert nearest([nowhere])[0].startswith("No combination")


def test_every_reading_is_planned_and_none_learns(tmp_path: Path) -> None:
    runs = plan_readings(1, tmp_path)
    # 4 readings of VAoI, 1 of FedAvg, 1 of random-k, 6 of each FedBacys; 2 limits × 6 significances × 3 p_bc
    assert len(runs) == (4 + 1 + 1 + 6 + 6) * 2 * 6 * 3
    assert {run.experiment.learning.mode for run in runs} == {"none"}
    assert len({run.directory for run in runs}) == len(runs)


def test_at_full_harvest_vaoi_saves_86_percent_whatever_the_reading(tmp_path: Path, monkeypatch) -> None:
    """FedAvg uses 30 units a client and epoch; ten of a hundred at most 42 each: 4.2 (reading-the-paper.md)."""
    monkeypatch.setattr(planning, "SIGNIFICANCES", [0.5])
    monkeypatch.setattr(planning, "STARTS", [0])
    output = invoke(app, "paper", "--readings", "--seeds=1", "--set=epochs=40", "--out", str(tmp_path))
    assert "54 of 54 runs finished" in output
    assert "48 combinations" in output
    spent = load_spent(tmp_path / TABLE)
    assert spent == read_spent(plan_readings(1, tmp_path, {"epochs": 40}))
    everyone = [one for one in combine(spent) if one.fedavg == "fedavg"]
    assert {round(one.at[1.0].saving, 2) for one in everyone} == {0.86}
    assert (tmp_path / "readings.png").stat().st_size > 10_000


def test_a_kept_table_is_drawn_without_a_run(tmp_path: Path, capsys, monkeypatch) -> None:
    energy = {"vaoi": 60.0, "fedavg": 100.0, "random-k": 80.0, "fedbacys": 90.0, "fedbacys-odd": 54.0}
    (tmp_path / "kept").mkdir()
    write_spent(rows(energy), tmp_path / "kept" / TABLE)
    output = invoke(app, "paper", "--from", str(tmp_path / "kept"), "--out", str(tmp_path / "drawn"))
    assert "of 2 combinations" in output
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == [
        "readings.md",
        "readings.pdf",
        "readings.png",
    ]
    assert len(readings_from(tmp_path / "kept", tmp_path / "again").combinations) == 2
    code, words = fail(capsys, monkeypatch, "paper", "--from", str(tmp_path), "--out", str(tmp_path / "drawn"))
    assert code == 2
    assert "holds neither runs.csv nor readings.csv" in words
    code, words = fail(capsys, monkeypatch, "paper", "--from", str(tmp_path / "kept"), "--out", str(tmp_path / "kept"))
    assert "choose another folder" in words


def test_the_page_of_results_shows_the_table_that_is_kept() -> None:
    root = Path(__file__).parents[2]
    combinations = combine(load_spent(root / "results" / "paper" / TABLE))
    shown = (root / "docs" / "results.md").read_text(encoding="utf-8").splitlines()
    tables = [line for line in (*agreement_table(combinations), *nearest(combinations)) if line.startswith("|")]
    assert len(combinations) == 576
    assert set(tables) <= set(shown)
    both = [one for one in combinations if saves_as_printed(one.at[0.1]) and odd_slightly_below(one.at[0.1])]
    assert {(one.fedbacys, one.fedavg) for one in both} == {("across-epochs fixed", "fedavg")}
    everyone = [one for one in combinations if one.fedavg == "fedavg"]
    assert {(one.starts, round(one.at[1.0].saving, 2)) for one in everyone} == {(0, 0.86), (1, 0.9)}
    assert max(one.at[0.01].saving for one in combinations) == pytest.approx(0.12, abs=0.005)
    for statement in STATEMENTS[-2:]:
        young = [one for one in combinations if statement.overall(one)]
        assert {(one.fedavg, one.significance) for one in young} == {("random-k", 0.1)}


def test_what_is_no_table_of_the_readings_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / TABLE).write_text("policy,reading\nvaoi,top-k\n")
    with pytest.raises(FallowError, match="is not a table that"):
        load_spent(tmp_path / TABLE)
    with pytest.raises(FallowError, match="no combination"):
        show_readings([], tmp_path)


def test_the_readings_do_not_learn(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "paper", "--readings", "--set=learning.mode=train", "--out", str(tmp_path))
    assert code == 2
    assert "energy and age alone" in words
