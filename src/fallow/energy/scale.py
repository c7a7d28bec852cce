"""What a slot and a unit are in seconds and joules, for those who state it."""

from dataclasses import dataclass

from fallow.errors import ConfigError


@dataclass(frozen=True)
class Scale:
    """The length of a slot and the energy of a unit. A unit is the quantum: energy is kept in whole units.

    Attributes:
        slot_seconds: Seconds of a slot; 0 is not stated.
        unit_joules: Joules of a unit; 0 is not stated.

    Examples:
        >>> Scale(slot_seconds=60.0, unit_joules=0.5).units(watts=0.1)
        12.0
    """

    slot_seconds: float = 0.0
    unit_joules: float = 0.0

    @property
    def stated(self) -> bool:
        """Whether both are stated, so that watts can be turned into units."""
        return self.slot_seconds > 0 and self.unit_joules > 0

    def units(self, watts: float) -> float:
        """Returns the units that a power gives in a slot, a real number.

        Args:
            watts: The power, constant over the slot.
        """
        return watts * self.slot_seconds / self.unit_joules

    def joules(self, units: float) -> float:
        """Returns the joules of some units.

        Args:
            units: How many.
        """
        return units * self.unit_joules

    def require(self, what: str) -> None:
        """Raises `ConfigError` where slot or unit are not stated.

        Args:
            what: What needs them, as the subject of the error sentence.
        """
        if not self.stated:
            missing = [
                name
                for name, value in (("slot_seconds", self.slot_seconds), ("unit_joules", self.unit_joules))
                if not value > 0
            ]
            raise ConfigError(
                f"{what} is in watts, and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not stated; "
                "set the seconds of a slot and the joules of a unit."
            )
