"""Three batteries with little, some and plenty of energy.

python docs/figures/battery.py
"""

import numpy as np
from film import Film, stretches, watch_run
from matplotlib.patches import Patch
from style import FAINT, HARVEST, INK, SEND, TRAIN, canvas, save

from fallow.experiment import Experiment

SETTINGS = {
    "clients": 3,
    "epochs": 6,
    "energy": {"p": [0.02, 0.3, 0.9]},
    "battery": {"initial": [18, 20, 20]},
    "policy": {"name": "vaoi", "k": 1},
}
SLOTS, CAPACITY, TRAINING = 30, 25, 20


def film() -> Film:
    """Runs it."""
    return watch_run(Experiment.parse(SETTINGS))


def facts(seen: Film) -> list[str]:
    """Says where each client's energy went."""
    lines = []
    for client, (p, initial) in enumerate(zip(SETTINGS["energy"]["p"], SETTINGS["battery"]["initial"], strict=True)):
        trainings = sum(who == client for _, who, _ in seen.events("start"))
        sent, waited = int(seen.sent[:, client].sum()), int(seen.unsent[:, client].sum())
        harvested, lost = int(seen.harvested[:, client].sum()), int(seen.overflow[:, client].sum())
        stored = int(seen.battery[-1, client])
        lines.append(
            f"p = {p}: {initial} at first + {harvested} harvested = {20 * trainings + sent} spent + {stored} stored + "
            f"{lost} lost; an update waits in {waited} slots"
        )
    return lines


def draw(seen: Film) -> None:
    """Draws a panel for each battery."""
    figure, axes = canvas(5.6, nrows=3, sharex=True, sharey=True)
    slots = np.arange(len(seen.battery) + 1)
    for client, (axis, p) in enumerate(zip(axes, SETTINGS["energy"]["p"], strict=True)):
        for shown, colour in ((seen.training, TRAIN), (seen.unsent, SEND)):
            axis.broken_barh(stretches(shown[:, client]), (0, CAPACITY), color=colour, alpha=0.28, lw=0)
        axis.stairs(seen.battery[:, client], slots, color=INK, lw=1.4, baseline=None)
        axis.axhline(CAPACITY, color=INK, lw=0.8, ls=(0, (4, 3)))
        axis.axhline(TRAINING, color=TRAIN, lw=0.8, ls=(0, (1, 2)))
        sends = np.flatnonzero(seen.sent[:, client])
        axis.scatter(sends + 0.5, seen.battery[sends, client], s=34, color=SEND, zorder=3)
        for height, units, colour in ((-2.5, seen.harvested, HARVEST), (27.5, seen.overflow, SEND)):
            when = np.flatnonzero(units[:, client]) + 0.5
            axis.scatter(
                when, np.full(when.shape, height), s=5, color=colour, marker="o" if height < 0 else "x", lw=0.8
            )
        for epoch in range(len(seen.records) + 1):
            axis.axvline(epoch * SLOTS, color=FAINT, lw=0.8, zorder=0)
        axis.set(ylim=(-5, 30), yticks=[0, TRAINING, CAPACITY], ylabel=f"units (p = {p})", xlim=(0, slots[-1]))
    axes[-1].set(xlabel="slot", xticks=range(0, slots[-1] + 1, SLOTS))
    handles = [
        axes[0].plot([], [], color=INK, label="battery")[0],
        Patch(color=TRAIN, alpha=0.28, label="trains"),
        Patch(color=SEND, alpha=0.28, label="update waits"),
        axes[0].scatter([], [], s=34, color=SEND, label="sends"),
        axes[0].scatter([], [], s=9, color=HARVEST, label="a unit harvested"),
        axes[0].scatter([], [], s=14, color=SEND, marker="x", lw=0.8, label="a unit lost"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=6)
    save(figure, "battery")


if __name__ == "__main__":
    run = film()
    draw(run)
    print("\n".join(facts(run)))
