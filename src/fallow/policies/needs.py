"""What a policy needs beyond batteries. What is not declared is not computed, and not paid for."""

from dataclasses import dataclass, fields
from typing import Literal, Protocol, get_args, runtime_checkable

from fallow.errors import PolicyError
from fallow.paper import PAPER_MU
from fallow.plugins.calls import RAISED, place_of
from fallow.plugins.wording import in_words

Distance = Literal["none", "features", "parameters"]
"""What a policy compares of two models: nothing, features of the client's data (Eq. 5), or all parameters (Eq. 2)."""

ForecastBy = Literal["truth", "model"]
"""Where a forecast comes from: the true future with an error of the policy's choice, or what the energy model itself
expects, with the error that it states."""


@dataclass(frozen=True)
class Needs:
    """What a policy needs beyond batteries. What is not declared is not computed, and not paid for.

    Attributes:
        distance: Which distance `EpochView.distance` holds. The clients pay for the probe, if it has a cost.
        threshold: The distance from which the policy calls a change significant.
        ideal: Whether the policy is a bound that ignores time and energy: every client that it selects trains and
            delivers in the same epoch, at no cost.
        probe_loss: Whether it reads the loss of the probe batch. The clients pay for the probe, if it has a cost.
        training_loss: Whether it reads the loss of each client's last training.
        data_size: Whether it reads how many samples each client has.
        participation: Whether it reads how often and when each client was selected and delivered, and how late.
        mean_harvest: Whether it reads each client's mean harvest so far.
        forecast_epochs: For how many epochs, from this one on, it reads a forecast of each client's harvest.
        forecast_error: The relative error of that forecast: the deviation of its logarithm; 0 knows the future. Only
            for a forecast by the truth.
        forecast_by: "truth": the true future times an error; "model": what the energy model expects, which is told with
            its root mean square error.
        label_mix: Whether it reads the shares of the classes in each client's data. That breaks the privacy that
            federated learning promises.
        moments: Whether it reads h_i, the mean feature over each client's last training.

    Raises:
        PolicyError: The distance is unknown, or a number is negative.
    """

    distance: Distance = "none"
    threshold: float = PAPER_MU
    ideal: bool = False
    probe_loss: bool = False
    training_loss: bool = False
    data_size: bool = False
    participation: bool = False
    mean_harvest: bool = False
    forecast_epochs: int = 0
    forecast_error: float = 0.0
    forecast_by: ForecastBy = "truth"
    label_mix: bool = False
    moments: bool = False

    def __post_init__(self) -> None:
        if self.distance not in get_args(Distance):
            raise PolicyError(
                f"The policy needs the distance {self.distance!r}; it can be one of {', '.join(get_args(Distance))}."
            )
        if not self.threshold >= 0:
            raise PolicyError(f"The policy needs the threshold {self.threshold}; it must be 0 or more.")
        if self.forecast_epochs < 0:
            raise PolicyError(f"The policy needs a forecast of {self.forecast_epochs} epochs; it must be 0 or more.")
        if not 0 <= self.forecast_error <= MOST_ERROR:
            raise PolicyError(
                f"The policy needs a forecast with the error {self.forecast_error}; it must be 0 to {MOST_ERROR:g}."
            )

        if self.forecast_by not in get_args(ForecastBy):
            raise PolicyError(
                f"The policy needs a forecast by {self.forecast_by!r}; it can be one of "
                f"{', '.join(get_args(ForecastBy))}."
            )
        if self.forecast_by == "model" and self.forecast_error:
            raise PolicyError(
                f"The policy needs a forecast by the model with the error {self.forecast_error}, and a model states "
                "its own error; leave forecast_error at 0."
            )

    @property
    def probes(self) -> bool:
        """Whether clients look at the new model before the selection, and pay for that."""
        return self.distance != "none" or self.probe_loss

    def in_words(self) -> str:
        """Returns what is needed beyond batteries, as a list of words; "batteries" if nothing is.

        Examples:
            >>> Needs(distance="features", data_size=True).in_words()
            'distance of features, data size'
            >>> Needs().in_words()
            'batteries'
        """
        words = [f"distance of {self.distance}"] if self.distance != "none" else []
        words += [field.name.replace("_", " ") for field in fields(self) if getattr(self, field.name) is True]
        if self.forecast_epochs:
            by = " by the energy model" if self.forecast_by == "model" else ""
            words.append(f"forecast of {self.forecast_epochs} epochs{by}")
        return ", ".join(words).replace("label mix", "label mix (breaks privacy)") or "batteries"


MOST_ERROR = 5.0
"""The largest error of a forecast; beyond it the factors leave the range of numbers that mean anything."""


@runtime_checkable
class Needy(Protocol):
    """A policy that declares what it needs beyond batteries. A policy without `needs` has those of ``Needs()``."""

    @property
    def needs(self) -> Needs:
        """What is computed for the policy."""
        ...


def needs_of(policy: object) -> Needs:
    """Returns what a policy declares that it needs; a policy that declares nothing needs nothing beyond batteries.

    Args:
        policy: Any policy.

    Raises:
        PolicyError: The policy's `needs` raises an error, or is no `Needs`.

    Examples:
        >>> from fallow.policies import FedAvg, VAoI
        >>> needs_of(VAoI(mu=0.3)).threshold
        0.3
        >>> needs_of(FedAvg()).distance
        'none'
    """
    try:
        needs = policy.needs if isinstance(policy, Needy) else Needs()
    except PolicyError:
        raise
    except RAISED as error:  # a user's code may raise anything
        place = place_of(error)
        where = f" ({place})" if place else ""
        raise PolicyError(f"The policy's needs raised {in_words(error)}{where}.") from error
    if not isinstance(needs, Needs):
        raise PolicyError(f"The policy's needs are a {type(needs).__name__}; they must be a fallow.policies.Needs.")
    return needs
