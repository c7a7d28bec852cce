"""What is learnt in an epoch: train what started, aggregate what arrived (Alg. 1, lines 7, 18 and 20-21)."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fallow.aggregation import Update
from fallow.experiment import Experiment
from fallow.plugins.calls import blamed, is_ours
from fallow.policies import Mask
from fallow.simulation.asking import AskedPolicy
from fallow.simulation.epochs import LivedEpoch

if TYPE_CHECKING:  # PyTorch takes seconds to load
    from fallow.learning.learner import Learner


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt in an epoch.

    Attributes:
        delivered: Clients of whom an update went into the model, shape (N,), bool; without learning, of whom one was
            received.
        dropped: Clients whose update was received and not used, by slot.
        columns: What the record says of it.
    """

    delivered: Mask
    dropped: dict[int, list[int]] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)


def learn(
    learner: "Learner | None", lived: LivedEpoch, epoch: int, policy: AskedPolicy, experiment: Experiment
) -> Learnt:
    """Trains what started in an epoch, aggregates what arrived, and returns what was learnt.

    Args:
        learner: Who learns; None in an energy-only run.
        lived: What happened in the world.
        epoch: t.
        policy: Says how much each client's update counts.
        experiment: Says in which epochs the new model is scored, on the test set and on each client's own samples.
    """
    if learner is None:
        return Learnt(lived.delivered)
    with blame_model(experiment, epoch):
        return _learn(learner, lived, epoch, policy, experiment)


def blame_model(experiment: Experiment, epoch: int | None = None) -> AbstractContextManager[None]:
    """Returns a context in which what a network that is not Fallow's raises becomes a sentence.

    Args:
        experiment: Names the model.
        epoch: t; None before the first.
    """
    if is_ours(experiment.build("model")):
        return nullcontext()
    when = "building its network" if epoch is None else f"its network, epoch {epoch}"
    return blamed(f"The model '{experiment.model.name}'", when)


def _learn(learner: "Learner", lived: LivedEpoch, epoch: int, policy: AskedPolicy, experiment: Experiment) -> Learnt:
    train_loss = learner.train([(event.slot, event.clients) for event in lived.events if event.kind == "start"], epoch)
    arrived: list[tuple[int, int, Update | None]] = []
    for kind, slot, clients, staleness in lived.events:
        for place, client in enumerate(clients.tolist() if kind != "select" else ()):
            if kind == "start":
                learner.start(client, slot)
            elif kind == "finish":
                learner.finish(client)
            elif staleness is not None:
                arrived.append((slot, client, learner.send(client, int(staleness[place]))))
    used = learner.sift([update for _, _, update in arrived if update is not None])
    kept = {id(update) for update in used}
    dropped: dict[int, list[int]] = {}
    for slot, client, update in arrived:
        if update is None or id(update) not in kept:
            dropped.setdefault(slot, []).append(client)
    importance = policy.importance()
    learner.aggregate([replace(update, importance=float(importance[update.client])) for update in used])
    # q_i(t) = 1 takes an update in the aggregation (Eq. 2): one that was dropped leaves the age to grow.
    delivered = np.zeros_like(lived.delivered)
    delivered[[update.client for update in used]] = True
    columns: dict[str, Any] = {
        "train_loss": None if np.isnan(train_loss) else train_loss,
        "aggregated": len(used),
        "dropped": sum(len(clients) for clients in dropped.values()),
    }
    if _is_due(epoch, experiment.epochs, experiment.learning.eval_every):
        scores = learner.evaluate()
        columns |= {"f1": scores.f1, "accuracy": scores.accuracy, "loss": scores.loss}
        columns["recall"] = tuple(scores.recall.tolist())
    if _is_due(epoch, experiment.epochs, experiment.learning.client_eval_every):
        columns["client_scores"] = learner.evaluate_clients()
    return Learnt(delivered, dropped, columns)


def _is_due(epoch: int, epochs: int, every: int) -> bool:
    """Returns whether an epoch is one of every so many, or the last; never where `every` is 0."""
    done = epoch + 1
    return every > 0 and (done == epochs or done % every == 0)
