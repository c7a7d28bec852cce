"""Studies that are made in parts: tables that were kept, and runs that join them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from fallow.cli import app
from fallow.errors import FallowError
from fallow.study.grid import RULES
from fallow.study.joined import join_bands, load_kept
from fallow.study.kept import write_varied
from fallow.study.outcomes import Band
from fallow.study.paper import PaperPlan, paper_from, plan_paper, plan_sensitivity, plan_with, run_paper
from tests.cli.runner import fail, invoke

TINY = {
    "clients": 8,
    "epochs": 3,
    "data": {"name": "synthetic", "samples": 800, "test_samples": 100},
    "learning": {"eval_every": 1},
}
CELL = {"alphas": [0.1], "harvests": [1.0]}


def planned(out: Path, seeds: int, **settings: object) -> PaperPlan:
    return plan_paper("smoke", seeds, out, TINY | settings, **CELL)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of four policies and two seeds, with its runs and its tables."""
    folder = tmp_path_factory.mktemp("studies") / "whole"
    sweep, shown = run_paper(planned(folder, seeds=2))
    assert not sweep.failures
    assert shown is not None
    return folder


@pytest.fixture
def parts(whole: Path, tmp_path: Path) -> Path:
    """The tables of seed 0 alone, in `first`, and the runs of seed 1 alone, in `second`."""
    for name, seed in (("first", 0), ("second", 1)):
        for run in (whole / "runs").glob(f"*seed={seed}"):
            shutil.copytree(run, tmp_path / name / "runs" / run.name)
    run_paper(planned(tmp_path / "first", seeds=1))
    shutil.rmtree(tmp_path / "first" / "runs")
    return tmp_path


def test_a_study_in_two_parts_comes_to_the_tables_of_the_whole(whole: Path, parts: Path) -> None:
    plan = plan_with(planned(parts / "second", seeds=2), parts / "first")
    assert plan.spared == 4
    assert {run.point["seed"] for run in plan.runs} == {1}
    sweep, _ = run_paper(plan)
    assert sweep.seconds is None  # the four runs were there: nothing is run again
    for name in ("runs.csv", "settings.toml", "claims.md"):
        assert (parts / "second" / name).read_bytes() == (whole / name).read_bytes()
    one, two = (load_kept(folder).outcomes["paper"].curves for folder in (whole, parts / "second"))
    assert one.keys() == two.keys()
    for key, band in one.items():
        assert band.seeds == two[key].seeds == 2
        for side in ("epochs", "mean", "low", "high"):
            np.testing.assert_allclose(
                getattr(two[key], side), getattr(band, side), rtol=1e-4
            )  # of bands five digits are kept


def test_a_study_whose_runs_are_all_kept_is_shown_again(whole: Path, tmp_path: Path) -> None:
    plan = plan_with(planned(tmp_path, seeds=2), whole)
    assert (plan.runs, plan.spared) == ([], 8)
    run_paper(plan)
    assert (tmp_path / "runs.csv").read_bytes() == (whole / "runs.csv").read_bytes()


def test_variants_are_compared_with_runs_that_were_kept(whole: Path, tmp_path: Path) -> None:
    others = plan_sensitivity("smoke", 1, tmp_path, TINY, harvests=[0.1])
    plan = plan_with(others, whole)
    assert plan.spared == 0  # they are in another cell
    assert [run.directory for run in plan.runs] == [run.directory for run in others.runs]


def test_variants_over_another_number_of_epochs_can_not_join(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "kept", ignore=shutil.ignore_patterns("runs"))
    kept = load_kept(whole)
    one = kept.outcomes["paper"].runs[(0.1, 1.0), "vaoi", 0]
    write_varied({("vaoi-reset", 0.1, 0): one}, tmp_path / "kept")
    same = plan_sensitivity("smoke", 1, tmp_path / "out", TINY, harvests=[0.1])
    assert plan_with(same, tmp_path / "kept").spared == 1
    longer = plan_sensitivity("smoke", 1, tmp_path / "out", TINY | {"epochs": 5}, harvests=[0.1])
    with pytest.raises(FallowError, match=r"holds runs of vaoi-reset with p_bc = 0\.1 over 3 epochs, not 5"):
        plan_with(longer, tmp_path / "kept")


def test_the_page_that_is_drawn_from_tables_knows_their_scale(whole: Path, tmp_path: Path) -> None:
    assert "This is scale `smoke`" in paper_from(whole, tmp_path).page.read_text(encoding="utf-8")


