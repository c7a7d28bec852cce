"""What a policy sees: at the first slot of an epoch, and in every slot when trainings may start."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError

Mask = NDArray[np.bool_]
"""One bool for each client, shape (N,)."""

Declared = TypeVar("Declared")


@dataclass(frozen=True)
class Known:
    """What was gathered for a policy beyond batteries; None is what the policy did not declare in its `needs`.

    Attributes:
        probe_loss: See `EpochView.probe_loss`.
        training_loss: See `EpochView.training_loss`.
        data_size: See `EpochView.data_size`.
        selections: See `EpochView.selections`.
        deliveries: See `EpochView.deliveries`.
        last_selected: See `EpochView.last_selected`.
        last_delivered: See `EpochView.last_delivered`.
        last_staleness: See `EpochView.last_staleness`.
        mean_harvest: See `EpochView.mean_harvest`.
        forecast: See `EpochView.forecast`.
        forecast_error: See `EpochView.forecast_error`.
        label_mix: See `EpochView.label_mix`.
        moments: See `EpochView.moments`.
    """

    probe_loss: NDArray[np.float32] | None = None
    training_loss: NDArray[np.float32] | None = None
    data_size: NDArray[np.int64] | None = None
    selections: NDArray[np.int32] | None = None
    deliveries: NDArray[np.int32] | None = None
    last_selected: NDArray[np.int32] | None = None
    last_delivered: NDArray[np.int32] | None = None
    last_staleness: NDArray[np.int32] | None = None
    mean_harvest: NDArray[np.float64] | None = None
    forecast: NDArray[np.float64] | None = None
    forecast_error: NDArray[np.float64] | None = None
    label_mix: NDArray[np.float64] | None = None
    moments: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class EpochView:
    """What a policy sees at the first slot of an epoch, after harvest and uploads. The arrays are read-only.

    The properties beyond batteries and distance raise `PolicyError` for a policy that does not declare them.

    Attributes:
        epoch: t, from 0.
        clients: N, the number of clients.
        slots_per_epoch: S, the slots of an epoch.
        battery: Units that can be spent: what is stored above the cut-off; 0 for a client that sleeps or was not
            reached, shape (N,), int32.
        capacity: Most units that can be spent: what the battery can store above the cut-off, shape (N,), int32.
        train_cost: κ_i, units of a training, with the model's download where it is still to come, shape (N,), int32.
        transmit_cost: Units of an upload, shape (N,), int32.
        train_slots: Slots of a training, shape (N,), int32; as many as units in the paper.
        transmit_slots: Slots of an upload, shape (N,), int32; 1 in the paper.
        training: Whether a client is in training, shape (N,), bool.
        unsent: Whether a client has a finished update that waits to be sent, or is on its way, shape (N,), bool.
        distance: M_i, shape (N,), float32, if the policy needs it; otherwise NaN for everyone. In an energy-only run
            +inf (significant) or −inf (not); NaN for a client that could not pay for its probe.
        delivered: Whether a client's update was received in the previous epoch, shape (N,), bool.
        known: What else was gathered for the policy.
    """

    epoch: int
    clients: int
    slots_per_epoch: int
    battery: NDArray[np.int32]
    capacity: NDArray[np.int32]
    train_cost: NDArray[np.int32]
    transmit_cost: NDArray[np.int32]
    train_slots: NDArray[np.int32]
    transmit_slots: NDArray[np.int32]
    training: Mask
    unsent: Mask
    distance: NDArray[np.float32]
    delivered: Mask
    known: Known = Known()

    @property
    def probe_loss(self) -> NDArray[np.float32]:
        """The mean loss of each probe batch under w(t), shape (N,), float32; NaN where it is not known.

        It is not known of a client that could not pay for its probe, and of anyone in an energy-only run.
        """
        return _declared(self.known.probe_loss, "probe_loss")

    @property
    def training_loss(self) -> NDArray[np.float32]:
        """The root mean square of the samples' losses over each client's last training, shape (N,), float32.

        NaN for a client that has not finished one yet, and for everyone in an energy-only run.
        """
        return _declared(self.known.training_loss, "training_loss")

    @property
    def data_size(self) -> NDArray[np.int64]:
        """|D_i|, the samples of each client, shape (N,), int64; 1 for everyone in an energy-only run."""
        return _declared(self.known.data_size, "data_size")

    @property
    def selections(self) -> NDArray[np.int32]:
        """How many epochs each client was selected in so far, shape (N,), int32."""
        return _declared(self.known.selections, "selections", "participation")

    @property
    def deliveries(self) -> NDArray[np.int32]:
        """How many epochs an update of each client was received in so far, shape (N,), int32."""
        return _declared(self.known.deliveries, "deliveries", "participation")

    @property
    def last_selected(self) -> NDArray[np.int32]:
        """The last epoch that each client was selected in, shape (N,), int32; −1 for never."""
        return _declared(self.known.last_selected, "last_selected", "participation")

    @property
    def last_delivered(self) -> NDArray[np.int32]:
        """The last epoch that an update of each client was received in, shape (N,), int32; −1 for never."""
        return _declared(self.known.last_delivered, "last_delivered", "participation")

    @property
    def last_staleness(self) -> NDArray[np.int32]:
        """How many epochs late each client's last update was, shape (N,), int32; −1 where there was none."""
        return _declared(self.known.last_staleness, "last_staleness", "participation")

    @property
    def mean_harvest(self) -> NDArray[np.float64]:
        """Units that each client harvested a slot, the mean over all epochs before this one, shape (N,), float64.

        In the first epoch nothing is known of it: 0 for everyone.
        """
        return _declared(self.known.mean_harvest, "mean_harvest")

    @property
    def forecast(self) -> NDArray[np.float64]:
        """Units that each client is expected to harvest, shape (N, H), float64.

        The first column is the rest of this epoch, after the slot that has just passed; the others are the epochs
        that follow.
        """
        return _declared(self.known.forecast, "forecast", "forecast_epochs")

    @property
    def forecast_error(self) -> NDArray[np.float64]:
        """The root mean square error of each number of `forecast`, in units, shape (N, H), float64.

        The energy model states it. A forecast by the truth has the relative error that the policy declared.
        """
        return _declared(self.known.forecast_error, "forecast_error", 'forecast_epochs and forecast_by="model"')

    @property
    def label_mix(self) -> NDArray[np.float64]:
        """The share of each class in each client's samples, shape (N, K), float64; breaks the privacy that FL promises.

        In an energy-only run there are no labels: shape (N, 1), NaN.
        """
        return _declared(self.known.label_mix, "label_mix")

    @property
    def moments(self) -> NDArray[np.float32]:
        """h_i, the mean feature over each client's last training (Eq. 6), shape (N, F), float32; NaN for none.

        In an energy-only run there are no features: shape (N, 1), NaN.
        """
        return _declared(self.known.moments, "moments")


