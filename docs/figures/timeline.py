"""Six clients over four epochs: slots, epochs, trainings, uploads and how late they are.

python docs/figures/timeline.py
"""

from film import Film, stretches, watch_run
from matplotlib.patches import Patch
from style import FAINT, HARVEST, INK, PAPER, SEND, TRAIN, canvas, save

from fallow.experiment import Experiment

SETTINGS = {
    "clients": 6,
    "epochs": 4,
    "energy": {"p": 0.3},
    "battery": {"initial": 12},
    "policy": {"name": "vaoi", "k": 2},
}
SLOTS = 30


def film() -> Film:
    """Runs it."""
    return watch_run(Experiment.parse(SETTINGS))


def facts(seen: Film) -> list[str]:
    """Says who was selected and what came of it."""
    lines = [f"epoch {epoch}: selected {_selected(seen, epoch)}" for epoch in range(len(seen.records))]
    starts = {client: slot for slot, client, _ in reversed(seen.events("start"))}
    for slot, client, late in seen.events("upload")[:3]:
        when = f"{late} epoch late" if late else "in time"
        lines.append(f"client {client}: starts in slot {starts[client]}, sends in slot {slot}, {when}")
    return lines


def draw(seen: Film) -> None:
    """Draws a lane for each client."""
    figure, (axis,) = canvas(4.2)
    slots, clients = seen.battery.shape
    for client in range(clients):
        axis.axhline(client, color=FAINT, lw=0.8, zorder=0)
        for shown, colour in ((seen.training, TRAIN), (seen.sent > 0, SEND)):
            axis.broken_barh(stretches(shown[:, client]), (client - 0.26, 0.52), color=colour, lw=0)
        charged = [slot + 0.5 for slot in range(slots) if seen.harvested[slot, client]]
        axis.scatter(charged, [client + 0.38] * len(charged), s=7, color=HARVEST, lw=0)
    for slot, client, late in seen.events("upload"):
        if late:
            axis.annotate(f"{late} epoch late", (slot + 1.4, client - 0.02), va="bottom", fontsize=8)
    for epoch in range(len(seen.records) + 1):
        axis.axvline(epoch * SLOTS, color=INK, lw=1, ls=(0, (4, 3)))
    for epoch in range(len(seen.records)):
        axis.annotate(f"epoch {epoch}", (epoch * SLOTS + SLOTS / 2, -1.0), ha="center", weight="bold")
        for client in _selected(seen, epoch):
            axis.plot(epoch * SLOTS + 0.5, client - 0.42, marker="v", ms=6, color=INK, clip_on=False)
    axis.annotate("", (0, -0.72), (SLOTS, -0.72), arrowprops={"arrowstyle": "<->", "color": INK, "lw": 0.8})
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
    axis.text(SLOTS / 2, -0.72, "S = 30 slots", ha="center", va="center", fontsize=9, bbox=box)
    for slot, client, _ in seen.events("start"):
        axis.text(slot + 10, client, "κ = 20", ha="center", va="center", fontsize=9, color=PAPER)
    axis.set(xlim=(-0.5, slots + 0.5), ylim=(clients - 0.4, -1.4), xticks=range(0, slots + 1, 10), xlabel="slot")
    axis.set_yticks(range(clients), [f"client {client}" for client in range(clients)])
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    handles = [
        axis.plot([], [], marker="v", ls="", color=INK, label="selected")[0],
        Patch(color=TRAIN, label="trains"),
        Patch(color=SEND, label="sends"),
        axis.plot([], [], marker="o", ms=3, ls="", color=HARVEST, label="harvests a unit")[0],
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    save(figure, "timeline")


def _selected(seen: Film, epoch: int) -> list[int]:
    return [client for slot, client, _ in seen.events("select") if slot == epoch * SLOTS]


if __name__ == "__main__":
    run = film()
    draw(run)
    print("\n".join(facts(run)))
