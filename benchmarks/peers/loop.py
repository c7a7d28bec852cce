"""The hand-written loop: this process trains the first part of each cohort, and others, if any, the rest."""

import numpy as np
from sides import plain, start
from workloads import Workload

from peers.turns import Setup, Turns


def play(turns: Turns, load: Workload, setup: Setup) -> None:
    others = start(setup.processes - 1, plain, load, setup.threads)
    run, weights = plain(load, setup.threads), load.network().weights()
    turns.ready("torch")
    for _ in range(setup.rounds):
        number = turns.wait()
        for part, pipe in enumerate(others, start=1):
            pipe.send((number, weights, part, setup.processes))
        answers = [run(number, weights, 0, setup.processes), *(pipe.recv()[:2] for pipe in others)]
        weights = np.sum([share for share, _ in answers], axis=0, dtype=np.float32)
        turns.done(max(seconds["training"] for _, seconds in answers))
    for pipe in others:
        pipe.send(None)
    turns.finish(weights)
