"""Which uses of energy a report shows."""

from collections.abc import Sequence

from fallow.reports.runs import ReportedRun
from fallow.runs.uses import USES


def uses_of(runs: Sequence[ReportedRun]) -> list[tuple[str, str]]:
    """Returns those of `USES` that have a unit in any run, or the first where nothing ever came in.

    Args:
        runs: Finished runs; what one of an earlier version does not tell counts as nothing.
    """
    return [(key, words) for key, words in USES if any(run.summary.get(key) for run in runs)] or [USES[0]]
