"""Verdicts worked by hand, on results made up to decide each claim either way."""

from pathlib import Path

import numpy as np
import pytest

from fallow.study import claims
from fallow.study.claims import judge
from fallow.study.figures import draw_figures
from fallow.study.grid import ALPHAS, HARVESTS, POLICIES, build_grid, merged
from fallow.study.intervals import all_positive, interval
from fallow.study.page import claims_page
from fallow.study.results import Results, Series, seeds_of
from fallow.study.sensitivity import VARIANTS, plan_variants


def series(f1: float = 0.5, energy: float = 100.0, age: float = 2.0) -> Series:
    f1s = np.full(10, np.nan)
    f1s[[4, 8, 9]] = [0.0, f1 - 0.1, f1 + 0.1]
    ages = np.full(10, age)
    return Series(
        {
            "f1": f1s,
            "energy_total": np.linspace(0, energy, 10),
            "mean_age_delivered": ages,
            "mean_age_selected": ages + 1,
        }
    )


def results(seeds: int = 3, **by_policy: dict[str, float]) -> Results:
    noise = [0.0, 0.01, -0.01]
    return {
        ((alpha, p), policy, seed): series(
            **{k: v * (1 + 0.01 * noise[seed]) for k, v in by_policy.get(policy.replace("-", "_"), {}).items()}
        )
        for alpha in ALPHAS
        for p in HARVESTS
        for policy in POLICIES
        for seed in range(seeds)
    }


def test_an_interval_by_hand() -> None:
    # Mean 2, deviation 1, t(0.975; 2) = 4.303: 2 ± 4.303/√3.
    one = interval([1.0, 2.0, 3.0])
    assert (one.mean, one.count) == (2.0, 3)
    assert one.low == pytest.approx(2 - 4.30265 / 3**0.5, abs=1e-4)
    assert str(interval([5.0])) == "+5 (one seed)"


def test_what_intervals_decide() -> None:
    sure, unsure, against = interval([1.0, 1.1]), interval([-5.0, 6.0]), interval([-1.0, -1.1])
    assert all_positive([sure, sure]) == "holds"
    assert all_positive([sure, unsure]) == "not decided"
    assert all_positive([sure, unsure, against]) == "does not hold"
    assert all_positive([interval([1.0])]) == "not decided"
    assert all_positive([]) == "not decided"


def test_late_f1_is_the_mean_of_the_last_fifth() -> None:
    assert series(f1=0.5).late_f1() == pytest.approx(0.5)


@pytest.mark.parametrize(("f1", "verdict"), [(0.6, "holds"), (0.4, "does not hold")])
def test_claim_1(f1: float, verdict: str) -> None:
    assert claims.best_f1(results(vaoi={"f1": f1})).verdict == verdict


def test_one_seed_decides_nothing() -> None:
    assert claims.best_f1(results(seeds=1, vaoi={"f1": 0.9})).verdict == "not decided"
    assert claims.saving_is_37_percent(results(seeds=1, vaoi={"energy": 1})).verdict == "not decided"


@pytest.mark.parametrize(("age", "verdict"), [(1.0, "holds"), (3.0, "does not hold")])
def test_claim_2(age: float, verdict: str) -> None:
    assert claims.lowest_age(results(vaoi={"age": age})).verdict == verdict


def test_claim_3_alpha_changes_nothing_or_something() -> None:
    flat = results()
    assert claims.energy_ignores_alpha(flat).verdict == "holds"
    skewed = flat | {((0.1, p), "vaoi", seed): series(energy=50) for p in HARVESTS for seed in range(3)}
    assert claims.energy_ignores_alpha(skewed).verdict == "does not hold"


@pytest.mark.parametrize(("energy", "verdict"), [(50.0, "holds"), (150.0, "does not hold")])
def test_claim_4_vaoi_uses_less(energy: float, verdict: str) -> None:
    assert claims.vaoi_saves(results(vaoi={"energy": energy}, fedavg={"energy": 100.0})).verdict == verdict


