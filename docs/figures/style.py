"""How the pictures look, by day and by night.

A picture is drawn once, in the colours of the day. In the SVG each of them becomes a variable, which a browser that
shows a dark page sets otherwise. The background is part of the picture, so it can be read on any page.
"""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

IMAGES = Path(__file__).parents[1] / "images"

PAPER, INK, FAINT = "#fefefd", "#22262c", "#c9cdd3"
TRAIN, SEND, HARVEST = "#2f6fae", "#d9730f", "#3c9a6c"
SERIES = (TRAIN, SEND, HARVEST)

NIGHT = {
    PAPER: "#20232c",
    INK: "#e3e6ec",
    FAINT: "#4d5360",
    TRAIN: "#6cabe6",
    SEND: "#f2a054",
    HARVEST: "#67c696",
}

STYLE = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.size": 10,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "fallow",
    "text.color": INK,
    "xtick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
}


def canvas(height: float, **keywords: object) -> tuple[Figure, list[Axes]]:
    """Returns a figure of the width of a page, and its axes."""
    mpl.rcParams.update(STYLE)
    figure, axes = plt.subplots(figsize=(9, height), layout="constrained", squeeze=False, **keywords)
    return figure, list(axes.flat)


def save(figure: Figure, name: str) -> None:
    """Writes a picture that is light on light pages and dark on dark ones."""
    path = IMAGES / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    day = "".join(f"--c{place}: {colour};" for place, colour in enumerate(NIGHT))
    night = "".join(f"--c{place}: {colour};" for place, colour in enumerate(NIGHT.values()))
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", text)  # a hundredth of a pixel will do
    for place, colour in enumerate(NIGHT):
        text = text.replace(colour, f"var(--c{place})")
    rules = f"svg {{{day}}} @media (prefers-color-scheme: dark) {{ svg {{{night}}} }}"
    text = text.replace("</style>", f" text {{font-family: system-ui, sans-serif !important}} {rules}</style>", 1)
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
