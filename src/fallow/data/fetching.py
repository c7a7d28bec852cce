"""The folder of a dataset while it is fetched: one process at a time, and nothing of a fetch that was killed."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fallow.data.cache import FILES
from fallow.data.sources import PACKAGE_SECONDS, Watcher
from fallow.errors import DataError, HeldError, RunDirectoryError
from fallow.storage.locks import hold

DOWNLOAD = ".download"
"""The folder of what is being downloaded, in the folder of the dataset; it goes with the fetch."""

LEFT = re.compile(rf"\.({'|'.join(FILES)})-[0-9a-f]{{32}}")
"""The names of arrays that were half written."""


@contextmanager
def hold_for_fetch(folder: Path, watcher: Watcher) -> Iterator[Path]:
    """Keeps other fetches out of the folder of a dataset, and removes what killed ones left there.

    Args:
        folder: Of the dataset; it is made if it is missing, and removed again if it stays empty.
        watcher: Is told if another process is waited for.

    Yields:
        Where to put what is downloaded; the folder is not made yet.

    Raises:
        DataError: The folder can't be written to, or another process fetches for too long.
    """
    with ExitStack() as stack:
        try:
            try:
                stack.enter_context(hold(folder, patience=0.0))
            except HeldError:
                watcher.say(f"Waiting for another process, which writes to {folder} …")
                stack.enter_context(hold(folder, patience=PACKAGE_SECONDS))
        except RunDirectoryError as error:
            raise DataError(str(error)) from error
        for path in list(folder.iterdir()):  # nobody else writes here, so it is of one that was killed
            if LEFT.fullmatch(path.name):
                path.unlink()
        stack.callback(shutil.rmtree, folder / DOWNLOAD, ignore_errors=True)
        shutil.rmtree(folder / DOWNLOAD, ignore_errors=True)
        yield folder / DOWNLOAD