@pytest.mark.parametrize(("energy", "verdict", "ours"), [(14.0, "does not hold", "86%"), (63.0, "holds", "37%")])
def test_claim_4_both_figures_are_shown(energy: float, verdict: str, ours: str) -> None:
    varied = results(vaoi={"energy": energy}, fedavg={"energy": 100.0})
    for (cell, policy, seed), own in varied.items():
        if policy == "fedavg":
            varied[cell, policy, seed] = series(energy=own.energy() * (1 + 0.02 * (seed - 1)))
    claim = claims.saving_is_37_percent(varied)
    assert claim.verdict == verdict
    assert "the paper: up to 37 %" in claim.evidence[0]
    assert ours in claim.evidence[0]


def test_claim_4_odd_uses_less_than_vaoi() -> None:
    assert (
        claims.odd_uses_slightly_less(results(vaoi={"energy": 100.0}, fedbacys_odd={"energy": 90.0})).verdict == "holds"
    )
    odd = results(vaoi={"energy": 80.0}, fedbacys_odd={"energy": 90.0})
    assert claims.odd_uses_slightly_less(odd).verdict == "does not hold"


def test_a_grid_that_is_not_finished_decides_what_it_can() -> None:
    some = {key: own for key, own in results(vaoi={"f1": 0.9, "age": 9.0}).items() if key[0] != (0.1, 0.01)}
    verdicts = {claim.text[:10]: claim.verdict for claim in judge(some, 10, 1000)}
    assert verdicts["F1 of VAoI"] == "not decided"
    assert verdicts["VAoI keeps"] == "does not hold"
    assert seeds_of(some, (0.1, 0.01), "vaoi") == []


def test_one_cell_is_enough_to_refute_and_only_all_can_confirm() -> None:
    thrifty = results(vaoi={"energy": 80.0}, fedavg={"energy": 100.0}, fedbacys_odd={"energy": 90.0})
    some = {key: own for key, own in thrifty.items() if key[0] == (0.1, 0.01)}
    assert claims.odd_uses_slightly_less(some).verdict == "does not hold"
    assert claims.vaoi_saves(some).verdict == "not decided"
    greedy = {key: own for key, own in results(vaoi={"energy": 120.0}).items() if key[0] == (0.1, 0.01)}
    assert claims.vaoi_saves(greedy).verdict == "does not hold"
    one_harvest = {key: own for key, own in results().items() if key[0][1] == 0.01}
    assert claims.energy_ignores_alpha(one_harvest).verdict == "not decided"
    changed = one_harvest | {((0.1, 0.01), "vaoi", seed): series(energy=50) for seed in range(3)}
    assert claims.energy_ignores_alpha(changed).verdict == "does not hold"


def test_the_page_names_every_claim_and_warns_of_a_small_scale() -> None:
    judged = judge(results(), 10, 845_738)
    page = claims_page(judged, "smoke", 3, 108, 108, [(VARIANTS[0], ["a", "b", "c"])])
    assert all(claim.text in page for claim in judged)
    assert "not the paper's" in page
    assert "845,738" in page
    assert "| age reset when aggregated (reading 7) | vaoi | a | b | c |" in page
    assert "not the paper's" not in claims_page(judged, "full", 3, 108, 108, [])


def test_figures_are_drawn_and_equal_results_give_equal_bytes(tmp_path: Path) -> None:
    files = draw_figures(results(), tmp_path / "one")
    again = draw_figures(results(), tmp_path / "two")
    assert {file.name for file in files} == {
        f"{n}.{e}" for n in ("f1", "version-age", "energy") for e in ("pdf", "png")
    }
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(files, again, strict=True))


def test_the_full_study_is_the_papers() -> None:
    shared, grid = build_grid("full", 3)
    assert [len(axis) for axis in grid.values()] == [3, 3, 4, 3]
    assert "clients" not in shared
    assert "epochs" not in shared
    assert shared["data"] == {"name": "cifar10", "samples_per_client": 300}
    assert build_grid("half", 1)[0]["model"] == {"name": "paper-cnn", "width": 0.5}


def test_merged_leaves_its_arguments_alone() -> None:
    one = {"a": {"b": 1}}
    assert merged(one, {"a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}
    assert one == {"a": {"b": 1}}


def test_every_variant_is_an_experiment_of_its_own(tmp_path: Path) -> None:
    planned = plan_variants(build_grid("smoke", 1)[0], 1, tmp_path)
    tomls = {run.experiment.to_toml() for _, runs in planned for run in runs}
    assert len(tomls) == len(VARIANTS)
