"""How a node takes in a new global model: it checks it, keeps it, and looks at it with its probe batch."""

import math

from fallow.flower.node.commons import Seen
from fallow.flower.node.facts import Facts, TaskOnDemand
from fallow.flower.node.memory import Sight
from fallow.flower.node.shelf import Opened, Shelf
from fallow.flower.wire.arrays import MessageError, Named, flattened, version_of
from fallow.flower.wire.messages import Query
from fallow.models.weights import Weights


def keep_model(shelf: Shelf, version: str, model: Named, facts: Facts) -> None:
    """Checks a global model and keeps it.

    Args:
        shelf: Where it is kept.
        version: That the server says it has.
        model: As it came.
        facts: What the node knows of its network.

    Raises:
        MessageError: It has other parameters than the node's network, or another version.
    """
    if shelf.has_checked(version, model):
        return
    flattened(model, facts.layout)
    if version_of(model) != version:
        raise MessageError(f"The model that came with version {version} is another.")
    shelf.put_model(version, model)


def probe_model(learns: TaskOnDemand, shelf: Shelf, opened: Opened, sight: Sight, query: Query) -> bool:
    """Makes the forward pass of a new model, and returns whether the model was there.

    Args:
        learns: What the node learns.
        shelf: Where it keeps the model.
        opened: Its memory, in which h_i may be missing; changed in place.
        sight: What it saw; changed in place.
        query: From the server.
    """
    memory = opened.memory
    compares, losses = query.distance == "features", "probe_loss" in query.asks
    if sight.version == query.version and (memory.moment is not None or not compares):
        return True
    model = shelf.model(query.version)
    if model is None:
        return False
    facts = learns.facts(lambda: sight.facts)
    if memory.moment is None and compares:
        memory.moment = learns.task.moment(flattened(model, facts.layout))
    if compares or losses:
        seen = shelf.seen(query.version) if facts.kept_from is None else None
        if seen is None or (losses and math.isnan(seen.loss)):
            seen = _look_at(flattened(model, facts.layout), learns, facts, opened, query)
        sight.features, sight.loss = seen
    sight.version = query.version
    return True


def _look_at(weights: Weights, learns: TaskOnDemand, facts: Facts, opened: Opened, query: Query) -> Seen:
    """Returns the mean feature of the node's probe batch, and its loss if the query asks for it."""
    own, held, battery = opened.memory.statistics, opened.memory.held, opened.battery
    lives = query.epoch > max(opened.memory.epoch, battery.lived)
    if held and not held.fault and lives and battery.look(query.epoch).finishing:  # it ends before the probe
        own = facts.statistics(held.weights)
    return Seen(*learns.task.probe(weights, query.epoch, own, losses="probe_loss" in query.asks))
