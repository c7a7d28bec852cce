"""Verdicts worked by hand, on results made up to decide each claim either way."""

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt

from fallow.errors import ConfigError, FallowError
from fallow.learning.network import build_network
from fallow.learning.operations import forward_flops
from fallow.models.paper_cnn import PaperCNN
from fallow.study.figures import draw_figures
from fallow.study.grid import ALPHAS, HARVESTS, POLICIES, RULES, build_grid, merged
from fallow.study.intervals import holm, interval, t_test
from fallow.study.kept import load_outcomes, load_varied, write_outcomes, write_varied
from fallow.study.outcomes import Outcomes, Results, gather, outcome_of, seeds_of
from fallow.study.page import claims_page
from fallow.study.paper import FEATURES, PARAMETERS, paper_from, plan_paper, plan_sensitivity
from fallow.study.results import Series
from fallow.study.sensitivity import HARVESTS as SENSITIVE
from fallow.study.sensitivity import VARIANTS, Varied, variants_page
from fallow.study.verdicts import Claim, Comparing, features_are_cheaper, judge


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


def outcomes(seeds: int = 3, **by_policy: dict[str, float]) -> Outcomes:
    noise = [0.0, 0.01, -0.01]
    return gather(
        {
            ((alpha, p), policy, seed): series(
                **{k: v * (1 + 0.01 * noise[seed]) for k, v in by_policy.get(policy.replace("-", "_"), {}).items()}
            )
            for alpha in ALPHAS
            for p in HARVESTS
            for policy in POLICIES
            for seed in range(seeds)
        }
    )


def results(seeds: int = 3, **by_policy: dict[str, float]) -> Results:
    return outcomes(seeds, **by_policy).runs


def claim_of(runs: Results, words: str) -> Claim:
    """The one claim whose text has some words in it."""
    (found,) = (one for one in judge({"paper": runs}, FEATURES, PARAMETERS).claims["paper"] if words in one.text)
    return found


BEST_F1, AGE, AGE_SELECTED = "F1 of VAoI is the best", "age (an update received", "age (being selected"
ALPHA, GAP, LESS, FIGURE = "heterogeneity", "largest at p_bc", "less energy than FedAvg", "up to 37%"
ODD, TO_TARGET = "slightly less energy", "least energy to come to"


def test_an_interval_by_hand() -> None:
    # Mean 2, deviation 1, t(0.975; 2) = 4.303: 2 ± 4.303/√3.
    one = interval([1.0, 2.0, 3.0])
    assert (one.mean, one.count) == (2.0, 3)
    assert one.low == pytest.approx(2 - 4.30265 / 3**0.5, abs=1e-4)
    assert str(interval([5.0])) == "+5 (one seed)"


def test_a_t_test_by_hand() -> None:
    # t = 2/(1/√3) = 3.4641 with 2 degrees of freedom: two-sided 0.0742.
    assert t_test([1.0, 2.0, 3.0]) == pytest.approx(0.0742, abs=1e-4)
    assert (t_test([5.0]), t_test([0.0, 0.0]), t_test([1.0, 1.0])) == (1.0, 1.0, 0.0)


