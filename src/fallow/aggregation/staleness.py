"""What age leaves of an update's weight. Combines with every rule; what is taken off stays with the current model."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field


class Staleness(Protocol):
    """A frozen dataclass whose fields are its options."""

    def discount(self, epochs: int) -> float:
        """Returns a factor from 0 to 1 for an update so many epochs late; 0 discards it as if it had never come."""
        ...


@dataclass(frozen=True)
class Constant:
    """A late update counts in full (reading 3)."""

    def discount(self, epochs: int) -> float:
        """Always 1."""
        return 1.0


@dataclass(frozen=True)
class Polynomial:
    """(1 + s)^−a for an update that is s epochs late."""

    a: Annotated[float, Field(ge=0, description="how fast age takes weight off")] = 0.5

    def discount(self, epochs: int) -> float:
        """1 for an update in time."""
        return float((1 + epochs) ** -self.a)


@dataclass(frozen=True)
class Hinge:
    """1 up to b epochs late, 1 / (a·(s − b) + 1) after."""

    a: Annotated[float, Field(ge=0, description="how fast age takes weight off after the grace")] = 10.0
    b: Annotated[int, Field(ge=0, description="epochs of grace")] = 4

    def discount(self, epochs: int) -> float:
        """1 within the grace."""
        return 1.0 if epochs <= self.b else 1.0 / (self.a * (epochs - self.b) + 1.0)


@dataclass(frozen=True)
class Discard:
    """An update counts in full up to a bound, and not at all after it."""

    after: Annotated[int, Field(ge=0, description="most epochs late; 0 discards every late update")] = 0

    def discount(self, epochs: int) -> float:
        """1 or 0."""
        return 1.0 if epochs <= self.after else 0.0
