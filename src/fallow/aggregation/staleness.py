"""How an update's age reduces its weight, for every rule. The rest of the weight goes to the current model."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field

from fallow.plugins.calls import call, is_ours
from fallow.plugins.returned import plain_number


class Staleness(Protocol):
    """Reduces the weight of late updates. A frozen dataclass whose fields are its options."""

    def discount(self, epochs: int) -> float:
        """Returns the factor on an update's weight, from 0 to 1; 0 discards the update.

        Args:
            epochs: How many epochs late the update is.
        """
        ...


def discount_of(staleness: Staleness, epochs: int) -> float:
    """Returns the factor on an update's weight, checked: from 0 to 1.

    Args:
        staleness: How an update's age reduces its weight.
        epochs: How many epochs late the update is.

    Raises:
        PluginError: A staleness weight that is not Fallow's failed, or returned something else.
    """
    if is_ours(staleness):
        return staleness.discount(epochs)
    part = f"The staleness weight '{type(staleness).__name__}'"
    factor = call(part, "discount", staleness.discount, epochs)
    return plain_number(f"{part} of an update that is {epochs} epochs late", factor, 0.0, 1.0)


@dataclass(frozen=True)
class Constant:
    """A late update counts in full (reading 3)."""

    def discount(self, epochs: int) -> float:
        """Returns 1."""
        return 1.0


@dataclass(frozen=True)
class Polynomial:
    """(1 + s)^−a for an update that is s epochs late.

    Attributes:
        a: How fast age reduces the weight.

    Examples:
        >>> Polynomial(a=0.5).discount(3)
        0.5
    """

    a: Annotated[float, Field(ge=0, description="how fast age takes weight off")] = 0.5

    def discount(self, epochs: int) -> float:
        """Returns the factor; 1 for an update that is not late."""
        return float((1 + epochs) ** -self.a)


@dataclass(frozen=True)
class Hinge:
    """1 up to b epochs late, 1 / (a·(s − b) + 1) after.

    Attributes:
        a: How fast age reduces the weight after b epochs.
        b: How many epochs late an update may be and still count in full.

    Examples:
        >>> Hinge(a=1.0, b=4).discount(5)
        0.5
    """

    a: Annotated[float, Field(ge=0, description="how fast age takes weight off after the grace")] = 10.0
    b: Annotated[int, Field(ge=0, description="epochs of grace")] = 4

    def discount(self, epochs: int) -> float:
        """Returns the factor; 1 up to b epochs."""
        return 1.0 if epochs <= self.b else 1.0 / (self.a * (epochs - self.b) + 1.0)


@dataclass(frozen=True)
class Discard:
    """An update counts in full up to a bound, and not at all after it.

    Attributes:
        after: The most epochs late that still counts; 0 discards every late update.

    Examples:
        >>> Discard(after=1).discount(1), Discard(after=1).discount(2)
        (1.0, 0.0)
    """

    after: Annotated[int, Field(ge=0, description="most epochs late; 0 discards every late update")] = 0

    def discount(self, epochs: int) -> float:
        """Returns 1 up to the bound, and 0 after it."""
        return 1.0 if epochs <= self.after else 0.0
