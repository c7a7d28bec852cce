"""What the server and the nodes say to each other; ``records.py`` has its form in Flower's records.

A round is two exchanges. A *query* brings the model, if the node has to probe it and lacks it, and is answered by a
*standing* without any weights. An *order* goes to those who are chosen or have something to send, and is answered by
an *outcome* with their updates. What a message says by default is left out of it.
"""

from dataclasses import dataclass, field

WIRE = 2
"""The form of the messages. Raise it when an earlier version would misread them; then either side says so."""


@dataclass(frozen=True)
class Query:
    """What the server asks of every node at the beginning of a round.

    Attributes:
        federation: Which federation this is; a node has one memory for each.
        epoch: t, from 0.
        version: Of the global model.
        distance: What to measure: "features" (Eq. 5), "parameters" (Eq. 2), or "none".
        ideal: Whether time and energy are set aside (a policy that is a bound).
        asks: What else the policy declares that it needs of a node: names out of `TOLD`.
        forecast_epochs: H, where a forecast is asked for: for how many epochs, this one included.
        forecast_error: The relative error that the policy states of the forecast.
        wire: The form of the message.
    """

    federation: str
    epoch: int
    version: str
    distance: str
    ideal: bool
    asks: list[str] = field(default_factory=list)
    forecast_epochs: int = 0
    forecast_error: float = 0.0
    wire: int = WIRE

    @property
    def probes(self) -> bool:
        """Whether the node looks at the new model before it answers, and pays for that."""
        return self.distance != "none" or "probe_loss" in self.asks


@dataclass(frozen=True)
class Standing:
    """How a node stands in the first slot of a round, after harvest and uploads.

    The lists from `probe_loss` on are empty unless the query asks for them, and NaN where the node does not know.

    Attributes:
        identity: Who it is; its own name, whatever Flower calls the node.
        lacks_model: It has no model of this version: nothing but its identity holds, ask again and send it.
        data_size: |D_i|.
        battery: Units stored.
        capacity: E_max, units.
        train_cost: κ_i, units.
        transmit_cost: Units that an upload costs.
        train_slots: Slots that a training takes; 0: κ_i.
        transmit_slots: Slots that an upload takes.
        training: In training.
        unsent: With a finished update that waits for energy to be sent.
        paid_for: Start slots of updates that are paid for and that the server may not have.
        distance: M_i, or NaN where it was not asked for or could not be paid.
        probe_loss: The mean loss of the probe batch under w(t), one number; NaN if the probe could not be paid.
        training_loss: The root mean square of the samples' losses in the last training, one number.
        mean_harvest: Units harvested a slot so far, one number.
        forecast: Units expected in the rest of this epoch and in those that follow, H numbers.
        label_mix: The share of each class in the node's samples, K numbers; breaks the privacy that FL promises.
        moments: h_i, F numbers.
    """

    identity: str
    lacks_model: bool = False
    data_size: int = 0
    battery: int = 0
    capacity: int = 0
    train_cost: int = 0
    transmit_cost: int = 0
    training: bool = False
    unsent: bool = False
    paid_for: list[int] = field(default_factory=list)
    distance: float = float("nan")
    probe_loss: list[float] = field(default_factory=list)
    training_loss: list[float] = field(default_factory=list)
    mean_harvest: list[float] = field(default_factory=list)
    forecast: list[float] = field(default_factory=list)
    label_mix: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    train_slots: int = 0
    transmit_slots: int = 1

    def waits(self, received: int) -> bool:
        """Returns whether something of it is on its way: a training, an unsent update, or one that is paid for.

        Args:
            received: The start slot of the newest update that the server has from it; −1 for none.
        """
        return self.training or self.unsent or any(slot > received for slot in self.paid_for)


TOLD = ("probe_loss", "training_loss", "mean_harvest", "forecast", "label_mix", "moments")
"""What a node tells only where a policy asks for it, by the names that it has in a standing and in `Known`."""


@dataclass(frozen=True)
class Order:
    """What the server tells a node to do with the rest of the round.

    Attributes:
        federation: Name of the federation.
        epoch: t.
        version: Of the global model.
        ideal: Whether time and energy are set aside (a policy that is a bound).
        distance: What the policy measures; for "parameters" the node keeps its last model.
        selected: Whether it may train.
        received: The start slot of the newest update that the server has from this node; −1 for none.
        policy: The policy in words, if it decides slot by slot who starts; else empty.
        memory: Then the policy's memory of this client, as safetensors.
        slots_per_epoch: S, as the policy counts; then the node must have the same S.
        asks: As in the query.
        wire: The form of the message.
    """

    federation: str
    epoch: int
    version: str
    ideal: bool
    distance: str
    selected: bool
    received: int
    policy: str = ""
    memory: bytes = b""
    slots_per_epoch: int = 0
    asks: list[str] = field(default_factory=list)
    wire: int = WIRE

    @property
    def probes(self) -> bool:
        """Whether the node looks at new models, and pays for that."""
        return self.distance != "none" or "probe_loss" in self.asks


@dataclass(frozen=True)
class Outcome:
    """What came of an order.

    Attributes:
        identity: Who answers.
        epoch: Of the order.
        lacks_model: It can't train without the model of this version; nothing was done.
        trained: How many trainings it started in this epoch.
        declined: Why it did not train although it was selected; empty if it did or was not.
        slots: The start slots of the updates that come with this, oldest first.
        epochs: The epoch in which each of these updates started.
        losses: The training loss of each of these updates.
        memory: The policy's memory of this client after the epoch.
    """

    identity: str
    epoch: int
    lacks_model: bool = False
    trained: int = 0
    declined: str = ""
    slots: list[int] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    memory: bytes = b""
