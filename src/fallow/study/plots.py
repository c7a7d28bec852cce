"""A column of a study's runs over epochs or energy: a mean line and a band over seeds for each policy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError
from fallow.plugins.wording import did_you_mean, verbatim
from fallow.study.members import StudyRun, show_value
from fallow.study.overview import group_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORT = {"energy": "energy_total", "age": "mean_age_delivered"}
"""What people call a column of epochs.csv."""

ACROSS = {"epoch": "epoch", "energy": "energy_total"}
"""What lines may go over: columns that never fall."""

TITLES = {
    "f1": "macro F1",
    "energy_total": "energy spent (units)",
    "mean_age_delivered": "mean version age (epochs)",
    "mean_age_selected": "mean version age, reset when selected (epochs)",
}
MOST_COLUMNS = 3


def draw_lines(runs: Sequence[StudyRun], axes: Sequence[str], what: str, against: str) -> "Figure":
    """Returns a figure with a panel for each point, and in it a line with a band for each policy.

    Args:
        runs: Of the study; those that did not measure both are left out.
        axes: Of the study, but for the seed.
        what: A column of epochs.csv.
        against: "epoch" or "energy".

    Raises:
        ConfigError: If no run has such a column, or numbers in it.
    """
    if against not in ACROSS:
        raise ConfigError(f"A line can't go over '{against}'; against must be {' or '.join(map(repr, ACROSS))}.")
    from matplotlib import pyplot as plt

    from fallow.reports.figures import COLOURS, DASHES
    from fallow.reports.series import band

    x_name, y_name = ACROSS[against], SHORT.get(what, what)
    curves = _read_curves(runs, x_name, y_name)
    panels = group_runs([run for run in runs if run in curves], [axis for axis in axes if axis != "policy"])
    policies = list(dict.fromkeys(run.point["policy"] for run in curves))
    columns = min(MOST_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(5.0 if columns == 1 else 3.4 * columns, 3.2 * rows),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    plt.close(figure)  # a notebook shows the figure that is returned, not also every figure that is open
    for plot, panel in zip(grid.flat, panels, strict=False):
        for line in group_runs(panel.runs, ["policy"]):
            number = policies.index(line.point["policy"])
            x, mean, least, greatest = band([curves[run] for run in line.runs])
            style = {"color": COLOURS[number % len(COLOURS)]}
            if len(line.runs) > 1:
                plot.fill_between(x, least, greatest, alpha=0.15, linewidth=0, **style)
            dashes: Any = DASHES[number % len(DASHES)]
            plot.plot(x, mean, linestyle=dashes, label=verbatim(str(line.point["policy"])), linewidth=1.4, **style)
        title = ", ".join(f"{key} = {show_value(value)}" for key, value in panel.point.items())
        plot.set_title(verbatim(title), fontsize=9)
        plot.set_xlabel(TITLES.get(x_name, x_name))
        plot.grid(alpha=0.25)
    for spare in list(grid.flat)[len(panels) :]:
        spare.set_visible(False)
    for first in grid[:, 0]:
        first.set_ylabel(TITLES.get(y_name, y_name))
    grid.flat[0].legend(frameon=False, fontsize=8)
    return figure


Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


def _read_curves(runs: Sequence[StudyRun], x_name: str, y_name: str) -> dict[StudyRun, Curve]:
    """Returns x and y of every run that has numbers for both."""
    known = {name for run in runs for name in run.series.epochs}
    for name in (x_name, y_name):
        if name not in known:
            raise ConfigError(f"There is no column '{name}' in the runs of this study{did_you_mean(name, known)}")
    curves = {}
    for run in runs:
        columns = run.series.epochs
        if x_name in columns and y_name in columns:
            measured = ~np.isnan(columns[x_name]) & ~np.isnan(columns[y_name])
            if measured.any():
                curves[run] = columns[x_name][measured], columns[y_name][measured]
    if not curves:
        raise ConfigError(f"No run of this study measured {y_name}.")
    return curves
