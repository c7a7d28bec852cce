"""A CIFAR-10 of thirteen images, in both of its formats."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

from fallow.data.cache import Arrays
from fallow.data.cifar10 import BATCHES
from fallow.data.sources import Source, Watcher


def tiny_arrays() -> Arrays:
    rng = np.random.default_rng(5)
    return Arrays(
        rng.integers(0, 256, (10, 3, 32, 32), dtype=np.uint8),
        rng.integers(0, 10, 10, dtype=np.uint8),
        rng.integers(0, 256, (3, 3, 32, 32), dtype=np.uint8),
        rng.integers(0, 10, 3, dtype=np.uint8),
    )


def batches(arrays: Arrays) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """The five training batches and the test batch: name, images, labels."""
    parts = zip(np.split(arrays.x, 5), np.split(arrays.y, 5), strict=True)
    return [
        *((name, x, y) for name, (x, y) in zip(BATCHES[:5], parts, strict=True)),
        (BATCHES[5], arrays.x_test, arrays.y_test),
    ]


def binary_files(arrays: Arrays) -> dict[str, bytes]:
    return {
        f"{name}.bin": b"".join(bytes([label]) + image.tobytes() for image, label in zip(x, y, strict=True))
        for name, x, y in batches(arrays)
    }


def sheet_files(arrays: Arrays) -> dict[str, bytes]:
    files = {}
    for name, x, _ in batches(arrays):
        png = io.BytesIO()
        Image.fromarray(x.transpose(0, 2, 3, 1).reshape(len(x), 1024, 3)).save(png, format="PNG")
        files[f"{name}.png"] = png.getvalue()
    files["train_lables.json"] = json.dumps(arrays.y.tolist()).encode()
    files["test_lables.json"] = json.dumps(arrays.y_test.tolist()).encode()
    return files


def write_tar(path: Path, files: dict[str, bytes], folder: str = "package/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def write_folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def local_source(title: str, files: dict[str, bytes], cut: int = 0) -> Source:
    """A source that delivers a tarball, perhaps without its last bytes."""

    def obtain(folder: Path, _watcher: Watcher) -> Path:
        path = write_tar(folder / "data.tgz", files)
        if cut:
            path.write_bytes(path.read_bytes()[:-cut])
        return path

    return Source(title, obtain)


class Listener:
    """Remembers what a fetch said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.bytes: list[tuple[int, int | None]] = []

    def say(self, sentence: str) -> None:
        self.said.append(sentence)

    def received(self, count: int, total: int | None) -> None:
        self.bytes.append((count, total))
