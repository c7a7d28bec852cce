"""What a node tells of itself because a policy declares that it needs it. Nobody is told what was not asked for."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import NodeError
from fallow.flower.batteries import HarvestMeter, OpenBattery
from fallow.flower.node.facts import Facts
from fallow.flower.node.memory import Sight
from fallow.flower.node.shelf import Shelf
from fallow.flower.wire.arrays import MessageError, flattened
from fallow.flower.wire.messages import TOLD, Query
from fallow.learning.distances import distances, parameter_distances
from fallow.models.weights import Weights


def check_query(query: Query, *, share_labels: bool) -> None:
    """Checks that the node can tell what it is asked, and may.

    Args:
        query: From the server.
        share_labels: Whether the node's owner lets it tell the mix of its labels.

    Raises:
        MessageError: The query asks for something that this version of Fallow does not know.
        NodeError: The query asks for the mix of labels, and the owner did not agree.
    """
    unknown = sorted(set(query.asks) - set(TOLD))
    if unknown:
        raise MessageError(f"The server asks for {', '.join(unknown)}; this node can tell {', '.join(TOLD)}.")
    if "label_mix" in query.asks and not share_labels:
        raise NodeError(
            "The server's policy asks for the shares of the classes in this node's data, which breaks the privacy that "
            "federated learning promises, and this node keeps them to itself; if its owner agrees, give client_app "
            "share_labels=True, or the node config share-labels=true."
        )


def tell(
    query: Query,
    facts: Facts,
    battery: OpenBattery,
    *,
    moment: NDArray[np.float32] | None,
    training_loss: float,
    probe_loss: float,
) -> dict[str, list[float]]:
    """Returns what a query asks for beyond the battery and the distance, by its name in a standing.

    Args:
        query: From the server.
        facts: What it knows of its data and network.
        battery: What it lives on, at the beginning of the epoch.
        moment: h_i, shape (F,), float32; None before the first training.
        training_loss: The root mean square of the samples' losses in the last training; NaN before it.
        probe_loss: The mean loss of the probe batch; NaN if the probe was not paid for.
    """
    if not query.asks:
        return {}
    meter = battery if isinstance(battery, HarvestMeter) else None
    epoch, epochs, error = query.epoch, query.forecast_epochs, query.forecast_error
    unknown = [math.nan] * facts.feature_size
    answers: dict[str, Callable[[], list[float]]] = {
        "probe_loss": lambda: [probe_loss],
        "training_loss": lambda: [training_loss],
        "mean_harvest": lambda: [meter.mean_harvest(epoch) if meter else math.nan],
        "forecast": lambda: meter.forecast(epoch, epochs, error).tolist() if meter else [math.nan] * epochs,
        "label_mix": lambda: facts.label_mix.tolist(),
        "moments": lambda: unknown if moment is None else moment.tolist(),
    }
    return {name: answers[name]() for name in query.asks}


def distance_of(
    facts: Facts,
    shelf: Shelf,
    moment: NDArray[np.float32] | None,
    local: Weights | None,
    sight: Sight,
    query: Query,
) -> float:
    """Returns M_i, as the query wants it measured; NaN where it wants none.

    Args:
        facts: What it knows of its data and network.
        shelf: Where it keeps the global model.
        moment: h_i, shape (F,), float32; None before the first training.
        local: Its last model, shape (P,), float32; None if it keeps none.
        sight: What it saw of the global model.
        query: From the server.
    """
    if query.distance == "features" and sight.features is not None and moment is not None:
        return float(distances(sight.features[None], moment[None])[0])
    model = shelf.model(query.version) if query.distance == "parameters" else None
    if model is not None:
        return float(parameter_distances(flattened(model, facts.layout), [local])[0])
    return math.nan
