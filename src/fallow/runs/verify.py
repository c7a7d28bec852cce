"""``fallow.verify``: whether finished runs are still what they were when they ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fallow.errors import RunDirectoryError
from fallow.runs.layout import CHECKPOINT, CHECKSUMS, CONFIG, EPOCHS, FILES, SUMMARY, as_folder, has_checkpoint
from fallow.runs.reader import read_settings, read_summary
from fallow.storage.checksums import find_differences, read_list

Verdict = Literal["sound", "damaged", "not finished", "no checksums"]

OWN = {CONFIG, *FILES} - {CHECKSUMS, CHECKPOINT}
"""What can be in a list of checksums."""


@dataclass(frozen=True)
class Verified:
    """What was found about a run.

    Attributes:
        directory: Of the run.
        verdict: sound: every file is what the run wrote; damaged: something differs or is missing; not finished; or no
            checksums: an earlier version wrote none, so nothing can be said.
        files: How many files were compared.
        differences: What is wrong, each in a few words; empty unless the run is damaged.
    """

    directory: Path
    verdict: Verdict
    files: int = 0
    differences: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.verdict == "damaged":
            return f"{self.directory}: damaged: {'; '.join(self.differences)}"
        said = {
            "sound": f"sound, {self.files} files are what the run wrote",
            "not finished": f"not finished; `fallow resume {self.directory}` goes on with it, and checks it first",
            "no checksums": "no checksums: the version of Fallow that made it wrote none",
        }
        return f"{self.directory}: {said[self.verdict]}"


def verify(*directories: Path | str) -> list[Verified]:
    """Compares finished runs with the checksums that they wrote of their own files at their end.

    Args:
        directories: Run directories, or folders that contain them at any depth, such as a sweep's.

    Returns:
        What was found, for each run in order.

    Raises:
        ConfigError: One is no path.
        RunDirectoryError: One is neither a run nor a folder of runs.

    Examples:
        >>> from tempfile import mkdtemp
        >>> from fallow.experiment import Experiment
        >>> from fallow.runs.execute import run
        >>> directory = mkdtemp()
        >>> _ = run(Experiment(epochs=3), directory, progress=False)
        >>> [found.verdict for found in verify(directory)]
        ['sound']
    """
    if not directories:
        raise RunDirectoryError("Nothing to verify; name at least one run directory.")
    runs = [run for given in directories for run in _runs_in(as_folder(given))]
    return [verify_run(run) for run in runs]


def verify_run(directory: Path) -> Verified:
    """Compares a finished run with its own checksums.

    Args:
        directory: Of the run.
    """
    listed, ended = (directory / CHECKSUMS).exists(), (directory / SUMMARY).exists()
    if not ended and (has_checkpoint(directory) or not listed):
        return Verified(directory, "not finished")
    if not listed:
        return _without_list(directory)
    try:
        sums = read_list(directory / CHECKSUMS)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else error
        return Verified(directory, "damaged", 0, (f"{CHECKSUMS} can't be used: {words}",))
    if not {CONFIG, EPOCHS, SUMMARY} <= sums.keys() <= OWN:
        return Verified(directory, "damaged", 0, (f"{CHECKSUMS} is not of a run",))
    strange = [f"{name} is not of this run" for name in sorted(OWN - sums.keys()) if (directory / name).exists()]
    differences = (*find_differences(directory, sums), *strange)
    return Verified(directory, "damaged" if differences else "sound", len(sums), differences)


def _without_list(directory: Path) -> Verified:
    """Returns what can be said of a run without checksums: whether it ever had some."""
    try:
        versions = read_summary(directory).get("versions", {})
    except RunDirectoryError as error:
        return Verified(directory, "damaged", 0, (str(error).rstrip("."),))
    if "processor" in versions:  # noted since there are checksums
        return Verified(directory, "damaged", 0, (f"{CHECKSUMS} is missing",))
    return Verified(directory, "no checksums")


def _runs_in(folder: Path) -> Iterator[Path]:
    """Yields the run that a folder is, or the runs in it."""
    inside = [] if (folder / CONFIG).exists() else sorted(path.parent for path in folder.rglob(CONFIG))
    if not inside and not (folder / SUMMARY).exists() and not (folder / CHECKSUMS).exists():
        read_settings(folder)  # says that there is no run
    yield from inside or [folder]
