"""A run as Python users have it: frames, totals, a model, a plot."""

from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fallow.errors import FallowError
from fallow.plugins.wording import did_you_mean, verbatim
from fallow.runs.overview import overview, overview_title
from fallow.runs.stored import StoredRun
from fallow.runs.target import Reached, check_target, first_reached
from fallow.runs.untrained import explain_no_training
from fallow.runs.uses import draw_uses

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from fallow.learning.network import Network
    from fallow.models.base import Module
    from fallow.runs.reader import Column


class RunSource(Protocol):
    """Where the numbers of a run come from: a directory or memory."""

    @property
    def directory(self) -> Path | None: ...  # noqa: D102

    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102

    @property
    def summary(self) -> dict[str, Any] | None: ...  # noqa: D102

    def epochs(self) -> "dict[str, Column]": ...  # noqa: D102

    def events(self) -> "pa.Table | None": ...  # noqa: D102

    def clients(self) -> "dict[str, NDArray[Any]] | None": ...  # noqa: D102

    def devices(self) -> "list[dict[str, Any]] | None": ...  # noqa: D102

    def client_scores(self) -> "pa.Table | None": ...  # noqa: D102

    def network(self) -> "Network": ...  # noqa: D102


class Run:
    """What a run came to; ``docs/metrics.md`` describes the columns. Frames are made when first asked for.

    Examples:
        >>> from fallow.experiment import Experiment
        >>> from fallow.runs.execute import run
        >>> run(Experiment(epochs=30), progress=False)
        Run(vaoi, 100 clients, 30 of 30 epochs, in memory)
    """

    def __init__(self, source: RunSource) -> None:
        self._source = source

    @property
    def directory(self) -> Path | None:
        """Where the run is kept; None in memory."""
        return self._source.directory

    @property
    def settings(self) -> dict[str, Any]:
        """The resolved config, by section, as in ``run.settings["energy"]["p"]``; plain data."""
        return self._source.settings

    @property
    def summary(self) -> dict[str, Any] | None:
        """The totals; None as long as the run is not finished."""
        return self._source.summary

    @property
    def finished(self) -> bool:
        """Whether the run came to its last epoch."""
        return self.summary is not None

    @cached_property
    def epochs(self) -> "pd.DataFrame":
        """A row for each epoch, as in epochs.csv; for an unfinished run, the epochs so far."""
        import pandas as pd

        return pd.DataFrame(self._source.epochs())

    @cached_property
    def events(self) -> "pd.DataFrame | None":
        """A row for each event, as in events.parquet; None where none are kept.

        For an unfinished run in a directory these are the events until its last checkpoint.
        """
        table = self._source.events()
        return None if table is None else table.to_pandas()

    @cached_property
    def clients(self) -> "pd.DataFrame | None":
        """A row for each client, as in clients.parquet; None for an unfinished run, or one of an older version."""
        import pandas as pd

        columns = self._source.clients()
        return None if columns is None else pd.DataFrame(columns)

    @cached_property
    def devices(self) -> "pd.DataFrame | None":
        """A row for each class of devices in each epoch, as in devices.csv; None where there are no classes."""
        import pandas as pd

        rows = self._source.devices()
        return None if rows is None else pd.DataFrame(rows)

    @cached_property
    def client_scores(self) -> "pd.DataFrame | None":
        """A row for each client in each epoch that scored clients, as in client_scores.parquet; None where none did.

        `learning.client_eval_every` asks for it. For an unfinished run in a directory these are the rows until its last
        checkpoint.
        """
        table = self._source.client_scores()
        return None if table is None else table.to_pandas()

    def model(self) -> "Module":
        """Returns a PyTorch module with the final weights; it takes images normalised as for the run.

        For a run in a directory this is the one thing that imports what the config names: the model's code and the
        dataset, whose images tell the shape of an input.

        Raises:
            FallowError: The run learnt nothing, or is not finished.
        """
        module: Module = self._source.network().module
        return module

    def reached(self, f1: float) -> Reached | None:
        """Returns the energy and the epochs until the run first reached an F1 score; None if it never did.

        Args:
            f1: The score, more than 0 and at most 1, at an evaluation.

        Raises:
            ConfigError: `f1` is no F1 score.
            FallowError: The run was not evaluated.
        """
        target = check_target(f1)
        columns = {name: column.astype(float) for name, column in self._source.epochs().items()}
        if "f1" not in columns:
            raise FallowError("'f1' was not measured in this run.")
        return first_reached(columns, target)

    def plot(self, what: str = "f1", ax: "Axes | None" = None, *, against: str = "epoch") -> "Axes":
        """Draws one column of the epochs against another; epochs in which it was not measured are left out.

        Args:
            what: The column; or ``energy``: where the energy went until each epoch, by use, as stacked areas.
            ax: Where to draw; None is a new figure.
            against: The column of the x-axis, such as ``energy_total``.

        Raises:
            FallowError: There is no such column, or nothing in it was measured.
        """
        by_use = what == "energy"
        for name in (against,) if by_use else (what, against):
            if name not in self.epochs:
                raise FallowError(
                    f"The epochs of this run have no column '{name}'{did_you_mean(name, map(str, self.epochs))}"
                )
        wanted = [against] if by_use or what == against else [against, what]
        measured = self.epochs[wanted].dropna()
        if not len(measured):
            raise FallowError(f"'{what}' was not measured in this run.")
        if ax is None:
            from matplotlib import pyplot as plt

            ax = plt.figure().add_subplot()
        if by_use:
            draw_uses(self.epochs, ax, against)
            return ax
        ax.plot(measured[against], measured[what], label=verbatim(self.settings["policy"]["name"]))
        ax.set_xlabel(against)
        ax.set_ylabel(what)
        return ax

    def __repr__(self) -> str:
        where = "in memory" if self.directory is None else f"in {self.directory}"
        settings = self.settings
        epochs = f"{len(self.epochs)} of {settings['epochs']} epochs"
        if self.summary is not None and explain_no_training(settings, self.summary):
            epochs += ", nobody trained"
        return f"Run({settings['policy']['name']}, {settings['clients']} clients, {epochs}, {where})"

    def _repr_html_(self) -> str:
        """Returns the totals as a small table, for notebooks."""
        if self.summary is None:
            return f"<p>{escape(repr(self))}: not finished</p>"
        rows = [
            f"<tr><td style='text-align: left'>{escape(words)}</td><td>{escape(value)} {escape(unit)}</td></tr>"
            for words, value, unit in overview(self.summary)
        ]
        reason = explain_no_training(self.settings, self.summary)
        said = f"<p>{escape(reason)}</p>" if reason else ""
        return f"<table><caption>{escape(overview_title(self.summary))}</caption>{''.join(rows)}</table>{said}"


def load_run(directory: Path | str) -> Run:
    """Returns the run in a directory. Nothing that its config names is imported.

    Args:
        directory: Of the run, finished or not.

    Raises:
        RunDirectoryError: The directory holds no run of a version that Fallow knows.

    Examples:
        >>> from tempfile import mkdtemp
        >>> from fallow.experiment import Experiment
        >>> from fallow.runs.execute import run
        >>> directory = mkdtemp()
        >>> kept = run(Experiment(epochs=3), directory, progress=False)
        >>> load_run(directory).summary["epochs"]
        3
    """
    return Run(StoredRun(Path(directory)))
