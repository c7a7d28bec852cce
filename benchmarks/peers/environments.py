"""A virtual environment for each peer, below a folder that git ignores."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-peers"


class NoEnvironmentError(Exception):
    """An environment could not be made; the message is the reason."""


@dataclass(frozen=True)
class Environment:
    """What a peer needs beside Fallow.

    Attributes:
        name: The name of its folder.
        requirements: What pip installs.
        free: Packages of which the peer needs other versions than ``constraints.txt`` has.
    """

    name: str
    requirements: tuple[str, ...]
    free: tuple[str, ...] = ()

    def python(self, folder: Path = FOLDER) -> Path:
        """Returns the environment's Python; makes the environment first if it is not there, or is for something else.

        Raises:
            NoEnvironmentError: It cannot be made.
        """
        place = folder / self.name
        python, note = place / "bin" / "python", place / "installed.txt"
        limits = constraints(self.free)
        wanted = "\n".join([*self.requirements, limits])
        if note.is_file() and note.read_text(encoding="utf-8") == wanted:
            return python
        print(f"Making {place} for {', '.join(self.requirements)}; this takes some minutes …", flush=True)
        run([sys.executable, "-m", "venv", "--clear", str(place)])
        (place / "constraints.txt").write_text(limits, encoding="utf-8")
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
        run([*pip, "-c", str(place / "constraints.txt"), *self.requirements, "-e", str(ROOT)])
        note.write_text(wanted, encoding="utf-8")
        return python


def constraints(free: tuple[str, ...]) -> str:
    """Returns Fallow's constraints without those of some packages."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.split("==")[0] not in free) + "\n"


def run(command: list[str]) -> None:
    """Runs a command.

    Raises:
        NoEnvironmentError: It fails; the reason is the last line of its errors.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoEnvironmentError(str(error)) from error
    if done.returncode:
        raise NoEnvironmentError(reason(done.stderr or done.stdout))


def reason(output: str) -> str:
    """Returns the last line of an output, the last that pip calls an error if there is one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return next(iter([*errors[-1:], *lines[-1:]]), "no reason was given").removeprefix("ERROR: ")
