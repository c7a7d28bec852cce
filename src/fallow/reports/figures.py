"""Figures for publications, as PDF and PNG: a panel for each setting, in colours and dashes that all can tell apart."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fallow.reports.clients import read_ranked_accuracy
from fallow.reports.differences import order_lines, order_panels, place_runs
from fallow.reports.runs import ReportedRun
from fallow.reports.series import band
from fallow.reports.uses import uses_of
from fallow.runs.thresholds import OWN, age_threshold, say_thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's, but for yellow, which white paper swallows."""

DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 2)), (0, (7, 2, 2, 2)), (0, (7, 2, 2, 2, 2, 2)))
MARKERS = "os^Dv"
LOOKS: dict[str, tuple[str, str]] = {
    "consumed_train": (COLOURS[0], ""),
    "consumed_tx": (COLOURS[1], "////"),
    "consumed_probe": (COLOURS[2], "...."),
    "consumed_listen": (COLOURS[3], "\\\\\\\\"),
    "consumed_download": (COLOURS[4], "||||"),
    "consumed_idle": (COLOURS[5], "----"),
    "conversion_loss": ("0.85", "////"),
    "leakage": ("0.85", "...."),
    "overflow": ("0.85", "xx"),
    "stored": ("#ECD9A0", ""),
}
"""Colour and hatching of each use of energy; losses are grey."""

MOST_PANELS = 12
"""Panels of a figure; how many more there are is written below it."""

ONE_ROW = 0.3
"""Inches that a legend of one row is high; every figure has room for it."""

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,  # letters stay letters, which publishers ask for
    "legend.frameon": False,
    "text.parse_math": False,  # a $ in a name is a letter
}

Groups = dict[str, dict[str, list[ReportedRun]]]
"""Runs by panel and line."""

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


def draw_figures(runs: Sequence[ReportedRun], out: Path) -> tuple[Path, ...]:
    """Draws every figure that the runs have numbers for, each as PDF and PNG, and returns the files.

    Args:
        runs: The finished runs.
        out: The folder of the figures.
    """
    import matplotlib as mpl  # takes a second: only for those who draw

    groups = _group(runs)
    learning = _group([run for run in runs if run.learns])
    ranked = {run: accuracy for run in runs if (accuracy := read_ranked_accuracy(run)) is not None and accuracy.size}
    ageing = _group([run for run in runs if run.has_ages])
    own = f", {OWN}" if say_thresholds(age_threshold(run.settings, run.summary) for run in runs if run.has_ages) else ""
    written: list[Path] = []
    with mpl.rc_context():
        mpl.rcdefaults()  # not the user's own style, so that equal reports have equal bytes
        mpl.rcParams.update(STYLE)
        for name, figure in (
            ("f1-against-epochs", _curves(learning, _score_by_epoch, "epoch", "macro F1", share=True)),
            ("f1-against-energy", _curves(learning, _score_by_energy, "energy spent (units)", "macro F1", share=True)),
            (
                "client-accuracy",
                _curves(
                    _group(list(ranked)),
                    lambda run: (np.arange(1.0, len(ranked[run]) + 1), ranked[run]),
                    "clients, the worst first",
                    "accuracy on own samples",
                    share=True,
                ),
            ),
            ("mean-age", _curves(ageing, _age, "epoch", f"mean version age (epochs{own})")),
            ("energy-by-use", _bars(groups)),
        ):
            if figure is not None:
                # A date in the file would make equal reports differ.
                figure.savefig(out / f"{name}.pdf", metadata={"CreationDate": None})
                figure.savefig(out / f"{name}.png", dpi=200)
                written += [out / f"{name}.pdf", out / f"{name}.png"]
    return tuple(written)


def _group(runs: Sequence[ReportedRun]) -> Groups:
    if not runs:
        return {}
    places = place_runs(runs)
    lines = order_lines(place.line for place in places)
    groups: Groups = {}
    for panel in order_panels(places):
        groups[panel] = {}
        for line in lines:
            own = [run for run, place in zip(runs, places, strict=True) if (place.panel, place.line) == (panel, line)]
            if own:
                groups[panel][line] = own
    return groups


def _lines(groups: Groups) -> list[str]:
    """Returns the lines of the panels that are drawn."""
    return order_lines(line for own in list(groups.values())[:MOST_PANELS] for line in own)


def _wrapped(panel: str) -> str:
    """Returns the title of a panel in lines that its width holds."""
    return "\n".join(textwrap.wrap(panel, 40))


def _score_by_epoch(run: ReportedRun) -> Curve:
    measured = np.flatnonzero(~np.isnan(run.epochs["f1"]))
    return measured.astype(np.float64), run.epochs["f1"][measured]


