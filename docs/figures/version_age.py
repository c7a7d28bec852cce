"""Twelve clients that learn: a client's distance from the new model, and everyone's version age.

python docs/figures/version_age.py
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from style import FAINT, INK, SEND, TRAIN, canvas, save

from fallow.experiment import Experiment
from fallow.policies import AnyPolicy, EpochView, Mask
from fallow.simulation.engine import Engine

SETTINGS = {
    "clients": 12,
    "epochs": 25,
    "energy": {"p": 0.3},
    "policy": {"name": "vaoi", "k": 2, "mu": 0.5},
    "data": {"name": "digits", "alpha": 0.1},
    "sgd": {"lr": 0.05},
    "learning": {"mode": "train"},
    "compute": {"strategy": "stacked", "workers": 1},
    "output": {"events": False},
}
CLIENT, THRESHOLD, TOP = 0, 0.5, 1.25


@dataclass(frozen=True)
class Witness:
    """A policy that notes what another one sees and does: M_i(t), X_i(t) and who is selected."""

    policy: AnyPolicy
    distance: list[NDArray[np.float32]] = field(default_factory=list)
    age: list[NDArray[np.int32]] = field(default_factory=list)
    selected: list[Mask] = field(default_factory=list)

    def select(self, state: object, view: EpochView, rng: np.random.Generator) -> tuple[object, Mask]:
        """Passes the question on."""
        after, mask = self.policy.select(state, view, rng)
        self.distance.append(view.distance.copy())
        self.age.append(state.age)
        self.selected.append(mask)
        return after, mask


def witness() -> Witness:
    """Runs it."""
    engine = Engine(Experiment.parse(SETTINGS))
    seen = engine.asked.policy = Witness(engine.policy)
    for _ in engine:
        pass
    return seen


def facts(seen: Witness) -> list[str]:
    """Says how old clients were at first and at last."""
    age = np.array(seen.age)
    return [f"epochs {a} to {a + 9}: mean version age {age[a : a + 10].mean():.1f}" for a in (0, 10)]


def draw(seen: Witness) -> None:
    """Draws one client's distances above everyone's ages."""
    figure, (top, below) = canvas(6.0, nrows=2, sharex=True, height_ratios=(1, 2))
    distance, age, selected = (np.array(part) for part in (seen.distance, seen.age, seen.selected))
    epochs, clients = age.shape
    own = distance[:, CLIENT]
    for shown, colour in ((own >= THRESHOLD, SEND), (own < THRESHOLD, FAINT)):
        where = np.flatnonzero(shown)
        top.bar(where, np.minimum(own[where], TOP), 0.6, color=colour)
    for epoch in np.flatnonzero(np.isinf(own)):
        top.annotate("∞", (epoch, TOP), ha="center", va="bottom")
    top.axhline(THRESHOLD, color=INK, lw=0.8, ls=(0, (4, 3)))
    top.set(ylim=(0, TOP * 1.15), yticks=[0, THRESHOLD, 1], ylabel=f"M of client {CLIENT}")
    top.set_yticks([0, THRESHOLD, 1], ["0", "μ = 0.5", "1"])
    oldest = age.max()
    for value in range(1, oldest + 1):
        where = np.argwhere(age == value)
        below.scatter(*where.T, s=170, marker="s", color=TRAIN, alpha=0.12 + 0.6 * value / oldest, lw=0)
    for epoch, client in np.argwhere(age > 0):
        below.text(epoch, client, str(age[epoch, client]), ha="center", va="center", fontsize=8)
    chosen = np.argwhere(selected).T
    below.scatter(*chosen, s=150, marker="o", facecolors="none", edgecolors=INK, lw=1.2, label="selected")
    below.set(xlabel="epoch", xlim=(-0.8, epochs - 0.2), ylim=(clients - 0.3, -0.7), xticks=range(0, epochs, 5))
    below.set_yticks(range(clients))
    below.set_ylabel("client")
    figure.legend(loc="outside lower center")
    save(figure, "version-age")


if __name__ == "__main__":
    run = witness()
    draw(run)
    print("\n".join(facts(run)))
