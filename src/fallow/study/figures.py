"""The paper's three figures, in its layout, as PDF and PNG."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.outcomes import Band, Cell, Curves, Outcomes, Results, seeds_of

COLOURS = {"vaoi": "#0072B2", "fedavg": "#D55E00", "fedbacys": "#009E73", "fedbacys-odd": "#CC79A7"}
DASHES = {"vaoi": "-", "fedavg": "--", "fedbacys": "-.", "fedbacys-odd": ":"}
HATCHES = {"vaoi": None, "fedavg": "//", "fedbacys": "..", "fedbacys-odd": "xx"}
"""Colours that the colour-blind can tell apart, those of the report, and lines and bars that need no colour."""


def draw_figures(outcomes: Outcomes, folder: Path) -> list[Path]:
    """Draws F1 and version age over epochs, and energy, and returns the files.

    Args:
        outcomes: Of all finished runs under one rule.
        folder: Where the files go.
    """
    return [
        *_grid(outcomes.curves, "f1", "F1 score", folder / "f1"),
        *_grid(outcomes.curves, "age", "average version age, epochs", folder / "version-age"),
        *_energy(outcomes.runs, folder / "energy"),
    ]


def _grid(curves: Curves, what: str, title: str, path: Path) -> list[Path]:
    """A grid of the cells that were run: α from row to row, p_bc from column to column; a band over seeds."""
    alphas, harvests = (
        [value for value in values if any(cell[side] == value for cell, _, _ in curves)] or values
        for side, values in enumerate((ALPHAS, HARVESTS))
    )

    def draw(plt: Any) -> Any:
        figure, axes = plt.subplots(
            len(alphas),
            len(harvests),
            figsize=(max(4.5, 3 * len(harvests)), 1 + 2 * len(alphas)),
            sharex="col",  # a column with much energy may have been run for fewer epochs
            sharey=what == "f1",
            squeeze=False,
            layout="constrained",
        )
        for row, alpha in enumerate(alphas):
            for place, p in enumerate(harvests):
                axis = axes[row][place]
                bands = {policy: curves.get(((alpha, p), policy, what)) for policy in POLICIES}
                for policy, band in bands.items():
                    _line(axis, band, policy)
                if not any(bands.values()):
                    axis.text(0.5, 0.5, "not run", transform=axis.transAxes, ha="center", va="center", color="0.5")
                axis.set_title(f"α = {alpha:g}, p$_{{bc}}$ = {p:g}", fontsize=9)
                axis.grid(alpha=0.25)
        figure.supxlabel("epoch")
        figure.supylabel(title)
        shown = {
            label: line for axis in axes.flat for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=4, frameon=False, fontsize=8)
        return figure

    return save_figure(draw, path)


def _line(axis: Any, band: Band | None, policy: str) -> None:
    if band is None:
        return
    axis.plot(band.epochs, band.mean, DASHES[policy], color=COLOURS[policy], label=NAMES[policy], linewidth=1.4)
    if band.seeds > 1:
        axis.fill_between(band.epochs, band.low, band.high, color=COLOURS[policy], alpha=0.15, linewidth=0)


def _energy(results: Results, path: Path) -> list[Path]:
    """Bars for α = 0.1, divided within each p_bc that was run by the largest of the four."""
    harvests = [p for p in HARVESTS if any(cell == (0.1, p) for cell, _, _ in results)] or HARVESTS

    def draw(plt: Any) -> Any:
        figure, axis = plt.subplots(figsize=(5, 3))
        for place, policy in enumerate(POLICIES):
            heights = [_share(results, (0.1, p), policy) for p in harvests]
            where = np.arange(len(harvests)) + (place - 1.5) * 0.2
            axis.bar(
                where,
                heights,
                0.18,
                color=COLOURS[policy],
                label=NAMES[policy],
                hatch=HATCHES[policy],
                edgecolor="white",
            )
            for x, height in zip(where, heights, strict=True):
                axis.text(x, height + 0.01, f"{height:.2f}", ha="center", fontsize=6)
        axis.set_xticks(range(len(harvests)), [f"p$_{{bc}}$ = {p:g}" for p in harvests])
        axis.set_ylabel("energy, of the largest in the group")
        axis.set_ylim(0, 1.25)
        axis.legend(ncols=4, fontsize=6, frameon=False, loc="upper center")
        figure.tight_layout()
        return figure

    return save_figure(draw, path)


def _share(results: Results, cell: Cell, policy: str) -> float:
    energy = {name: [results[cell, name, s].energy for s in seeds_of(results, cell, name)] for name in POLICIES}
    means = {name: float(np.mean(values)) for name, values in energy.items() if values}
    most = max(means.values(), default=0.0)
    return means[policy] / most if policy in means and most else 0.0


def save_figure(draw: Callable[[Any], Any], path: Path) -> list[Path]:
    """Draws a figure and returns its two files, PDF and PNG.

    Args:
        draw: Returns the figure, given matplotlib.pyplot.
        path: The files, without an ending.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    figure = draw(plt)
    files = [path.with_suffix(ending) for ending in (".pdf", ".png")]
    for file in files:
        figure.savefig(file, dpi=150, metadata={"CreationDate": None} if file.suffix == ".pdf" else None)
    plt.close(figure)
    return files
