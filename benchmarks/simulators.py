"""Fallow beside a hand-written loop, pfl and Flower, in one run: same data, cohorts, batches and first weights.

Each side is a process of its own with the frameworks that it needs, in an environment of its own, and has the better
of two set-ups: one process with all threads, or a process for each processor. The sides take turns round by round; a
side is stopped while it is not its turn. A round is training and averaging, without evaluation. The start is from the
start of the process until the first round may begin, with data loaded and the simulation's backend running. Memory is
the proportional set size of all processes of a side at its peak: taken every 0.2 seconds during the start and during
one more round, which is not timed, and once after each round.
"""

import argparse
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from peers.environments import FOLDER, Environment, NoEnvironmentError
from peers.process import Player, attempt
from peers.table import Row, difference, table
from peers.turns import Setup
from workloads import WORKLOADS

from fallow.models.weights import Weights
from fallow.processors import available_processors, name_processor

SIDES: dict[str, tuple[str, Environment | None]] = {
    "loop": ("hand-written loop", None),
    "pfl": ("pfl", Environment("pfl", ("pfl==0.6.0", "torch"), free=("absl-py", "attrs"))),
    "flower": ("Flower", Environment("flower", ("flwr[simulation]", "torch"))),
    "fallow": ("Fallow", None),
}
"""Title and environment of each side; None is this one's. ``constraints.txt`` has the versions that are not here."""


def pythons(sides: list[str]) -> dict[str, Path]:
    """Returns the Python of each side that has one, and says why others have none."""
    found = {}
    for name in sides:
        title, environment = SIDES[name]
        try:
            found[name] = environment.python() if environment else Path(sys.executable)
        except NoEnvironmentError as error:
            print(f"{title} is left out, its environment cannot be made: {error}", flush=True)
    return found


def setups(name: str, cohort: int, rounds: int) -> list[Setup]:
    """Returns the ways to spread the work; Fallow makes its threads itself."""
    processors = available_processors()
    alone, apart = Setup(1, processors, rounds), Setup(min(processors, cohort), 1, rounds)
    return [alone] if name == "fallow" or processors == 1 else [alone, apart]


def measure(workload: str, rounds: int, found: dict[str, Path]) -> bool:
    """Measures all sides on a workload, and returns whether all ended in the same weights."""
    load = WORKLOADS[workload]
    print(f"\n{load.title}: batches of {-(-load.samples_each // load.steps)}, {load.steps} steps; rounds: {rounds}")
    players = [
        Player(SIDES[name][0], name, setup, workload, python, FOLDER / f"{workload}-{name}-{setup.processes}.log")
        for name, python in found.items()
        for setup in setups(name, load.clients_a_round, rounds + 1)
    ]
    first, moves = load.network().weights(), dict[str, Weights]()

    def move(player: Player) -> None:
        moves[player.mark] = player.weights() - first

    try:
        able = attempt(players, Player.start)
        for number in range(rounds):
            able = attempt(able, timed_round(number))
        able = attempt(able, watched_round(rounds))
        able = attempt(able, move)
    finally:
        for player in players:
            player.close()
    return report(able, moves)


def timed_round(number: int) -> Callable[[Player], None]:
    def act(player: Player) -> None:
        player.seconds.append(player.round(number))
        player.watch.look()

    return act


def watched_round(number: int) -> Callable[[Player], None]:
    def act(player: Player) -> None:
        with player.watch:
            player.round(number)

    return act


def report(players: list[Player], moves: dict[str, Weights]) -> bool:
    """Prints the table, and returns whether all sides ended in the same weights."""
    if not players or players[0].name != "loop":
        print("ERROR: the hand-written loop, with which all others are compared, could not be measured.")
        return False
    reference = moves[players[0].mark]
    rows = [
        Row(
            player.title,
            str(player.setup),
            tuple(player.seconds),
            player.start_seconds,
            player.watch.peak,
            difference(moves[player.mark], reference),
        )
        for player in players
    ]
    for line in table(rows):
        print(line)
    versions = {package: version for player in players for package, version in player.versions.items()}
    print("versions:", ", ".join(f"{package} {version}" for package, version in sorted(versions.items())))
    print(f"weights: moves differ from the hand-written loop's by at most {max(row.difference for row in rows):.1e}")
    return all(row.agrees for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=["a", "b", "both"], default="both")
    parser.add_argument("--rounds", type=int, default=0, help="rounds; 0 is 3 of A and 10 of B")
    parser.add_argument(
        "--sides", nargs="+", choices=SIDES, default=list(SIDES), help="which sides; the loop is needed"
    )
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    processors = available_processors()
    print(f"{name_processor()}, {processors} processors, Python {platform.python_version()}")
    found = pythons(["loop", *(name for name in options.sides if name != "loop")])
    workloads = ["a", "b"] if options.workload == "both" else [options.workload]
    agree = [measure(name, options.rounds or {"a": 3, "b": 10}[name], found) for name in workloads]
    sys.exit(not all(agree))


if __name__ == "__main__":
    main()
