"""Plays one side: ``python -m peers NAME WORKLOAD PROCESSES THREADS ROUNDS DESCRIPTOR``."""

import sys
from importlib import import_module

from workloads import WORKLOADS

from peers.turns import Setup, Turns

if __name__ == "__main__":
    name, workload, *numbers = sys.argv[1:]
    *spread, descriptor = map(int, numbers)
    import_module(f"peers.{name}").play(Turns(descriptor), WORKLOADS[workload], Setup(*spread))
