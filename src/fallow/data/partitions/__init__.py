"""The partitions by name: which training images each client has. A new one is one file and one line in the table."""

from fallow.data.partitions.base import Partition, samples_per_client
from fallow.data.partitions.dirichlet import Dirichlet
from fallow.data.partitions.iid import Iid
from fallow.data.partitions.one_class import OneClass

PARTITIONS: dict[str, type] = {
    "dirichlet": Dirichlet,
    "iid": Iid,
    "one-class": OneClass,
}

__all__ = ["PARTITIONS", "Dirichlet", "Iid", "OneClass", "Partition", "samples_per_client"]
