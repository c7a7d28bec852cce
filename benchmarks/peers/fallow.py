"""Fallow: one process, which chooses its strategy and its threads as in any run."""

from sides import ours
from workloads import Workload

from peers.turns import Setup, Turns


def play(turns: Turns, load: Workload, setup: Setup) -> None:
    run, weights = ours(load, "fp32", probes=False), load.network().weights()
    turns.ready("fallow", "torch")
    for _ in range(setup.rounds):
        weights, seconds = run(turns.wait(), weights, 0, 1)
        turns.done(sum(seconds.values()))
    turns.finish(weights)
