"""Where the energy of a run goes: what it is used for, what is lost on the way, and what is still stored."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

USES = (
    ("consumed_train", "training"),
    ("consumed_tx", "sending"),
    ("consumed_probe", "probing"),
    ("consumed_listen", "listening"),
    ("consumed_download", "downloads"),
    ("consumed_idle", "idle"),
    ("conversion_loss", "conversion loss"),
    ("leakage", "leakage"),
    ("overflow", "overflow"),
    ("stored", "still stored"),
)
"""Columns of epochs.csv and keys of summary.json, with words. Together they are all that came in: the harvest, and what
the batteries held at first. All but the last are sums."""

STORED = "stored"


def cumulate_uses(epochs: "pd.DataFrame") -> "pd.DataFrame":
    """Returns what all clients have used, lost and stored until the end of each epoch, in units, a column a use.

    Args:
        epochs: As `Run.epochs`.

    Examples:
        >>> import pandas as pd
        >>> cumulate_uses(pd.DataFrame({"consumed_train": [0, 20], "consumed_tx": [0, 0], "stored": [25, 9]}))
           training  still stored
        0         0            25
        1        20             9
    """
    there = [(key, words) for key, words in USES if key in epochs and epochs[key].any()]
    sums = epochs[[key for key, _ in there]].copy()
    added = [key for key, _ in there if key != STORED]
    sums[added] = sums[added].cumsum()
    return sums.rename(columns=dict(there))


def draw_uses(epochs: "pd.DataFrame", ax: "Axes", against: str = "epoch") -> None:
    """Draws where the energy went until the end of each epoch, as stacked areas.

    Args:
        epochs: As `Run.epochs`.
        ax: Where to draw.
        against: The column of the x-axis, which never falls.
    """
    uses = cumulate_uses(epochs)
    ax.stackplot(epochs[against], uses.to_numpy(dtype=float).T, labels=list(uses))
    ax.set_xlabel(against)
    ax.set_ylabel("energy (units)")
    ax.legend(loc="upper left")
