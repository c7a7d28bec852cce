from pathlib import Path

import pytest

from fallow.reports.figures import _age, _bars, _curves, _group, _panels, _score_by_energy, draw_figures
from fallow.reports.runs import read_runs
from tests.reports.made_runs import live, make_up

FOUR = ("vaoi", "fedavg", "fedbacys", "fedbacys-odd")


def test_every_figure_is_written_as_pdf_and_png(tmp_path: Path) -> None:
    for seed in (0, 1):
        for policy in ("vaoi", "fedavg"):
            make_up(tmp_path / "runs" / f"{policy}-{seed}", policy=policy, seed=seed, epochs=50)
    written = draw_figures(read_runs([tmp_path / "runs"])[0], tmp_path)
    names = {"f1-against-epochs", "f1-against-energy", "mean-age", "energy-by-use"}
    assert {path.name for path in written} == {f"{name}.{end}" for name in names for end in ("pdf", "png")}
    assert all(path.read_bytes().startswith((b"%PDF", b"\x89PNG")) for path in written)


def test_an_energy_only_run_has_no_score_figures(tmp_path: Path) -> None:
    written = draw_figures(read_runs([live(tmp_path / "run")])[0], tmp_path)
    assert {path.stem for path in written} == {"mean-age", "energy-by-use"}


def test_figures_bear_no_date(tmp_path: Path) -> None:
    written = draw_figures(read_runs([live(tmp_path / "run")])[0], tmp_path)
    assert not any(b"CreationDate" in path.read_bytes() for path in written)


def test_many_settings_make_many_panels(tmp_path: Path) -> None:
    for number in range(5):
        make_up(tmp_path / "runs" / str(number), p=0.01 * (number + 1), epochs=10)
    groups = _group(read_runs([tmp_path / "runs"])[0])
    assert list(groups) == [f"p_bc = 0.0{number}" for number in range(1, 6)]
    figure, grid = _panels(groups, 2.0, share=False)
    assert (len(grid), len(figure.axes)) == (5, 6)


@pytest.mark.parametrize(("settings", "words"), [(12, []), (14, ["12 of 14 panels are drawn"])])
def test_panels_that_are_left_out_are_counted(settings: int, words: list[str], tmp_path: Path) -> None:
    for number in range(settings):
        make_up(tmp_path / "runs" / str(number), p=0.01 * (number + 1), epochs=10)
    runs = read_runs([tmp_path / "runs"])[0]
    for figure in (_bars(_group(runs)), _curves(_group(runs), _age, "epoch", "age")):
        assert sum(axes.get_visible() for axes in figure.axes) == 12
        assert [text.get_text().split(";")[0] for text in figure.texts] == words


@pytest.mark.parametrize("settings", [1, 2, 3])
@pytest.mark.parametrize("policies", [FOUR, ("vaoi",), ("my_policies:TheOneWithTheLongestNameOfAll", *FOUR)])
def test_the_legend_and_every_number_are_inside_the_figure(
    policies: tuple[str, ...], settings: int, tmp_path: Path
) -> None:
    for number in range(settings):
        for policy in policies:
            make_up(tmp_path / "runs" / f"{number}-{policy}", policy=policy, p=0.1 * (number + 1), epochs=10)
    groups = _group(read_runs([tmp_path / "runs"])[0])
    for figure in (_bars(groups), _curves(groups, _score_by_energy, "energy", "F1", share=True)):
        figure.draw_without_rendering()
        (legend,) = figure.legends
        inside = figure.bbox.padded(-5)
        shown = [label for axes in figure.axes for label in axes.get_xticklabels() if label.get_text()]
        limits = [axes.get_xlim()[1] for axes in figure.axes for label in axes.get_xticklabels() if label.get_text()]
        numbers = [label for label, limit in zip(shown, limits, strict=True) if label.get_position()[0] <= limit]
        for part in (legend, *numbers):
            assert inside.x0 <= part.get_window_extent().x0
            assert part.get_window_extent().x1 <= inside.x1
        assert legend.get_window_extent().y0 >= max(axes.get_window_extent().y1 for axes in figure.axes)


def test_bars_end_before_the_edge(tmp_path: Path) -> None:
    (run,), _ = read_runs([live(tmp_path / "run", energy__p=0.1, epochs=12)])
    (axes,) = _bars(_group([run])).axes
    assert axes.get_xlim() == (0, 1.05 * run.summary["harvested"])  # all that came in was used, lost or is stored


def test_a_dollar_in_a_name_begins_no_formula(tmp_path: Path) -> None:
    for number, policy in enumerate((r"mine:$\frac$", r"a$^$b", "[$")):
        make_up(tmp_path / "runs" / str(number), policy=policy, epochs=10)
    written = draw_figures(read_runs([tmp_path / "runs"])[0], tmp_path)
    assert len(written) == 8
