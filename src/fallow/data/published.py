"""A published dataset: fetched once, checked against one hash, then read from the cache."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fallow.data.cache import Arrays, default_data_dir, read_arrays, write_arrays
from fallow.data.dataset import Dataset
from fallow.data.fetching import hold_for_fetch
from fallow.data.sources import Silent, Source, Watcher
from fallow.errors import DataError

SILENT = Silent()


@dataclass(frozen=True)
class Published:
    """What is known about a dataset before it is fetched.

    Attributes:
        name: The name of the dataset, and of its folder in the cache.
        train: How many training images there are.
        test: How many test images there are.
        image: The channels, height and width of an image.
        classes: How many classes there are.
        mean: The mean of each channel of x/255.
        std: The standard deviation of each channel of x/255.
        sha256: What ``Arrays.sha256`` must return, from any source.
        sources: Where the dataset can be fetched from, best first.
        decode: Returns the arrays in a folder or archive; raises `DataError` if it can't read them.
    """

    name: str
    train: int
    test: int
    image: tuple[int, int, int]
    classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    sha256: str
    sources: tuple[Source, ...]
    decode: Callable[[Path], Arrays]

    def folder(self, data_dir: Path | None) -> Path:
        """Returns the folder of the arrays; None is the default `data_dir`."""
        return (data_dir or default_data_dir()) / self.name

    def read(self, data_dir: Path | None) -> Arrays:
        """Returns the arrays in the cache, memory-mapped; their bytes were checked when they were fetched.

        Args:
            data_dir: Where fetched data is kept; None is the default place.

        Raises:
            DataError: A file is missing or damaged.
        """
        shapes = {
            "x": (self.train, *self.image),
            "y": (self.train,),
            "x_test": (self.test, *self.image),
            "y_test": (self.test,),
        }
        return read_arrays(self.folder(data_dir), self.name, shapes)

    def load(self, data_dir: Path | None) -> Dataset:
        """Returns the dataset in the cache.

        Args:
            data_dir: Where fetched data is kept; None is the default place.

        Raises:
            DataError: A file is missing or damaged; the error names the command that fetches it.
        """
        arrays = self.read(data_dir)
        y, y_test = arrays.y.astype(np.int64), arrays.y_test.astype(np.int64)
        dataset = Dataset(self.name, arrays.x, y, arrays.x_test, y_test, self.classes, self.mean, self.std)
        dataset.check()
        return dataset

    def is_cached(self, data_dir: Path | None) -> bool:
        """Returns whether ``load`` would find the data."""
        try:
            self.read(data_dir)
        except DataError:
            return False
        return True

    def fetch(self, data_dir: Path | None, given: Path | None = None, watcher: Watcher = SILENT) -> Path:
        """Fills the cache from the first source that answers with the right data.

        Args:
            data_dir: Where to keep it; None is the default place.
            given: A folder or archive that the user already has; then no source is asked.
            watcher: Receives the progress.

        Returns:
            The folder of the arrays.

        Raises:
            DataError: No source gave the right data.
        """
        folder = self.folder(data_dir)
        if given is None and self._is_whole(data_dir):  # where nothing is to be written, nothing need be writable
            return self._there(folder, watcher)
        with hold_for_fetch(folder, watcher) as download:
            if given is not None:
                write_arrays(folder, self._checked(given, str(given)))
            elif self._is_whole(data_dir):  # another process was first
                return self._there(folder, watcher)
            else:
                write_arrays(folder, self._from_first_source(download, watcher))
        return folder

    def _there(self, folder: Path, watcher: Watcher) -> Path:
        watcher.say(f"{self.name} is in {folder} already, and its checksum is right.")
        return folder

    def _from_first_source(self, download: Path, watcher: Watcher) -> Arrays:
        reasons = []
        for source in self.sources:
            watcher.say(f"Asking {source.title} …")
            try:
                download.mkdir()
                return self._checked(source.obtain(download, watcher), source.title)
            except OSError as error:
                raise DataError(f"The data can't be written to {download}: {error.strerror or error}.") from error
            except DataError as error:
                reasons.append(f"{source.title}: {str(error).rstrip('.')}")
                watcher.say(f"Not from {reasons[-1]}.")
                shutil.rmtree(download)
        raise DataError(
            f"The dataset '{self.name}' can't be fetched ({'; '.join(reasons)}); try again later, or give a folder or "
            f"archive that you have: `fallow data fetch {self.name} --from PATH`."
        )

    def _checked(self, path: Path, origin: str) -> Arrays:
        """Returns the arrays in a folder or archive, after a check of their checksum."""
        arrays = self.decode(path)
        found = arrays.sha256()
        if found != self.sha256:
            raise DataError(
                f"What {origin} holds is not {self.name} as published: its checksum is {found[:12]}…, not "
                f"{self.sha256[:12]}…; it is refused and nothing of it is kept."
            )
        return arrays

    def _is_whole(self, data_dir: Path | None) -> bool:
        return self.is_cached(data_dir) and self.read(data_dir).sha256() == self.sha256
