"""The classes of each client's samples, counted and drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError, DataError
from fallow.plugins.wording import verbatim

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".pdf", ".svg")
MOST_NUMBERS = 25
"""Most clients for which every cell can show its number legibly."""


def label_mix(y: NDArray[np.int64], parts: Sequence[NDArray[np.int64]], classes: int) -> NDArray[np.int64]:
    """Returns how many samples of each class each client has.

    Args:
        y: The labels of the training samples, shape (samples,), int64.
        parts: Each client's samples: N arrays of indices into `y`, shape (|D_i|,), int64.
        classes: How many classes there are.

    Returns:
        Shape (N, classes), int64; each row sums to |D_i|.

    Examples:
        >>> label_mix(y=np.array([0, 1, 1, 0]), parts=[np.array([0]), np.array([1, 2, 3])], classes=2)
        array([[1, 0],
               [1, 2]])
    """
    return np.array([np.bincount(y[part], minlength=classes) for part in parts])


def draw_label_mix(counts: NDArray[np.int64], path: Path, title: str = "") -> None:
    """Writes a picture with a column for each client and a row for each class; a darker cell has more samples.

    Everyone can read a scale from light to dark, in grey print too, and it works for any number of classes; one colour
    for each class would not. A class that a client lacks stays white.

    Args:
        counts: Shape (N, classes), int64, as ``label_mix`` returns it.
        path: Where to write; the ending .png, .pdf or .svg decides the format.
        title: The title above the picture.

    Raises:
        ConfigError: The path has another ending.
        DataError: The file can't be written.

    Examples:
        >>> draw_label_mix(np.array([[2, 0], [0, 2]]), Path("mix.svg"), title="two clients")
    """
    if path.suffix.lower() not in PICTURES:
        raise ConfigError(f"The picture {path} must end in one of {', '.join(PICTURES)}.")
    from matplotlib import colormaps  # takes a second to import, and only drawing needs it
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
    axes.set_title(verbatim(title), loc="left", fontsize=10)
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