def test_holm_multiplies_the_least_chance_by_the_number_of_tests() -> None:
    # 0.01 · 4; 0.02 · 3; 0.025 · 2 is less than 0.06, so 0.06; 0.9 · 1.
    assert holm([0.9, 0.01, 0.025, 0.02]) == pytest.approx([0.9, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_late_f1_is_the_mean_of_the_last_fifth() -> None:
    assert series(f1=0.5).late_f1() == pytest.approx(0.5)


@pytest.mark.parametrize(("f1", "verdict"), [(0.6, "holds"), (0.4, "does not hold")])
def test_claim_1(f1: float, verdict: str) -> None:
    claim = claim_of(results(vaoi={"f1": f1}), BEST_F1)
    assert claim.verdict == verdict
    assert claim.cells == {(0.1, 0.01): verdict, (0.1, 0.1): verdict}


def test_one_seed_decides_nothing() -> None:
    alone = results(seeds=1, vaoi={"f1": 0.9, "energy": 1})
    assert {claim_of(alone, words).verdict for words in (BEST_F1, FIGURE, ALPHA, GAP, LESS)} == {"not decided"}


def test_a_cell_with_one_seed_is_no_test_and_takes_nothing_from_the_others() -> None:
    whole = results(vaoi={"f1": 0.6})
    first = {key: one for key, one in whole.items() if key[0] == (0.1, 0.01)}
    more = first | {key: one for key, one in whole.items() if key[2] == 0}
    few, many = (judge({"paper": runs}, FEATURES, PARAMETERS) for runs in (first, more))
    assert few.comparisons == many.comparisons == 4 * 3 + 2  # F1, energy to a target, two ages; energy
    assert claim_of(more, BEST_F1).cells == {(0.1, 0.01): "holds", (0.1, 0.1): "not decided"}
    assert [line.endswith("(one seed)") for line in claim_of(more, BEST_F1).evidence] == [False] * 3 + [True] * 3


def test_what_one_comparison_would_decide_many_may_not() -> None:
    """Two seeds whose lead is 0.10 and 0.11: t = 21, 1 degree of freedom, p = 0.030, and more than 0.05 after Holm."""
    runs = results(seeds=2)
    for seed, f1 in enumerate((0.6, 0.61)):
        runs[(0.1, 0.01), "vaoi", seed] = outcome_of(series(f1=f1))
    assert t_test([0.1, 0.11]) == pytest.approx(0.0303, abs=1e-4)
    claim = claim_of(runs, BEST_F1)
    assert claim.cells[0.1, 0.01] == "not decided"
    assert "corrected p = 1" in claim.evidence[0]


@pytest.mark.parametrize(("age", "verdict"), [(1.0, "holds"), (3.0, "does not hold")])
def test_claim_2_under_both_resets(age: float, verdict: str) -> None:
    runs = results(vaoi={"age": age})
    assert [claim_of(runs, words).verdict for words in (AGE, AGE_SELECTED)] == [verdict, verdict]


def test_claim_3_alpha_changes_nothing_or_something() -> None:
    flat = results()
    assert claim_of(flat, ALPHA).verdict == "holds"
    skewed = flat | {((0.1, p), "vaoi", seed): outcome_of(series(energy=50)) for p in HARVESTS for seed in range(3)}
    assert claim_of(skewed, ALPHA).verdict == "does not hold"
    noisy = flat | {((0.1, 0.1), "vaoi", s): outcome_of(series(energy=e)) for s, e in enumerate((90, 100, 110))}
    assert claim_of(noisy, ALPHA).verdict == "not decided"


def test_claim_3_policies_differ_most_at_full_harvest() -> None:
    runs = results(vaoi={"energy": 80.0})  # 20 % below the others, everywhere
    assert claim_of(runs, GAP).verdict == "not decided"
    wide = {((0.1, 1.0), "vaoi", seed): outcome_of(series(energy=20)) for seed in range(3)}
    assert claim_of(runs | wide, GAP).verdict == "holds"
    scarce = {((0.1, 0.01), "vaoi", seed): outcome_of(series(energy=20)) for seed in range(3)}
    assert claim_of(runs | scarce, GAP).verdict == "does not hold"


@pytest.mark.parametrize(("energy", "verdict"), [(50.0, "holds"), (150.0, "does not hold")])
def test_claim_4_vaoi_uses_less(energy: float, verdict: str) -> None:
    assert claim_of(results(vaoi={"energy": energy}, fedavg={"energy": 100.0}), LESS).verdict == verdict


@pytest.mark.parametrize(("energy", "verdict", "ours"), [(14.0, "does not hold", "86"), (63.0, "holds", "37")])
def test_claim_4_both_figures_are_shown(energy: float, verdict: str, ours: str) -> None:
    claim = claim_of(results(vaoi={"energy": energy}, fedavg={"energy": 100.0}), FIGURE)
    assert claim.verdict == verdict
    assert "the paper: up to 37%" in claim.evidence[0]
    assert f"+{ours}.0%" in claim.evidence[0]


def test_claim_4_odd_uses_less_than_vaoi() -> None:
    assert claim_of(results(vaoi={"energy": 100.0}, fedbacys_odd={"energy": 90.0}), ODD).verdict == "holds"
    assert claim_of(results(vaoi={"energy": 80.0}, fedbacys_odd={"energy": 90.0}), ODD).verdict == "does not hold"


def test_energy_to_a_score_that_a_policy_never_came_to_is_not_compared() -> None:
    # 0.3 is first reached in the 9th of ten epochs, at 8/9 of the energy, or never where F1 stays below.
    runs = results(vaoi={"f1": 0.5, "energy": 90.0}, fedavg={"f1": 0.1})
    assert runs[(0.1, 0.1), "vaoi", 0].energy_to_target == pytest.approx(80.0)
    assert runs[(0.1, 0.1), "fedavg", 0].energy_to_target == float("inf")
    claim = claim_of(runs, TO_TARGET)
    assert claim.verdict == "not decided"
    assert any("FedAvg needs more: not both came to it" in line for line in claim.evidence)
    assert claim_of(results(vaoi={"energy": 90.0}), TO_TARGET).verdict == "holds"


def test_a_grid_that_is_not_finished_decides_what_it_can() -> None:
    some = {key: own for key, own in results(vaoi={"f1": 0.9, "age": 9.0}).items() if key[0] != (0.1, 0.01)}
    assert claim_of(some, BEST_F1).verdict == "not decided"
    assert claim_of(some, AGE).verdict == "does not hold"
    assert seeds_of(some, (0.1, 0.01), "vaoi") == []


def test_one_cell_is_enough_to_refute_and_only_all_can_confirm() -> None:
    thrifty = results(vaoi={"energy": 80.0}, fedavg={"energy": 100.0}, fedbacys_odd={"energy": 90.0})
    some = {key: own for key, own in thrifty.items() if key[0] == (0.1, 0.01)}
    assert claim_of(some, ODD).verdict == "does not hold"
    assert claim_of(some, LESS).verdict == "not decided"
    greedy = {key: own for key, own in results(vaoi={"energy": 120.0}).items() if key[0] == (0.1, 0.01)}
    assert claim_of(greedy, LESS).verdict == "does not hold"
    one_harvest = {key: own for key, own in results().items() if key[0][1] == 0.01}
    assert claim_of(one_harvest, ALPHA).verdict == "not decided"
    changed = one_harvest | {((0.1, 0.01), "vaoi", seed): outcome_of(series(energy=50)) for seed in range(3)}
    assert claim_of(changed, ALPHA).verdict == "does not hold"


def test_the_page_names_every_claim_under_every_rule_and_warns_of_a_small_scale() -> None:
    both = {"paper": outcomes(), "recommended": outcomes(seeds=2, vaoi={"f1": 0.6})}
    judged = judge({rule: own.runs for rule, own in both.items()}, FEATURES, PARAMETERS)
    page = claims_page(judged, both, "smoke")
    assert all(page.count(claim.text) >= 2 for claim in judged.claims["paper"])
    assert "| with the paper's aggregation | with the recommended rule |" in page
    assert "108 with the paper's aggregation and 72 with the recommended rule" in page
    # Of each rule: 2 × 6 on F1 and energy to it, 2 × 27 on ages, 2 on gaps, 2 × 3 on energies.
    assert judged.comparisons == 2 * (12 + 54 + 2 + 6)
    assert "148 comparisons" in page
    assert "α = 10, p_bc = 1: 3 × 10" in page
    assert "not the paper's" in page
    assert "845,738" in page
    assert "Under other readings" not in page
    assert "not the paper's" not in claims_page(judged, both, "full")


def test_the_tables_that_are_kept_draw_the_same_page(tmp_path: Path) -> None:
    both = {"paper": outcomes(vaoi={"f1": 0.6}), "recommended": outcomes(seeds=1, fedavg={"f1": 0.1})}
    write_outcomes(both, tmp_path / "kept")
    loaded = load_outcomes(tmp_path / "kept")
    assert loaded["recommended"].runs.keys() == both["recommended"].runs.keys()
    one = (0.1, 0.1), "vaoi", 0
    assert astuple(loaded["paper"].runs[one]) == pytest.approx(astuple(both["paper"].runs[one]))
    band = loaded["paper"].curves[(0.1, 0.1), "vaoi", "f1"]
    assert band.epochs.tolist() == [5, 9, 10]
    assert band.seeds == 3
    np.testing.assert_allclose(band.mean, [0.0, 0.5, 0.7], atol=1e-4)
    assert loaded["paper"].curves[(0.1, 0.1), "vaoi", "age"].epochs.tolist() == [5, 9, 10]
    shown = paper_from(tmp_path / "kept", tmp_path / "drawn")
    assert len(shown.figures) == 12
    assert "F1 of VAoI is the best" in shown.page.read_text(encoding="utf-8")


def test_tables_of_somebody_else_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FallowError, match="can't be read"):
        paper_from(tmp_path, tmp_path / "drawn")
    for text, words in (("rule\n", "no runs"), ("rule,x\npaper,1\n", "did not write")):
        for name in ("runs.csv", "bands.csv"):
            (tmp_path / name).write_text(text)
        with pytest.raises(FallowError, match=words):
            paper_from(tmp_path, tmp_path / "drawn")


def test_the_papers_model_has_as_many_numbers_as_the_page_says() -> None:
    network = build_network(PaperCNN(), (3, 32, 32), 10, seed=0)
    assert (network.feature_size, network.size) == (FEATURES.kept, PARAMETERS.kept)
    assert FEATURES.operations == 300 // 20 * forward_flops(network)  # a probe batch is |D_i| / κ images


def test_features_are_cheaper_if_they_are_in_memory_and_in_arithmetic() -> None:
    little, much = Comparing(kept=1, operations=1), Comparing(kept=2, operations=2)
    assert features_are_cheaper(little, much).verdict == "holds"
    assert features_are_cheaper(Comparing(1, 3), much).verdict == "does not hold"
    assert features_are_cheaper(Comparing(3, 1), much).verdict == "does not hold"


def test_a_rule_changes_how_updates_are_combined_and_not_who_trains(tmp_path: Path) -> None:
    plans = plan_paper("smoke", 1, tmp_path, rules=list(RULES), alphas=[0.1], harvests=[0.01])
    assert len(plans.runs) == 8
    ours = plans.runs[4].experiment
    assert (ours.policy.name, ours.aggregation.name, ours.objective.name) == ("vaoi", "fedopt", "balanced-softmax")
    assert ours.learning.average == 0.95
    assert plans.runs[0].experiment.aggregation.name == "received"


def test_figures_are_drawn_and_equal_results_give_equal_bytes(tmp_path: Path) -> None:
    files = draw_figures(outcomes(), tmp_path / "one")
    again = draw_figures(outcomes(), tmp_path / "two")
    assert {file.name for file in files} == {
        f"{n}.{e}" for n in ("f1", "version-age", "energy") for e in ("pdf", "png")
    }
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(files, again, strict=True))


