"""The local objectives by name. A new one is one file, one line in the table and one row in the conformance test."""

from fallow.objectives.balanced_softmax import BalancedSoftmax
from fallow.objectives.base import Objective, logit_offsets
from fallow.objectives.cross_entropy import CrossEntropy
from fallow.objectives.fedlc import FedLC

OBJECTIVES: dict[str, type] = {
    "cross-entropy": CrossEntropy,
    "balanced-softmax": BalancedSoftmax,
    "fedlc": FedLC,
}

__all__ = ["OBJECTIVES", "BalancedSoftmax", "CrossEntropy", "FedLC", "Objective", "logit_offsets"]
