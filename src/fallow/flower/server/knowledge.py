"""What nodes are asked beyond their batteries, whether they told it, and how a policy sees it."""

import math
from collections import Counter
from logging import WARNING

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.errors import PolicyError
from fallow.flower.internals import log
from fallow.flower.server.federation import Federation
from fallow.flower.wire.arrays import MessageError
from fallow.flower.wire.messages import TOLD, Query, Standing
from fallow.policies import Known, Needs
from fallow.state import take_rows

TYPES = {
    "probe_loss": np.float32,
    "training_loss": np.float32,
    "mean_harvest": np.float64,
    "forecast": np.float64,
    "label_mix": np.float64,
    "moments": np.float32,
}
"""The type that each has in `Known`."""

WIDE = ("label_mix", "moments")
"""What has as many numbers as the data have classes, or the network features: the server learns it from the nodes."""


def asks_of(needs: Needs) -> list[str]:
    """Returns what a policy's nodes are asked beyond batteries and distances, by its names in a standing.

    Data sizes are not among it, because every node tells its own: the aggregation rule weighs by them. Who took part,
    the server knows by itself.

    Args:
        needs: What the policy declares.

    Raises:
        PolicyError: The policy needs a forecast of an energy model, which no node in the field has.

    Examples:
        >>> asks_of(Needs(training_loss=True, participation=True, forecast_epochs=2))
        ['training_loss', 'forecast']
    """
    if needs.forecast_epochs and needs.forecast_by == "model":
        raise PolicyError(
            "The policy needs a forecast by the energy model, and a node has its battery's forecast instead; let it "
            "forecast by the truth, which on nodes is what Metered(…, forecast=f) says."
        )
    declared = {
        "probe_loss": needs.probe_loss,
        "training_loss": needs.training_loss,
        "mean_harvest": needs.mean_harvest,
        "forecast": needs.forecast_epochs > 0,
        "label_mix": needs.label_mix,
        "moments": needs.moments,
    }
    return [name for name in TOLD if declared[name]]


def check_told(standing: Standing, query: Query) -> None:
    """Checks that a node told what it was asked, nothing else, and numbers that can be.

    Args:
        standing: What the node answered.
        query: What it was asked.

    Raises:
        MessageError: It did not.
    """
    for name in TOLD:
        if not vars(standing)[name] and name not in query.asks:
            continue
        numbers = np.array(vars(standing)[name], dtype=np.float64)
        if (name in query.asks) != bool(numbers.size):
            what = f"does not tell its {name}, which the policy asks for" if name in query.asks else f"tells its {name}"
            raise MessageError(f"it {what}; the server and the node must have the same version of Fallow.")
        length = {"forecast": query.forecast_epochs}.get(name, numbers.size if name in WIDE else 1)
        if numbers.size and numbers.size != length:
            raise MessageError(f"it tells {numbers.size} numbers of its {name}, not {length}.")
        if not _possible(name, numbers):
            raise MessageError(f"its {name} can't be {numbers.tolist()}.")


def agreeing(federation: Federation, standings: dict[int, Standing]) -> dict[int, Standing]:
    """Returns the standings, by node, of those who count classes and features as the federation does.

    How many these are is what most nodes say in the first round that tells.

    Args:
        federation: Remembers how many they are.
        standings: By node.
    """
    for name in WIDE:
        counts = Counter(len(vars(standing)[name]) for _, standing in sorted(standings.items()))
        if name not in federation.widths and counts.keys() - {0}:
            federation.widths[name] = counts.most_common(1)[0][0]
    kept = {}
    for node, standing in standings.items():
        others = [name for name, width in federation.widths.items() if len(vars(standing)[name]) != width]
        if others:
            name = others[0]
            log(
                WARNING,
                "Refused: %s: it tells %s numbers of its %s, and others %s; give all nodes the same model and the "
                "same classes.",
                *(federation.roster.called(node), len(vars(standing)[name]), name, federation.widths[name]),
            )
        else:
            kept[node] = standing
    return kept


def gather(needs: Needs, federation: Federation, who: NDArray[np.intp], standings: list[Standing]) -> Known:
    """Returns what the policy declared of the clients that answered, as read-only arrays.

    Args:
        needs: What the policy declares.
        federation: Knows who took part.
        who: The clients that answered, shape (n,), intp.
        standings: How they stand, in the same order.
    """
    found: dict[str, NDArray[np.generic]] = {}
    for name in asks_of(needs):
        rows = np.array([vars(standing)[name] for standing in standings], dtype=TYPES[name])
        found[name] = rows if name in (*WIDE, "forecast") else rows[:, 0]
    if needs.data_size:
        found["data_size"] = np.array([standing.data_size for standing in standings], dtype=np.int64)
    if needs.participation:
        found |= vars(take_rows(federation.participation, who, federation.age.size))
    return Known(**{name: frozen_copy(array) for name, array in found.items()})  # type: ignore[arg-type]


def _possible(name: str, numbers: NDArray[np.float64]) -> bool:
    """Returns whether a node may tell such numbers; NaN is what it does not know."""
    if name == "label_mix":
        return not numbers.size or bool((numbers >= 0).all() and math.isclose(numbers.sum(), 1, abs_tol=1e-6))
    if name == "moments":
        return not np.isinf(numbers).any()
    return not ((numbers < 0) | (np.isinf(numbers) & ("loss" not in name))).any()