def test_figures_have_a_panel_for_each_cell_that_was_run(tmp_path: Path) -> None:
    whole = outcomes()
    part = Outcomes(
        {key: one for key, one in whole.runs.items() if key[0] in [(0.1, 0.01), (1.0, 0.01)]},
        {key: one for key, one in whole.curves.items() if key[0] in [(0.1, 0.01), (1.0, 0.01)]},
    )
    sizes = {}
    for name, own in (("whole", whole), ("part", part), ("none", Outcomes())):
        files = {file.name: file for file in draw_figures(own, tmp_path / name)}
        sizes[name] = plt.imread(files["f1.png"]).shape[:2]
    assert sizes == {"whole": (1050, 1350), "part": (750, 675), "none": (1050, 1350)}


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
    planned = plan_sensitivity("half", 2, tmp_path)
    compared = 3  # VAoI, FedAvg, FedBacys
    assert len(planned.runs) == (compared + len(VARIANTS)) * len(SENSITIVE) * 2
    assert len({run.experiment.to_toml() for run in planned.runs}) == len(planned.runs)
    assert len({run.directory for run in planned.runs}) == len(planned.runs)
    assert all("\nalpha = 0.1\n" in run.experiment.to_toml() for run in planned.runs)
    grid = plan_paper("half", 2, tmp_path)
    shared = {run.directory: run.experiment.to_toml() for run in grid.runs}
    taken = [run for run in planned.runs if run.directory in shared]
    assert len(taken) == compared * len(SENSITIVE) * 2  # run once, for both
    assert all(shared[run.directory] == run.experiment.to_toml() for run in taken)


