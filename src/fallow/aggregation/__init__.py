"""The aggregation rules and staleness weights by name. A new one is one file (or class) and one line in its table."""

from fallow.aggregation.absent import All
from fallow.aggregation.base import Aggregation, AnyAggregation, Update, UpdateError, Weighed, aggregate
from fallow.aggregation.buffered import Buffered
from fallow.aggregation.received import Received
from fallow.aggregation.shrinkage import Shrinkage
from fallow.aggregation.staleness import Constant, Discard, Hinge, Polynomial, Staleness

AGGREGATIONS: dict[str, type] = {
    "received": Received,
    "all": All,
    "shrinkage": Shrinkage,
    "buffered": Buffered,
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
    "Hinge",
    "Polynomial",
    "Received",
    "Shrinkage",
    "Staleness",
    "Update",
    "UpdateError",
    "Weighed",
    "aggregate",
]
