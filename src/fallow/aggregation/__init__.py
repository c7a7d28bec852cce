"""The aggregation rules and staleness weights by name. A new one is one file (or class) and one line in its table."""

from fallow.aggregation.absent import All
from fallow.aggregation.base import (
    Aggregation,
    AnyAggregation,
    Resizing,
    Update,
    UpdateError,
    Weighed,
    aggregate,
    first_memory,
)
from fallow.aggregation.buffered import Buffered
from fallow.aggregation.fedasync import FedAsync
from fallow.aggregation.fedbuff import FedBuff
from fallow.aggregation.fedopt import FedOpt
from fallow.aggregation.fedvarp import FedVarp
from fallow.aggregation.guard import Guard
from fallow.aggregation.mifa import Mifa
from fallow.aggregation.received import Received
from fallow.aggregation.shrinkage import Shrinkage
from fallow.aggregation.staleness import Constant, Discard, Hinge, Polynomial, Staleness, discount_of

AGGREGATIONS: dict[str, type] = {
    "received": Received,
    "all": All,
    "shrinkage": Shrinkage,
    "buffered": Buffered,
    "fedasync": FedAsync,
    "fedbuff": FedBuff,
    "fedopt": FedOpt,
    "mifa": Mifa,
    "fedvarp": FedVarp,
}

STALENESS: dict[str, type] = {
    "constant": Constant,
    "polynomial": Polynomial,
    "hinge": Hinge,
    "discard": Discard,
}

__all__ = [
    "AGGREGATIONS",
    "STALENESS",
    "Aggregation",
    "All",
    "AnyAggregation",
    "Buffered",
    "Constant",
    "Discard",
    "FedAsync",
    "FedBuff",
    "FedOpt",
    "FedVarp",
    "Guard",
    "Hinge",
    "Mifa",
    "Polynomial",
    "Received",
    "Resizing",
    "Shrinkage",
    "Staleness",
    "Update",
    "UpdateError",
    "Weighed",
    "aggregate",
    "discount_of",
    "first_memory",
]
