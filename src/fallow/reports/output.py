"""From run directories to the files of a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fallow.errors import ConfigError, RunDirectoryError
from fallow.reports.contents import gather
from fallow.reports.figures import draw_figures
from fallow.reports.harvests import given_files
from fallow.reports.page import build_page
from fallow.reports.runs import Unfinished, read_runs
from fallow.runs.layout import as_folder
from fallow.runs.target import check_target
from fallow.storage.files import write_atomically

PAGE = "report.html"


@dataclass(frozen=True)
class Written:
    """What a report came to.

    Attributes:
        page: The HTML file.
        figures: PDF and PNG files.
        runs: Finished runs, which are shown.
        unfinished: Runs that are only named.
    """

    page: Path
    figures: tuple[Path, ...]
    runs: int
    unfinished: tuple[Unfinished, ...]


def report(
    *directories: str | Path,
    out: str | Path = "report",
    target: float | None = None,
    harvest: Sequence[str | Path] = (),
) -> Written:
    """Writes report.html, one file that works offline, and figures as PDF and PNG. Returns where they are.

    Args:
        *directories: Run directories, or folders that contain them at any depth.
        out: The folder of the report; files of an earlier report are replaced.
        target: An F1 score; the overview then says what it took to reach it, and how many runs did.
        harvest: Files that harvests were read from. A report reads no other file that a run names, and goes by the name
            of a file, wherever it lies.

    Raises:
        ConfigError: A directory or `out` is no path, `target` is no F1 score, no run was evaluated, or a file of
            `harvest` is not there.
        RunDirectoryError: There is no finished run, or the report can't be written.

    Examples:
        >>> from tempfile import mkdtemp
        >>> import fallow
        >>> folder = mkdtemp()
        >>> _ = fallow.run(fallow.Experiment(epochs=3), out=f"{folder}/run", progress=False)
        >>> fallow.report(f"{folder}/run", out=f"{folder}/report").page.name
        'report.html'
    """
    if not directories:
        raise RunDirectoryError("There is nothing to report on; give run directories, or folders that contain them.")
    folders = [as_folder(directory) for directory in directories]
    return write_report(folders, as_folder(out, "out"), target, [Path(path) for path in harvest])


def write_report(
    folders: Sequence[Path], out: Path, target: float | None = None, harvest: Sequence[Path] = ()
) -> Written:
    """Writes the page and the figures of all runs in some folders. The same runs give the same bytes.

    Args:
        folders: Run directories, or folders that contain them at any depth.
        out: The folder of the report; files of an earlier report are replaced.
        target: An F1 score to say of each run when it reached it.
        harvest: Files that harvests were read from.

    Raises:
        ConfigError: `target` is no F1 score, no run was evaluated, or a file of `harvest` is not there.
        RunDirectoryError: There is no finished run in the folders, or the report can't be written.
    """
    if target is not None:
        check_target(target)
    files = given_files(harvest)
    runs, unfinished = read_runs(folders)
    if target is not None and not any(run.learns for run in runs):
        raise ConfigError(f"No run reached the target {target:g}, or could have: none of them learns.")
    page = build_page(gather(runs, unfinished, target, files))
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / PAGE, page.encode())
        figures = draw_figures(runs, out)
    except OSError as error:
        raise RunDirectoryError(f"The report can't be written to {out}: {error.strerror or error}.") from error
    return Written(out / PAGE, figures, len(runs), tuple(unfinished))
