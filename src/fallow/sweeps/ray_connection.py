"""The connection to a Ray cluster: quick, quiet, and closed to other machines."""

import logging
import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fallow.errors import FallowError
from fallow.processors import available_processors

LAST_STARTED = "ray/ray_current_cluster"
"""Where Ray keeps the address that 'auto' stands for, in its folder of temporary files."""

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
"""For Ray, before it is loaded: it reports nothing to its makers, sends nodes no files, starts nothing unasked, and
leaves the screen alone."""

MULTI_NODE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""What Ray asks, when it is loaded, to know if other machines may join; if not, it keeps to 127.0.0.1."""

KNOCK_SECONDS = 10.0
"""How long an address may take to answer."""


class ClusterError(FallowError):
    """A Ray cluster can't be had or can't be used."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Joins a Ray cluster, yields the module `ray`, and leaves the cluster at the end.

    Args:
        address: Of the cluster; "local" starts Ray on this machine alone.

    Raises:
        ClusterError: Ray is not installed, or the cluster can't be joined or is gone.
    """
    os.environ.update(SETTINGS)
    options = _stay_local() if address == "local" else {}
    try:
        import ray
    except ImportError as error:
        raise ClusterError("Running on a cluster needs Ray: pip install 'fallow[ray]'.") from error
    _knock(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL, **options)
    except Exception as error:  # whatever Ray raises is the reason to show
        raise ClusterError(f"There is no Ray cluster to be had at '{address}': {reason(error)}") from error
    try:
        yield ray
    except ConnectionError as error:
        raise ClusterError(
            f"The Ray cluster at '{address}' is gone; once it is back, the same command goes on from the checkpoints."
        ) from error
    finally:
        ray.shutdown()


def _stay_local() -> dict[str, Any]:
    """Makes sure that Ray will listen on the loopback alone: it does what anyone asks who can reach it."""
    if "ray" in sys.modules and os.environ.get(MULTI_NODE) != "0":
        raise ClusterError(
            "A module of yours loads Ray, which would then listen to other machines; use `ray start` and --ray auto."
        )
    os.environ[MULTI_NODE] = "0"
    return {"include_dashboard": False, "num_cpus": available_processors()}


def _knock(address: str) -> None:
    """Checks that somebody answers at an address; Ray itself would try for minutes.

    Raises:
        ClusterError: If nobody does.
    """
    place = address
    if address == "auto":
        last = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / LAST_STARTED
        place = os.environ.get("RAY_ADDRESS") or (last.read_text(encoding="utf-8").strip() if last.is_file() else "")
    host, _, port = place.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():  # 'local', or something that Ray refuses by itself
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        words = (isinstance(error, OSError) and error.strerror) or error
        raise ClusterError(
            f"No Ray cluster answers at {place}: {words}; start one with `ray start --head`, or name another."
        ) from error


def reason(error: Exception) -> str:
    """Returns what an error says, in one line that ends as a sentence does. Of a traceback this is the last line.

    Args:
        error: Of Ray's.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    said = lines[-1] if any(line.startswith("File ") for line in lines) else " ".join(lines)
    return said if said.endswith((".", "!", "?")) else f"{said}."
