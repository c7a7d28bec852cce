"""The partitions by name: which training samples each client has. A new one is one file and one line in the table."""

from fallow.data.partitions.base import Partition, Parts
from fallow.data.partitions.dirichlet import Dirichlet
from fallow.data.partitions.iid import Iid
from fallow.data.partitions.natural import Natural
from fallow.data.partitions.one_class import OneClass

PARTITIONS: dict[str, type] = {
    "dirichlet": Dirichlet,
    "iid": Iid,
    "one-class": OneClass,
    "natural": Natural,
}

__all__ = ["PARTITIONS", "Dirichlet", "Iid", "Natural", "OneClass", "Partition", "Parts"]