def _score_by_energy(run: ReportedRun) -> Curve:
    measured = np.flatnonzero(~np.isnan(run.epochs["f1"]))
    return run.epochs["energy_total"][measured], run.epochs["f1"][measured]


def _age(run: ReportedRun) -> Curve:
    ages = run.epochs["mean_age_delivered"]
    return np.arange(len(ages), dtype=np.float64), ages


def _panels(groups: Groups, height: float, *, share: bool) -> tuple["Figure", list["Axes"]]:
    """Returns a figure with room for each panel, as far as they are drawn."""
    from matplotlib.figure import Figure

    count = min(len(groups), MOST_PANELS)
    columns = min(3, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(4.2 if columns == 1 else 3.1 * columns, height * rows + 0.5))
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.06)  # inches; without, the last number meets the edge
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share).ravel().tolist()
    for spare in grid[count:]:
        spare.set_visible(False)
    if len(groups) > count:
        figure.supxlabel(f"{count} of {len(groups)} panels are drawn; report.html shows all of them.", fontsize=8)
    return figure, grid[:count]


def _curves(
    groups: Groups, curve: Callable[[ReportedRun], Curve], x_title: str, y_title: str, *, share: bool = False
) -> "Figure | None":
    """Draws a mean line, and a band from the least to the greatest seed, for each line of each panel."""
    if not groups:
        return None
    figure, grid = _panels(groups, 2.6, share=share)
    lines = _lines(groups)
    seen: dict[str, Any] = {}
    top = 0.0
    for axes, (panel, own) in zip(grid, groups.items(), strict=False):
        for line, runs in own.items():
            number = lines.index(line)
            x, mean, least, greatest = band([curve(run) for run in runs])
            colour = COLOURS[number % len(COLOURS)]
            if len(runs) > 1:
                axes.fill_between(x, least, greatest, color=colour, alpha=0.15, linewidth=0)
            seen[line] = axes.plot(
                x,
                mean,
                color=colour,
                linestyle=DASHES[number % len(DASHES)],
                marker=MARKERS[number % len(MARKERS)],
                markevery=max(1, len(x) // 6),
                markersize=3.5,
                linewidth=1.4,
            )[0]
        axes.set_title(_wrapped(panel), fontsize=9, loc="left")
        axes.set_xlabel(x_title)
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=6)
        top = max(top, axes.dataLim.ymax)
        axes.set_ylim(0, (1.05 * top or 1) if share else None)
    for axes in grid[:: min(3, len(grid))]:
        axes.set_ylabel(y_title)
    _add_legend(figure, {line: seen[line] for line in lines if line in seen})
    return figure


def _bars(groups: Groups) -> "Figure":
    """Draws a stacked bar for each line of each panel: what the energy was used for, and what was lost or kept."""
    lines = _lines(groups)
    uses = uses_of([run for own in groups.values() for runs in own.values() for run in runs])
    figure, grid = _panels(groups, 0.8 + 0.3 * len(lines), share=True)
    handles: dict[str, Any] = {}
    for axes, (panel, own) in zip(grid, groups.items(), strict=False):
        left = np.zeros(len(lines))
        for key, use in uses:
            amounts = {line: [run.summary.get(key, 0) for run in own[line]] for line in lines if line in own}
            units = np.array([np.mean(amounts.get(line, 0)) for line in lines])
            colour, hatch = LOOKS[key]
            handles[use] = axes.barh(
                range(len(lines)),
                units,
                left=left,
                height=0.62,
                color=colour,
                hatch=hatch,
                edgecolor="0.5" if colour == "0.85" else "white",
                linewidth=0.4,
            )
            left += units
        axes.set_yticks(range(len(lines)), lines)
        axes.grid(visible=False, axis="y")
        axes.set_title(_wrapped(panel), fontsize=9, loc="left")
        axes.set_xlabel("energy (units)")
        axes.set_xlim(0, 1.05 * left.max() or 1)
        axes.locator_params(axis="x", nbins=5)
    grid[0].invert_yaxis()  # the axis is shared
    _add_legend(figure, handles)
    return figure


def _add_legend(figure: "Figure", handles: dict[str, Any]) -> None:
    """Puts a legend above the panels, in as many columns as the figure is wide for, and adds the height of its rows."""
    words = [_wrapped(line) for line in handles]
    count = len(words)
    for rows in range(-(-count // 4), count + 1):
        legend = figure.legend(handles.values(), words, loc="outside upper left", ncols=-(-count // rows))
        size = legend.get_window_extent()
        if size.width <= 0.95 * figure.bbox.width or rows == count:
            break
        legend.remove()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + max(0, size.height / figure.dpi - ONE_ROW))
