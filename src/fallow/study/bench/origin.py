"""Where results were made: the version, the commit and the processor."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

PROCESSORS = Path("/proc/cpuinfo")
PACKAGES = ("fallow", "numpy", "torch")


def describe_origin() -> dict[str, str]:
    """Returns what a reader of results wants to know of their making.

    Returns:
        "commit" (empty outside a copy of the repository; "+" at its end says that files were changed since),
        "processor", and the versions of Python and of the packages that compute.
    """
    versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    return {"commit": find_commit(Path(__file__).parents[2]), "processor": find_processor(), **versions}


def find_commit(folder: Path) -> str:
    """Returns the commit of the repository that a folder of code belongs to, shortened; empty if it belongs to none.

    Args:
        folder: With Python files. One that only lies inside of somebody's repository does not belong to it.
    """
    if not _ask_git(folder, "ls-files", "--", "*.py"):
        return ""
    commit = _ask_git(folder, "rev-parse", "--short=12", "HEAD")
    changed = _ask_git(folder, "status", "--porcelain", "--untracked-files=no", "--", "*.py") if commit else ""
    return f"{commit}+" if changed else commit


def find_processor() -> str:
    """Returns the name of the processor."""
    if PROCESSORS.exists():
        for line in PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, name = line.partition(":")
            if key.strip() == "model name":
                return name.strip()
    return platform.processor() or platform.machine()


def _ask_git(folder: Path, *words: str) -> str:
    """Returns what git answers; empty if it is not there, or has nothing to say."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)  # noqa: S603, S607
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
