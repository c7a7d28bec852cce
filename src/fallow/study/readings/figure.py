"""The picture of the readings: energy as a share of FedAvg's, by reading."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fallow.study.figures import COLOURS, save_figure
from fallow.study.grid import HARVESTS, NAMES
from fallow.study.readings.spent import Spent
from fallow.study.verdicts import PAPER_SAVING

FIGURE = "readings"
DASHES = ("-", "--", "-.", ":")
MARKS = {"window": "s", "deadline": "D", "across-epochs": "o"}


def draw_readings(rows: Sequence[Spent], folder: Path) -> list[Path]:
    """Draws what VAoI and FedBacys-Odd spend under each reading, without a limit of starts, and returns the files.

    Args:
        rows: What each policy spent under each reading.
        folder: Where the files go.
    """
    unlimited = [row for row in rows if row.starts == 0]

    def draw(plt: Any) -> Any:
        figure, axes = plt.subplots(1, len(HARVESTS), figsize=(9.5, 3.9), sharey=True, squeeze=False)
        for axis, p in zip(axes[0], HARVESTS, strict=True):
            _panel(axis, [row for row in unlimited if row.p == p])
            axis.set_title(f"p$_{{bc}}$ = {p:g}", fontsize=10)
        axes[0][0].set_ylabel("energy, of FedAvg's")
        axes[0][0].set_ylim(0, 1.08)
        axes[0][len(HARVESTS) // 2].set_xlabel("share of changes that are significant")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False, fontsize=7)
        figure.tight_layout(rect=(0, 0.16, 1, 1))
        return figure

    return save_figure(draw, folder / FIGURE)


def _panel(axis: Any, rows: Sequence[Spent]) -> None:
    whole = {row.significance: row.energy for row in rows if row.policy == "fedavg"}
    axis.axhline(1 - PAPER_SAVING, color="0.6", linewidth=0.8, label=f"{PAPER_SAVING:.0%} saved")
    for policy in ("fedbacys-odd", "vaoi"):
        for place, reading in enumerate(dict.fromkeys(row.reading for row in rows if row.policy == policy)):
            own = [row for row in rows if (row.policy, row.reading) == (policy, reading) if whole[row.significance]]
            xs = [row.significance for row in own]
            ys = [row.energy / whole[row.significance] for row in own]
            label = f"{NAMES[policy]}, {reading}"
            if policy == "vaoi":
                axis.plot(xs, ys, DASHES[place % len(DASHES)], color=COLOURS[policy], label=label, linewidth=1.3)
            else:
                turns, _, grouping = reading.partition(" ")
                face = COLOURS[policy] if grouping == "fixed" else "white"
                axis.plot(
                    xs,
                    ys,
                    MARKS.get(turns, "v"),
                    color=COLOURS[policy],
                    markerfacecolor=face,
                    markersize=4,
                    label=label,
                )
    axis.grid(alpha=0.25)
