"""``fallow.load``: a run or a study, from its directory."""

from pathlib import Path

from fallow.runs.layout import CONFIG, as_folder
from fallow.runs.run import Run, load_run
from fallow.study.study import Study, load_study


def load(directory: str | Path) -> Run | Study:
    """Returns the run in a directory, or the study of the runs in a folder. Nothing that a config names is loaded.

    Args:
        directory: A run directory, or the folder of a sweep.

    Raises:
        ConfigError: `directory` is no path.
        RunDirectoryError: It is neither.

    Examples:
        >>> from tempfile import mkdtemp
        >>> from fallow.experiment import Experiment
        >>> from fallow.study.sweep import sweep
        >>> folder = mkdtemp()
        >>> _ = sweep(Experiment(epochs=3), folder, seed=range(2), progress=False)
        >>> len(load(folder)), load(f"{folder}/seed=0").summary["epochs"]
        (2, 3)
    """
    folder = as_folder(directory)
    if (folder / CONFIG).exists() or not any(folder.glob(f"*/{CONFIG}")):
        return load_run(folder)
    return load_study(folder)
