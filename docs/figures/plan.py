"""The plan of the rooms as a house, read off the list in docs/architecture.md.

python docs/figures/plan.py
"""

import re
from pathlib import Path
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle
from style import FAINT, HARVEST, INK, PAPER, SEND, TRAIN, canvas, save

PAGE = Path(__file__).parents[1] / "architecture.md"

FLOORS = {
    "errors": ("the ground", FAINT),
    "plugins": ("tools", FAINT),
    "energy": ("what a run\nis made of", HARVEST),
    "experiment": ("the run", TRAIN),
    "runs": ("what is kept\nand compared", SEND),
    "flower": ("the ways in", INK),
}
"""The first room of each floor, from the ground up, with what the floor is for and its colour."""

ROOF = "__init__"
"""From here on the list names the doors, which are the roof of the picture."""

Room = tuple[str, str]


def read_rooms() -> list[Room]:
    """Returns the rooms of the list with their words, from the ground up."""
    listed = PAGE.read_text(encoding="utf-8").split("```")[1]
    return re.findall(r"^(\w+/?) +(\S.*)$", listed, re.MULTILINE)


def split_floors(rooms: list[Room]) -> list[list[Room]]:
    """Returns the rooms floor by floor, and the doors last; a floor begins with a room of FLOORS."""
    floors: list[list[Room]] = []
    for room in rooms:
        if room[0].rstrip("/") in {*FLOORS, ROOF}:
            floors.append([])
        floors[-1].append(room)
    return floors


def draw_floor(axes: Axes, rooms: list[Room], bottom: float, colour: str) -> float:
    """Draws the rooms of a floor side by side, between 0 and 100; returns its height."""
    width = 100 / len(rooms)
    texts = [fill(words, int((width - 2) * 1.1), break_long_words=False) for _, words in rooms]
    height = 0.76 + 0.205 * max(text.count("\n") for text in texts)
    for place, ((name, _), text) in enumerate(zip(rooms, texts, strict=True)):
        left = width * place
        walls = (left + 0.4, bottom + 0.05), width - 0.8, height - 0.1
        axes.add_patch(Rectangle(*walls, facecolor=PAPER, edgecolor=colour, linewidth=1.8))
        axes.text(left + 1.3, bottom + height - 0.15, name.rstrip("/"), weight="bold", size=8.2, va="top")
        axes.text(left + 1.3, bottom + height - 0.4, text, size=7.5, va="top", linespacing=1.25)
    return height


def draw(floors: list[list[Room]]) -> None:
    """Draws the house: floors from the ground up, the doors in the roof."""
    figure, (axes,) = canvas(6.4)
    bottom = 0.0
    for rooms, (what, colour) in zip(floors, FLOORS.values(), strict=False):
        height = draw_floor(axes, rooms, bottom, colour)
        axes.text(-1.5, bottom + height / 2, what, ha="right", va="center", size=9)
        bottom += height
    axes.add_patch(Polygon([(-1, bottom), (50, bottom + 1.1), (101, bottom)], facecolor=PAPER, edgecolor=INK, lw=1.8))
    axes.text(50, bottom + 0.5, "import fallow   ·   fallow …", ha="center", va="center", weight="bold", size=10)
    axes.text(50, bottom + 0.2, "one door, from Python and from the command line", ha="center", va="center", size=7.5)
    axes.annotate("", (103.5, 0.1), (103.5, bottom - 0.1), arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.4})
    axes.text(105, bottom / 2, "imports point down", rotation=-90, ha="left", va="center", size=9)
    axes.set(xlim=(-17, 108), ylim=(-0.1, bottom + 1.2))
    axes.axis("off")
    save(figure, "plan")


if __name__ == "__main__":
    draw(split_floors(read_rooms()))
