"""Who has what: the classes of each client's samples, counted and drawn."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError, DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".pdf", ".svg")
MOST_NUMBERS = 25
"""Clients up to which every cell can hold its number and stay legible."""


def label_mix(y: NDArray[np.int64], parts: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Counts the classes of each client's samples.

    Args:
        y: The labels of the training images, shape (images,), int64.
        parts: Each client's images, shape (N, n), int64, indices into `y`.
        classes: How many classes there are.

    Returns:
        Shape (N, classes), int64; each row sums to n.
    """
    clients = len(parts)
    cell = np.arange(clients)[:, None] * classes + y[parts]
    return np.bincount(cell.ravel(), minlength=clients * classes).reshape(clients, classes)


def draw_label_mix(counts: NDArray[np.int64], path: Path, title: str = "") -> None:
    """Draws a column for each client and a row for each class; the darker a cell, the more samples.

    One scale from light to dark is read by everyone, in grey print too, and for any number of classes; as many hues
    as classes would not be. A class that a client lacks stays white.

    Args:
        counts: Shape (N, classes), int64, as ``label_mix`` returns it.
        path: Where to write; its ending says the format: .png, .pdf or .svg.
        title: What stands above the picture.
    """
    if path.suffix.lower() not in PICTURES:
        raise ConfigError(f"The picture {path} must end in one of {', '.join(PICTURES)}.")
    from matplotlib import colormaps  # takes a second: only for those who draw
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    clients, classes = counts.shape
    figure = Figure(figsize=(min(12.0, 3.2 + 0.075 * max(clients, 40)), 1.3 + 0.21 * min(classes, 40)), dpi=150)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    blues = colormaps["Blues"](np.linspace(0.15, 1, 256))  # from a blue that is not white
    shades = ListedColormap(blues).with_extremes(under="white")
    image = axes.imshow(
        counts.T, aspect="auto", interpolation="nearest", cmap=shades, vmin=0.5, vmax=max(1, counts.max())
    )
    if clients <= MOST_NUMBERS:
        _write_numbers(axes, counts)
    axes.set_xlabel("client")
    axes.set_ylabel("class")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=min(classes, 20) + 1, integer=True))
    for boundary in np.arange(0.5, classes - 1) if classes <= 40 else ():
        axes.axhline(boundary, color="0.85", linewidth=0.5)
    for edge in ("top", "right"):
        axes.spines[edge].set_visible(False)
    axes.set_title(title, loc="left", fontsize=10)
    bar = figure.colorbar(image, ax=axes, label="samples", pad=0.015)
    bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    bar.outline.set_visible(False)
    try:
        figure.savefig(path)
    except OSError as error:
        raise DataError(f"The picture {path} can't be written: {error.strerror or error}.") from error


def _write_numbers(axes: "Axes", counts: NDArray[np.int64]) -> None:
    dark = counts.max() * 0.5
    for (client, label), count in np.ndenumerate(counts):
        if count:
            axes.text(
                client,
                label,
                str(count),
                ha="center",
                va="center",
                fontsize=7,
                color="white" if count > dark else "black",
            )