def test_the_smoke_scale_has_every_variant_too(tmp_path: Path) -> None:
    ks = {
        run.directory.parent.name: run.experiment.given["policy"] for run in plan_sensitivity("smoke", 1, tmp_path).runs
    }
    assert (ks["vaoi-k-5"]["k"], ks["vaoi-k-50"]["k"]) == (5, 20)  # of 20 clients


def test_variants_are_for_two_harvests(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--sensitivity is for p_bc 0\.1 and 0\.01, not 1\."):
        plan_sensitivity("smoke", 1, tmp_path, harvests=[1.0])


def test_a_variant_is_compared_with_its_policy_over_common_seeds(tmp_path: Path) -> None:
    cell = (0.1, 0.01)
    own = outcomes(vaoi={"f1": 0.6, "energy": 90.0})
    varied: Varied = {
        ("vaoi-logits", 0.01, 0): outcome_of(series(f1=0.7, energy=100.0, age=1.0)),
        ("vaoi-logits", 0.01, 7): outcome_of(series()),  # no run without the change has this seed
        ("oldest", 0.01, 0): outcome_of(series(f1=0.5, energy=100.0)),
    }
    assert own.runs[cell, "vaoi", 0].late_f1 == pytest.approx(0.6)
    lines = variants_page(varied, own.runs)
    logits = "logits as the feature (reading 10)"
    assert f"| {logits} | VAoI | 1 | 0.700 | +0.1 (one seed) | +10 (one seed) | -1 (one seed) |" in lines
    assert f"| {logits} | every change significant, no probe | 1 | 0.700 | +0.2 (one seed) | +0 (one seed) |" in (
        line.rpartition(" -1")[0] for line in lines
    )
    assert not any("p_bc = 0.1:" in line for line in lines)
    write_varied(varied, tmp_path)
    assert variants_page(load_varied(tmp_path), own.runs) == lines
    assert variants_page({}, own.runs) == []
