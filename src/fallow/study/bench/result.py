"""What a benchmark came to: scores, differences and ranks, as frames, text, LaTeX and a page."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fallow.errors import ConfigError, RunDirectoryError
from fallow.plugins.wording import did_you_mean
from fallow.storage.files import write_atomically
from fallow.study.bench.ranking import Difference, Rank, find_differences, rank_entrants
from fallow.study.bench.scenarios import Suite
from fallow.study.bench.scores import F1, Score, find_columns, values_by_seed
from fallow.study.bench.tables import Cells, difference_cells, html_table, score_cells
from fallow.study.latex import to_latex

if TYPE_CHECKING:
    import pandas as pd

PAGE = "bench.html"


@dataclass(frozen=True, eq=False)
class Bench:
    """The results of a benchmark: those of the entrants, and those of the built-ins that come with Fallow.

    Attributes:
        suite: What was run.
        entrants: Who was entered.
        scores: A row for each run, those of the entrants first.
        ranked: Who competes; the others are bounds.
        directory: The folder of the entrants' runs.
        notes: What a reader must know, a sentence each.
        origins: How the built-ins' results were made, a sentence each.
        failures: Why runs failed, by their names.
    """

    suite: Suite
    entrants: tuple[str, ...]
    scores: tuple[Score, ...]
    ranked: tuple[str, ...]
    directory: Path
    notes: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def scenarios(self) -> list[str]:
        """The names of the scenarios in which there is a result."""
        found = {score.scenario for score in self.scores}
        return [scenario.name for scenario in self.suite.scenarios if scenario.name in found]

    @property
    def names(self) -> list[str]:
        """Everyone who has a result: by mean rank, then the bounds."""
        everyone = dict.fromkeys(score.entrant for score in self.scores)
        return list(dict.fromkeys([*(rank.entrant for rank in self.ranks()), *everyone]))

    def ranks(self) -> list[Rank]:
        """Returns the mean ranks by F1 over scenarios and seeds, the best first.

        A scenario in which only the entrants have results does not count: to be the first of one is no merit.
        """
        compared = {score.scenario for score in self.scores if score.entrant not in self.entrants}
        counted = [score for score in self.scores if not compared or score.scenario in compared]
        return rank_entrants(counted, self.ranked)

    def table(self) -> "pd.DataFrame":
        """Returns a frame with a row for each entrant in each scenario: means and standard deviations over seeds."""
        import pandas as pd

        metrics = find_columns(self.scores)
        rows = []
        for scenario in self.scenarios:
            for name in self.names:
                own = pd.DataFrame({metric: values_by_seed(self.scores, scenario, name, metric) for metric in metrics})
                if len(own):
                    spread = {f"{metric}_sd": own[metric].std() for metric in metrics}
                    means = {metric: own[metric].mean() for metric in metrics}
                    rows.append({"scenario": scenario, "entrant": name, **means, **spread, "seeds": len(own)})
        return pd.DataFrame(rows)

    def differences(self, metric: str = F1) -> "pd.DataFrame":
        """Returns a frame with each entrant minus every other, paired over common seeds, with the 95 % interval.

        Args:
            metric: A column, such as "f1" or "energy".

        Raises:
            ConfigError: There is no such column.
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "scenario": one.scenario,
                    "entrant": one.entrant,
                    "other": one.other,
                    "difference": one.interval.mean,
                    "low": one.interval.low,
                    "high": one.interval.high,
                    "seeds": one.interval.count,
                }
                for name in self.entrants
                for one in self.find_differences(name, metric)
            ]
        )

    def find_differences(self, entrant: str, metric: str = F1) -> list[Difference]:
        """Returns an entrant minus every other in each scenario, those with the best rank first.

        Args:
            entrant: Who is compared.
            metric: A column, such as "f1" or "energy".

        Raises:
            ConfigError: There is no such column.
        """
        return find_differences(self.scores, self.scenarios, entrant, self._known(metric))

    def cells(self, metric: str = F1) -> Cells:
        """Returns the headings and rows of a metric as text: a row for each entrant, a column for each scenario.

        Those of F1 have the mean rank too.

        Args:
            metric: A column, such as "f1" or "energy".
        """
        ranks = self.ranks() if metric == F1 else []
        return score_cells(self.scores, self.scenarios, self.names, self.entrants, ranks, self._known(metric))

    def difference_cells(self, entrant: str, metric: str = F1) -> Cells:
        """Returns the headings and rows of an entrant's differences as text: a row for each other.

        Args:
            entrant: Who is compared.
            metric: A column, such as "f1" or "energy".
        """
        found = self.find_differences(entrant, metric)
        return difference_cells(found, self.scenarios, self.names, self.entrants, metric)

    def to_latex(self, of: str = "scores", metric: str = F1) -> str:
        """Returns a table in LaTeX, with the rules of booktabs.

        Args:
            of: "scores" with mean ranks, or "differences" of the entrants from every other.
            metric: A column, such as "f1" or "energy".

        Raises:
            ConfigError: `of` is neither.
        """
        if of == "scores":
            return to_latex(*self.cells(metric), 1)
        if of == "differences":
            return "\n\n".join(to_latex(*self.difference_cells(name, metric), 1) for name in self.entrants)
        raise ConfigError(f"of = {of!r} must be 'scores' or 'differences'.")

    def report(self, out: str | Path | None = None) -> Path:
        """Writes the page, one file that works offline, and returns it.

        Args:
            out: The file; None for "bench.html" in the folder of the runs.

        Raises:
            RunDirectoryError: The file can't be written.
        """
        from fallow.study.bench.page import bench_page

        path = self.directory / PAGE if out is None else Path(out)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, bench_page(self).encode())
        except OSError as error:
            raise RunDirectoryError(f"The page can't be written to {path}: {error.strerror or error}.") from error
        return path

    def _known(self, metric: str) -> str:
        known = find_columns(self.scores)
        if metric not in known:
            raise ConfigError(f"The benchmark has no column '{metric}'{did_you_mean(metric, known)}")
        return metric

    def __repr__(self) -> str:
        return f"Bench of {', '.join(self.entrants)} in the suite {self.suite.name}, {len(self.scenarios)} scenarios"

    def _repr_html_(self) -> str:
        return html_table(self.cells()) + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
