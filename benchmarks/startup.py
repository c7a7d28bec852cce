"""How long a command takes to answer, beside a bare import of what every program of this kind loads.

Each command runs in a process of its own, in turn with the others, and the least of its timings counts. Beside the
bare import stands what one empty Pydantic model costs on top of it: ``import pydantic`` alone loads little of it.
`make bench-startup` runs it; the aim is at most 1.5 times the bare import.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AIM = 1.5
REPEATS = 15
BARE = "a bare import"
IMPORTS = "import numpy, pydantic, typer"
A_MODEL = f"{IMPORTS}\nclass Settings(pydantic.BaseModel):\n    seed: int = 0"


def commands(run: Path) -> dict[str, list[str]]:
    """Returns what is timed, by its title: the bare imports, then the commands that should answer at once."""
    fallow = {
        "fallow --version": ["--version"],
        "fallow --help": ["--help"],
        "fallow list": ["list"],
        "fallow config": ["config"],
        "fallow show DIR": ["show", str(run)],
        "fallow check vaoi": ["check", "vaoi"],
    }
    return {
        BARE: [sys.executable, "-c", IMPORTS],
        "… and one model": [sys.executable, "-c", A_MODEL],
        **{title: [sys.executable, "-m", "fallow", *words] for title, words in fallow.items()},
    }


def least_seconds(timed: dict[str, list[str]], repeats: int) -> dict[str, float]:
    """Returns the least of the timings of each; they are taken in turn, so that a busy moment disturbs all alike."""
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(repeats):
        for title, command in timed.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[title] = min(best[title], time.perf_counter() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="timings of each command")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        make_run = [sys.executable, "-m", "fallow", "run", "--set=epochs=3", f"--out={run}"]
        subprocess.run(make_run, check=True, stdout=subprocess.DEVNULL)
        best = least_seconds(commands(run), repeats)
    for title, seconds in best.items():
        ratio = seconds / best[BARE]
        over = f"  over the aim of {AIM:g}" if title.startswith("fallow") and ratio > AIM else ""
        print(f"{title:<20}{seconds * 1000:6.0f} ms{ratio:6.2f}{over}")


if __name__ == "__main__":
    main()
