"""A study: many runs, what they came to, and how they compare. It is read from directories and runs nothing."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import FallowError, RunDirectoryError
from fallow.runs.layout import CONFIG
from fallow.runs.target import check_target
from fallow.study.comparison import check_metric, find_differences
from fallow.study.latex import to_latex
from fallow.study.members import StudyRun, read_members
from fallow.study.overview import choose_columns, explain_ages, group_runs, show_cells
from fallow.study.plots import draw_lines
from fallow.study.reached import find_reached, with_reached
from fallow.study.spread import deviation_of, mean_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from fallow.reports import Written


@dataclass(frozen=True, eq=False)
class Study:
    """Finished runs that differ along some axes.

    Attributes:
        directory: The folder of the runs.
        members: The finished runs.
        unfinished: The directories of those that are not finished.
        failures: Why runs failed, by their names; only of runs that were carried out just now.
    """

    directory: Path
    members: tuple[StudyRun, ...]
    unfinished: tuple[Path, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def axes(self) -> list[str]:
        """The settings along which the runs differ, the policy first; the seed is none of them."""
        return list(self.members[0].point) if self.members else ["policy"]

    @property
    def runs(self) -> "pd.DataFrame":
        """A row for each run: its point and seed, its directory, and every number of its summary."""
        numbers = dict.fromkeys(name for run in self.members for name in run.metrics if name in run.summary)
        return _frame(
            [
                {**run.point, "seed": run.seed, "directory": str(run.directory)}
                | {name: run.summary.get(name) for name in numbers}
                for run in self.members
            ]
        )

    def table(self, by: str | Iterable[str] | None = None, target: float | None = None) -> "pd.DataFrame":
        """Returns means and standard deviations over seeds, a row for each point.

        Args:
            by: The axes, or other settings, that make a row; None for all axes. What is left out is averaged over.
            target: An F1 score; adds what it took to reach it.

        Returns:
            A frame with a column for each metric, one more that ends in "_sd", and "runs", how many were averaged. A
            single run has no deviation: NaN. With a target, also the columns of `energy_to`, as "energy_to_target",
            "epochs_to_target" and so on, and "reached".

        Raises:
            ConfigError: If there is no such setting, or a target and no run that learns.
        """
        self._check_target(target)
        columns = choose_columns(self.members)
        rows = []
        for line in group_runs(self.members, self._keys(by)):
            row: dict[str, Any] = dict(line.point)
            for column in columns:
                name = f"{column.metric} ({column.ages})" if column.ages else column.metric
                values = column.values(line.runs)
                row |= {name: mean_of(values), f"{name}_sd": deviation_of(values)}
            if target is not None:
                reached = find_reached(line, target).numbers()
                row |= {re.sub("^(energy|epochs)", r"\1_to_target", name): value for name, value in reached.items()}
            rows.append(row | {"runs": len(line.runs)})
        return _frame(rows)

    def differences(self, metric: str = "late_f1", *, to: object) -> "pd.DataFrame":
        """Returns how much more of a metric every other point has than a baseline, paired over common seeds.

        Args:
            metric: A number of the summary, such as "energy_total", or "late_f1", the mean F1 of the evaluations in the
                last fifth of a run.
            to: The baseline: a policy such as ``FedAvg()`` or "fedavg", or values by setting such as
                ``{"energy.p": 0.1}``. On axes that it leaves open, each point is compared with the baseline of its own
                value.

        Returns:
            A frame with the mean difference, the ends of its 95 % interval (Student's t; infinite for one seed) and the
            number of seeds that both have.

        Raises:
            ConfigError: If there is no such metric or baseline.
        """
        return _frame(
            [
                {**line.point, "difference": one.mean, "low": one.low, "high": one.high, "seeds": one.count}
                for line, one in find_differences(self.members, self.axes, metric, to)
            ]
        )

    def energy_to(self, f1: float) -> "pd.DataFrame":
        """Returns the energy and the epochs that it took to reach an F1 score, a row for each point.

        Args:
            f1: The score, from 0 to 1, at an evaluation.

        Returns:
            A frame with means and standard deviations over the runs that reached the score ("energy", "energy_sd"), the
            median over all runs ("energy_median"; one that never reaches the score takes for ever, so it is infinite if
            fewer than half did), the same for "epochs", how many reached it ("reached"), and how many were evaluated
            ("runs").

        Raises:
            ConfigError: If no run learns, or the score is none.
        """
        self._check_target(f1)
        found = [(line.point, find_reached(line, f1)) for line in group_runs(self.members, self.axes)]
        return _frame([{**point, **one.numbers(), "runs": one.runs} for point, one in found])

    def plot(self, what: str = "f1", against: str = "epoch") -> "Figure":
        """Returns a figure: for each policy the mean over seeds, with a band from the least to the greatest.

        Args:
            what: A column of epochs.csv, such as "f1", "energy" or "age".
            against: "epoch" or "energy".

        Raises:
            ConfigError: If no run has numbers for it.
        """
        return draw_lines(self.members, self.axes, what, against)

    def to_latex(self, by: str | Iterable[str] | None = None, target: float | None = None) -> str:
        """Returns the table as LaTeX: means and standard deviations over seeds, with the rules of booktabs.

        Args:
            by: The axes, or other settings, that make a row; None for all axes.
            target: An F1 score; adds what it took to reach it.
        """
        return to_latex(*self.cells(by, target), len(self._keys(by)))

    def report(self, out: str | Path | None = None, target: float | None = None) -> "Written":
        """Writes the report of all runs, report.html and figures, and returns where it is.

        Args:
            out: The folder of the report; None for "report" in the folder of the study.
            target: An F1 score; adds what it took to reach it.

        Raises:
            RunDirectoryError: If no run is finished, or the folder can't be written to.
        """
        from fallow.reports import write_report

        if not self.members:
            raise RunDirectoryError(f"There is no finished run in {self.directory} to report on.")
        directories = [*(run.directory for run in self.members), *self.unfinished]
        return write_report(directories, Path(out) if out is not None else self.directory / "report", target)

    def cells(
        self, by: str | Iterable[str] | None = None, target: float | None = None
    ) -> tuple[list[str], list[list[str]]]:
        """Returns the headings and the rows of the table, as text.

        Args:
            by: The settings that tell points apart; None: all that vary.
            target: An F1 score; adds the energy and the epochs by which half of the runs had reached it, and how many
                of them ever did.
        """
        self._check_target(target)
        lines = group_runs(self.members, self._keys(by))
        headings, rows = show_cells(lines, choose_columns(self.members))
        return (headings, rows) if target is None else with_reached(headings, rows, lines, target)

    def _check_target(self, target: float | None) -> None:
        if target is not None:
            check_target(target)
            check_metric("f1", self.members)

    def _keys(self, by: str | Iterable[str] | None) -> list[str]:
        if by is None:
            return self.axes
        return [key.replace("__", ".") for key in ([by] if isinstance(by, str) else by)]

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"Study of {len(self.members)} finished runs in {self.directory} over {', '.join(self.axes)}"

    def _repr_html_(self) -> str:
        headings, rows = self.cells()
        head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        missing = f"; {len(self.unfinished)} more are not finished" if self.unfinished else ""
        ages = explain_ages(self.members)
        note = f"{len(self.members)} finished runs in {html.escape(str(self.directory))}{missing}"
        note += f". {html.escape(ages)}" if ages else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{note}</p>"


def load_study(directory: str | Path) -> Study:
    """Returns the study in a folder of runs. Nothing that a config names is loaded.

    Args:
        directory: The folder of a sweep, with a directory for each run.

    Raises:
        RunDirectoryError: If it holds no runs.
    """
    folder = Path(directory)
    directories = sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))
    if not directories:
        reason = "it is a run itself" if (folder / CONFIG).exists() else "it holds no runs"
        raise RunDirectoryError(f"{folder} is no folder of a sweep: {reason}.")
    return make_study(folder, directories)


def make_study(directory: Path, directories: Sequence[Path], failures: Mapping[str, str] | None = None) -> Study:
    """Returns the study of some runs in a folder.

    Args:
        directory: The folder.
        directories: Of the runs.
        failures: Why runs failed, by their names.
    """
    members, unfinished = read_members(directories)
    return Study(directory, tuple(members), tuple(unfinished), dict(failures or {}))


def _frame(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    try:
        import pandas as pd
    except ImportError as error:
        raise FallowError("Frames of a study need pandas: pip install 'fallow[notebook]'.") from error
    return pd.DataFrame(list(rows))