@dataclass(frozen=True)
class SlotView:
    """What a policy sees in every slot, when trainings may start. The arrays are read-only.

    Attributes:
        slot_in_epoch: The slot within the epoch, from 0 to S−1.
        battery: Units that can be spent: what is stored above the cut-off; 0 for a client that sleeps or was not
            reached, shape (N,), int32.
        ready: Whether the world would let a client start now (selected, idle, nothing unsent, enough energy),
            shape (N,), bool.
        slots_per_epoch: S, the slots of an epoch.
        train_cost: κ_i, units of a training, with the model's download where it is still to come, shape (N,), int32.
        transmit_cost: Units of an upload, shape (N,), int32.
        train_slots: Slots of a training, shape (N,), int32. On a node by the clock it takes none: what starts in a
            slot is sent in it.
        transmit_slots: Slots of an upload, shape (N,), int32.
    """

    slot_in_epoch: int
    battery: NDArray[np.int32]
    ready: Mask
    slots_per_epoch: int
    train_cost: NDArray[np.int32]
    transmit_cost: NDArray[np.int32]
    train_slots: NDArray[np.int32]
    transmit_slots: NDArray[np.int32]


def _declared(value: Declared | None, name: str, need: str | None = None) -> Declared:
    if value is None:
        raise PolicyError(
            f"The policy reads view.{name}, and its needs do not declare it; declare {need or name} in Needs(…)."
        )
    return value
