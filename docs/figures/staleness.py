"""How late updates come, and what that leaves of their weight.

python docs/figures/staleness.py
"""

from collections import Counter

import numpy as np
from style import SERIES, canvas, save

from fallow.aggregation import STALENESS
from fallow.experiment import Experiment
from fallow.simulation.engine import Engine

HARVESTS = (0.01, 0.1, 1.0)
LATEST = 4
RULES = {"polynomial": "a = 0.5", "hinge": "a = 10, b = 4", "discard": "after = 0"}


def lateness(p: float) -> Counter[int]:
    """Runs FedAvg with the paper's numbers and counts its updates by their staleness."""
    experiment = Experiment.parse({"energy": {"p": p}, "policy": {"name": "fedavg"}})
    return Counter(
        int(late)
        for record in Engine(experiment)
        for kind, _, _, staleness in record.events
        if kind == "upload"
        for late in staleness
    )


def facts(counts: dict[float, Counter[int]]) -> list[str]:
    """Says how many updates are how late."""
    lines = []
    for p, count in counts.items():
        total, late = sum(count.values()), {n: count[n] for n in range(LATEST)}
        beyond = total - sum(late.values())
        shares = ", ".join(f"{n}: {number / total:.1%}" for n, number in late.items())
        lines.append(f"p = {p}: {total:,} updates; {shares}, more: {beyond / total:.1%}")
    return lines


def draw(counts: dict[float, Counter[int]]) -> None:
    """Draws the shares on the left, the weights on the right."""
    figure, (left, right) = canvas(3.4, ncols=2)
    for place, ((p, count), colour) in enumerate(zip(counts.items(), SERIES, strict=True)):
        total = sum(count.values())
        heights = [count[n] / total for n in range(LATEST)] + [sum(v for n, v in count.items() if n >= LATEST) / total]
        left.bar(np.arange(LATEST + 1) + (place - 1) * 0.27, heights, 0.25, color=colour, label=f"p = {p:g}")
    left.set(xlabel="epochs late", ylabel="share of the updates", ylim=(0, 1))
    left.set_xticks(range(LATEST + 1), [*map(str, range(LATEST)), f"{LATEST} or more"])
    epochs = np.arange(11)
    for (rule, options), colour, marker in zip(RULES.items(), SERIES, "osD", strict=True):
        weights = [STALENESS[rule]().discount(int(late)) for late in epochs]
        right.plot(epochs, weights, color=colour, marker=marker, ms=4, lw=1.2, label=f"{rule} ({options})")
    right.set(xlabel="epochs late", ylabel="what is left of its weight", ylim=(-0.03, 1.05), xticks=range(0, 11, 2))
    left.legend()
    right.legend()
    save(figure, "staleness")


if __name__ == "__main__":
    run = {p: lateness(p) for p in HARVESTS}
    draw(run)
    print("\n".join(facts(run)))
