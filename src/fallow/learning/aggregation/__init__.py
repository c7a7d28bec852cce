"""The aggregation rules and staleness weights by name. A new one is one file (or class) and one line in its table."""

from fallow.learning.aggregation.absent import All
from fallow.learning.aggregation.base import Aggregation, AnyAggregation, Update, UpdateError, Weighed, aggregate
from fallow.learning.aggregation.buffered import Buffered
from fallow.learning.aggregation.received import Received
from fallow.learning.aggregation.shrinkage import Shrinkage
from fallow.learning.aggregation.staleness import Constant, Discard, Hinge, Polynomial, Staleness

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
    "AnyAggregation",
    "Staleness",
    "Update",
    "UpdateError",
    "Weighed",
    "aggregate",
]
