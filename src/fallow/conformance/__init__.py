"""Does a part of somebody's own keep its contract? One check for every kind of part that a run is made of.

>>> from fallow.conformance import check
>>> from fallow.energy import Bernoulli
>>> check(Bernoulli(p=0.3))
[]
"""

from fallow.conformance.check import check
from fallow.conformance.kinds import KINDS

__all__ = ["KINDS", "check"]
