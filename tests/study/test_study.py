"""Studies: what they read, and their figures worked by hand."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fallow.errors import ConfigError, RunDirectoryError
from fallow.policies import FedAvg, VAoI
from fallow.runs.run import load_run
from fallow.study.overview import mean_and_spread
from fallow.study.study import Study, load_study
from tests.study.written_runs import scores, write_run


def test_runs_are_told_apart_by_what_differs_between_their_configs(study: Study) -> None:
    assert study.axes == ["policy"]
    runs = study.runs
    assert list(runs.policy.unique()) == ["vaoi(k=5)", "vaoi(k=10)", "fedavg"]
    assert list(runs.columns[:3]) == ["policy", "seed", "directory"]
    assert list(runs.energy_total) == [100, 101, 102, 200, 200, 200, 400, 400, 400]
    assert Path(runs.directory[0]).name == "a0"


def test_the_table_has_means_and_deviations_by_hand(study: Study) -> None:
    table = study.table().set_index("policy")
    assert table.energy_total["vaoi(k=5)"] == 101
    assert table.energy_total_sd["vaoi(k=5)"] == pytest.approx(1)
    assert table.f1["fedavg"] == pytest.approx(0.6)
    assert list(table.runs) == [3, 3, 3]


def test_a_table_by_another_setting_averages_over_the_rest(study: Study) -> None:
    table = study.table(by="policy.name")
    assert list(table["policy.name"]) == ["vaoi", "fedavg"]
    assert list(table.runs) == [6, 3]
    assert table.energy_total[0] == pytest.approx((303 + 600) / 6)
    with pytest.raises(
        ConfigError, match=r"There is no setting 'policy.nam' in this study; did you mean 'policy.name'\?"
    ):
        study.table(by=["policy.nam"])


def test_one_run_has_no_deviation(tmp_path: Path) -> None:
    write_run(tmp_path / "one", "vaoi", 0)
    table = load_study(tmp_path).table()
    assert math.isnan(table.energy_total_sd[0])
    assert "f1" not in table  # an energy-only run has no scores


def test_differences_are_paired_over_common_seeds_by_hand(study: Study) -> None:
    found = study.differences("late_f1", to="fedavg").set_index("policy")
    few, many = found.loc["vaoi(k=5)"], found.loc["vaoi(k=10)"]
    assert few.difference == pytest.approx(-0.1)
    assert (few.low, few.high) == (pytest.approx(-0.1), pytest.approx(-0.1))
    # 0.1, 0.2 and 0.3: mean 0.2, deviation 0.1, t(0.975; 2) = 4.303.
    assert many.difference == pytest.approx(0.2)
    assert many.low == pytest.approx(0.2 - 4.30265 * 0.1 / 3**0.5, abs=1e-4)
    assert many.seeds == 3
    assert "fedavg" not in found.index


@pytest.mark.parametrize(
    "to", [FedAvg(), FedAvg, "fedavg", {"policy": "fedavg"}, {"policy.name": "fedavg"}, {"policy__name": "fedavg"}]
)
def test_a_baseline_is_an_object_a_name_or_a_point(study: Study, to: object) -> None:
    assert list(study.differences("energy_total", to=to).difference) == [-299, -200]


@pytest.mark.parametrize("to", [VAoI(k=5), "vaoi(k=5)", {"policy.k": 5}, {"policy": "vaoi(k=5)"}])
def test_an_option_tells_one_baseline_from_another(study: Study, to: object) -> None:
    assert list(study.differences("energy_total", to=to).difference) == [99, 299]


def test_only_common_seeds_count(study: Study, tmp_path: Path) -> None:
    (tmp_path / "c1" / "summary.json").unlink()
    (tmp_path / "c2" / "summary.json").unlink()
    found = load_study(tmp_path).differences("energy_total", to="fedavg")
    assert list(found.seeds) == [1, 1]
    assert list(found.low) == [-math.inf, -math.inf]
    assert study.differences("energy_total", to="fedavg").seeds[0] == 3


def test_on_axes_that_a_baseline_leaves_open_like_is_compared_with_like(tmp_path: Path) -> None:
    for p, seed, policy, energy in [
        (0.1, 0, "vaoi", 10),
        (0.1, 0, "fedavg", 30),
        (1.0, 0, "vaoi", 100),
        (1.0, 0, "fedavg", 500),
    ]:
        write_run(tmp_path / f"{policy}{p}", policy, seed, energy=energy, settings={"energy": {"p": p}})
    study = load_study(tmp_path)
    assert study.axes == ["policy", "energy.p"]
    found = study.differences("energy_total", to="fedavg").set_index("energy.p")
    assert dict(found.difference) == {0.1: -20, 1.0: -400}
    found = study.differences("energy_total", to={"energy.p": 0.1}).set_index("policy")
    assert dict(found.difference) == {"vaoi": 90, "fedavg": 470}


@pytest.mark.parametrize(
    ("metric", "to", "words"),
    [
        ("energy_totl", "fedavg", "There is no metric 'energy_totl'; did you mean 'energy_total'?"),
        (
            "late_f1",
            "oldest",
            "No run of this study has policy = oldest; its policies are vaoi(k=5), vaoi(k=10)",
        ),
        ("late_f1", "vaoi", "The baseline is several runs of one seed (vaoi(k=5), vaoi(k=10)); give to= with more"),
    ],
)
def test_a_wrong_comparison_is_one_sentence(study: Study, metric: str, to: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        study.differences(metric, to=to)
    assert words in str(caught.value)


def test_the_table_has_how_evenly_clients_are_served(tmp_path: Path) -> None:
    for seed, worst in enumerate([0.1, 0.3]):
        served = {"client_accuracy_worst_tenth": worst, "client_accuracy_sd": 0.25, "jain_index_accuracy": 0.8}
        write_run(tmp_path / str(seed), "vaoi", seed, f1=scores(0.5), summary=served)
    study = load_study(tmp_path)
    headings, (row,) = study.cells()
    assert headings[5:8] == ["worst tenth", "client sd", "Jain's index"]
    assert row[5:8] == ["0.200 ± 0.141", "0.250 ± 0.000", "0.800 ± 0.000"]
    assert study.table().client_accuracy_worst_tenth[0] == pytest.approx(0.2)
    assert list(study.runs.client_accuracy_worst_tenth) == [0.1, 0.3]


def test_a_study_without_learning_has_no_scores_to_reach(tmp_path: Path) -> None:
    write_run(tmp_path / "one", "vaoi", 0)
    study = load_study(tmp_path)
    for ask in (
        lambda: study.energy_to(f1=0.4),
        lambda: study.table(target=0.4),
        lambda: study.differences("late_f1", to="vaoi"),
    ):
        with pytest.raises(ConfigError, match="was not measured: no run of this study learns"):
            ask()


def test_a_plot_has_a_line_and_a_band_for_each_policy(study: Study) -> None:
    figure = study.plot("f1")
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["vaoi(k=5)", "vaoi(k=10)", "fedavg"]
    assert len(axes.collections) == 3
    assert list(axes.lines[2].get_xdata()) == [4, 8, 9]
    assert list(axes.lines[2].get_ydata()) == [pytest.approx(0.1), pytest.approx(0.4), pytest.approx(0.6)]
    assert study.plot("energy").axes[0].get_ylabel() == "energy spent (units)"
    assert study.plot("f1", against="energy").axes[0].get_xlabel() == "energy spent (units)"


@pytest.mark.parametrize(
    ("what", "against", "words"),
    [
        ("strts", "epoch", "There is no column 'strts' in the runs of this study; did you mean 'starts'?"),
        ("f1", "loss", "A line can't go over 'loss'; against must be 'epoch' or 'energy'."),
    ],
)
def test_a_wrong_plot_is_one_sentence(study: Study, what: str, against: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        study.plot(what, against)
    assert str(caught.value) == words


def test_a_dollar_in_a_name_begins_no_formula_in_plots(tmp_path: Path) -> None:
    for number, policy in enumerate((r"mine:$\frac$", "fedavg")):
        for p, label in ((0.1, "x"), (0.2, "$^$")):
            settings = {"energy": {"p": p}, "data": {"name": label}}
            write_run(tmp_path / f"{number}{p}", policy, 0, f1=scores(0.5), settings=settings)
    figure = load_study(tmp_path).plot("f1")
    figure.draw_without_rendering()  # where a formula would be read
    run = load_run(tmp_path / "00.1").plot("f1", Figure().add_subplot())
    run.legend()
    run.figure.draw_without_rendering()


def test_latex_is_escaped_and_has_rules(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "my_mod:50%&Co", 0, energy=1234)
    write_run(tmp_path / "b", "fedavg", 0, energy=20)
    lines = load_study(tmp_path).to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrr}"
    assert lines[2] == r"policy & units & trainings & mean age & seeds \\"
    assert r"my\_mod:50\%\&Co & $1{,}234$ & $7$ & $2.50$ & $1$ \\" in lines
    assert [line for line in lines if line.startswith("\\") and line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]


def test_ages_by_two_distances_are_not_one_column(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "vaoi", 0, summary={"ages": "feature"})
    write_run(tmp_path / "b", "vaoi-parameters", 0, summary={"ages": "parameters", "mean_age_delivered": 9.0})
    write_run(tmp_path / "c", "fedavg", 0, summary={"ages": None, "mean_age_delivered": None})
    headings, rows = load_study(tmp_path).cells()
    assert headings == ["policy", "units", "trainings", "mean age (feature)", "mean age (parameters)", "seeds"]
    assert [row[3:5] for row in rows] == [["2.50", "–"], ["–", "9.00"], ["–", "–"]]


def test_without_measured_ages_there_is_no_column(tmp_path: Path) -> None:
    write_run(tmp_path / "c", "fedavg", 0, summary={"mean_age_delivered": None})
    assert load_study(tmp_path).cells()[0] == ["policy", "units", "trainings", "seeds"]


def test_a_notebook_sees_the_table_and_what_is_missing(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "<b>", 0)
    write_run(tmp_path / "b", "fedavg", 0, finished=False)
    shown = load_study(tmp_path)._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "1 more are not finished" in shown


def test_what_follows_from_a_name_is_no_axis_of_its_own(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "vaoi", 0, settings={"aggregation": {"name": "shrinkage", "m": 5}})
    write_run(tmp_path / "b", "vaoi", 0, settings={"aggregation": {"name": "received"}})
    write_run(tmp_path / "c", "vaoi", 1, settings={"aggregation": {"name": "received"}, "output": {"events": False}})
    assert load_study(tmp_path).axes == ["policy", "aggregation.name"]


def test_a_study_is_read_though_its_modules_are_gone_and_nothing_is_executed(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text("raise SystemExit('executed')\n")
    write_run(tmp_path / "runs" / "a", "gone:Policy", 0, settings={"data": {"name": "gone:data"}})
    code = "import sys; from fallow.study.study import load_study; s = load_study('runs'); print(s.table().policy[0])"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout == "gone:Policy\n"


def test_what_is_no_sweep_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="is no folder of a sweep: it holds no runs"):
        load_study(tmp_path)
    with pytest.raises(RunDirectoryError, match="is no folder of a sweep: it is a run itself"):
        load_study(write_run(tmp_path / "one", "vaoi", 0))


def test_a_study_without_a_finished_run_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "vaoi", 0, finished=False)
    study = load_study(tmp_path)
    assert len(study) == 0
    assert study.runs.empty
    assert study.cells() == (["seeds"], [])
    with pytest.raises(RunDirectoryError, match="There is no finished run in"):
        study.report()


def test_a_summary_that_is_damaged_is_one_sentence(tmp_path: Path) -> None:
    (write_run(tmp_path / "a", "vaoi", 0) / "summary.json").write_text(json.dumps([]))
    with pytest.raises(RunDirectoryError, match=r"summary\.json"):
        load_study(tmp_path)


def test_mean_and_spread_by_hand() -> None:
    assert mean_and_spread([1.0, 2.0, 3.0], 2) == "2.00 ± 1.00"
    assert mean_and_spread([1234.0], 0) == "1,234"