def test_bands_are_joined_by_hand() -> None:
    def band(epochs: list[int], mean: list[float], seeds: int) -> Band:
        middle = np.array(mean)
        return Band(np.array(epochs), middle, middle - 0.1, middle + 0.1, seeds)

    both = join_bands(band([1, 2, 3], [0.2, 0.4, 0.6], 3), band([2, 3, 4], [0.8, 0.2, 0.0], 1))
    assert (both.epochs.tolist(), both.seeds) == ([2, 3], 4)
    assert both.mean.tolist() == pytest.approx([0.5, 0.5])  # (3 · 0.4 + 0.8) / 4 and (3 · 0.6 + 0.2) / 4
    assert both.low.tolist() == pytest.approx([0.3, 0.1])
    assert both.high.tolist() == pytest.approx([0.9, 0.7])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sgd": {"lr": 0.5}}, r"holds runs with sgd.lr = 0.01, not 0.5 \(runs/vaoi\)"),
        ({"policy": {"k": 3}}, r"holds runs with policy.k = 2, not 3 \(runs/vaoi\)"),
        ({"epochs": 5}, r"holds runs of vaoi with α = 0.1, p_bc = 1 over 3 epochs, not 5; .* \(--set epochs=3\)"),
    ],
)
def test_runs_under_other_settings_can_not_join(
    whole: Path, tmp_path: Path, settings: dict[str, object], words: str
) -> None:
    with pytest.raises(FallowError, match=words):
        plan_with(planned(tmp_path, seeds=3, **settings), whole)


def test_another_rule_joins_under_the_same_settings_alone(whole: Path, tmp_path: Path) -> None:
    same = plan_paper("smoke", 1, tmp_path, TINY, rules=["recommended"], **CELL)
    assert plan_with(same, whole).spared == 0
    wider = TINY | {"model": {"width": 0.25}}
    with pytest.raises(FallowError, match=r"model.width = 0.125, not 0.25 \(recommended/vaoi\)"):
        plan_with(plan_paper("smoke", 1, tmp_path, wider, rules=list(RULES)[1:], **CELL), whole)


def test_a_run_that_is_in_both_parts_is_named_before_anything_runs(whole: Path, parts: Path) -> None:
    shutil.copytree(next((whole / "runs").glob("*name=vaoi,seed=0")), parts / "second" / "runs" / "again")
    plan = plan_with(planned(parts / "second", seeds=3), parts / "first")
    with pytest.raises(FallowError, match=r"holds the run of vaoi with α = 0\.1, p_bc = 1, seed = 0, and so does"):
        run_paper(plan)
    assert not (parts / "second" / "table.csv").exists()


def test_tables_without_settings_or_with_damaged_ones_are_one_sentence(parts: Path) -> None:
    (parts / "first" / "settings.toml").write_text("common = 3\n")
    with pytest.raises(FallowError, match="can't be read as the settings of a study"):
        plan_with(planned(parts / "second", seeds=2), parts / "first")
    (parts / "first" / "settings.toml").unlink()
    with pytest.raises(FallowError, match=r"holds no settings\.toml"):
        plan_with(planned(parts / "second", seeds=2), parts / "first")
    assert paper_from(parts / "first", parts / "drawn").page.exists()  # to draw, nobody needs them


def test_the_command_says_how_many_runs_are_kept(whole: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    settings = {"data.name": "synthetic", "data.samples": 800, "data.test_samples": 100, "clients": 8, "epochs": 3}
    tiny = (*(f"--set={key}={value}" for key, value in settings.items()), "--set=learning.eval_every=1")
    command = (
        "paper",
        "--scale=smoke",
        *tiny,
        "--alpha=0.1",
        "--p=1",
        "--seeds=3",
        f"--with={whole}",
        f"--out={tmp_path}",
    )
    output = " ".join(invoke(app, *command, "--dry-run").split())
    assert f"8 more runs are in {whole}." in output
    assert "4 runs" in output
    for others in (["--readings"], ["--from", str(whole)]):
        code, words = fail(capsys, monkeypatch, *command, *others)
        assert (code, "--with is for runs of the grid" in words) == (2, True)
    code, words = fail(capsys, monkeypatch, *command[:-1], f"--out={whole}")
    assert (code, "choose another folder for the study" in words) == (2, True)
