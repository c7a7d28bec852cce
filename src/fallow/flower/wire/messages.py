"""What the server and the nodes say to each other, and its form in Flower's records. Nothing here is pickled.

A round is two exchanges. A *query* brings the model, if the node has to probe it and lacks it, and is answered by a
*standing* without any weights. An *order* goes to those who are chosen or have something to send, and is answered by
an *outcome* with their updates.
"""

from dataclasses import dataclass, field
from typing import Any, TypeVar, get_origin, get_type_hints

from flwr.app import ConfigRecord, RecordDict

from fallow.flower.wire.arrays import MessageError, Named, from_array_record, to_array_record

FIELDS = "fallow"
MODEL = "model"
UPDATE = "update"


@dataclass(frozen=True)
class Query:
    """What the server asks of every node at the beginning of a round.

    Attributes:
        federation: Which federation this is; a node has one memory for each.
        epoch: t, from 0.
        version: Of the global model.
        distance: What to measure: "features" (Eq. 5), "parameters" (Eq. 2), or "none".
        ideal: Whether time and energy are set aside (a policy that is a bound).
    """

    federation: str
    epoch: int
    version: str
    distance: str
    ideal: bool


@dataclass(frozen=True)
class Standing:
    """How a node stands in the first slot of a round, after harvest and uploads.

    Attributes:
        identity: Who it is; its own name, whatever Flower calls the node.
        lacks_model: It has no model of this version: nothing but its identity holds, ask again and send it.
        data_size: |D_i|.
        battery: Units stored.
        capacity: E_max, units.
        train_cost: κ_i, units.
        transmit_cost: Units that an upload costs.
        training: In training.
        unsent: With a finished update that waits for energy to be sent.
        paid_for: Start slots of updates that are paid for and that the server may not have.
        distance: M_i, or NaN where it was not asked for or could not be paid.
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

    def waits(self, received: int) -> bool:
        """Returns whether something of it is on its way: a training, an unsent update, or one that is paid for.

        Args:
            received: The start slot of the newest update that the server has from it; −1 for none.
        """
        return self.training or self.unsent or any(slot > received for slot in self.paid_for)


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


Said = TypeVar("Said", Query, Standing, Order, Outcome)


def to_records(said: Query | Standing | Order | Outcome, model: Named | None = None, *updates: Named) -> RecordDict:
    """Returns the content of a message, as Flower's records.

    Args:
        said: What is said.
        model: The global model, if it goes along.
        *updates: The models that were trained, one for each of an outcome's slots.
    """
    records = RecordDict({FIELDS: ConfigRecord(dict(vars(said)))})
    if model is not None:
        records[MODEL] = to_array_record(model)
    for number, update in enumerate(updates):
        records[f"{UPDATE}-{number}"] = to_array_record(update)
    return records


def from_records(kind: type[Said], records: RecordDict) -> Said:
    """Returns what a message says.

    Args:
        kind: What it should be.
        records: Of the message.

    Raises:
        MessageError: A field is missing, unknown, or of another type.
    """
    if FIELDS not in records.config_records:
        raise MessageError(f"A message has no record '{FIELDS}'; it does not come from Fallow.")
    given: dict[str, Any] = dict(records.config_records[FIELDS])
    wanted = get_type_hints(kind)
    if given.keys() != wanted.keys():
        raise MessageError(f"A {kind.__name__.lower()} has the fields {sorted(given)}, not {sorted(wanted)}.")
    for name, hint in wanted.items():
        value, plain = given[name], get_origin(hint) or hint
        items = value if isinstance(value, list) else []
        if type(value) is not plain or any(type(item) is not hint.__args__[0] for item in items):
            raise MessageError(f"A {kind.__name__.lower()} has {name} = {value!r}, which is no {hint}.")
    return kind(**given)


def model_in(records: RecordDict) -> Named | None:
    """Returns the global model that came with a message; None if there is none.

    Args:
        records: Of the message.
    """
    return from_array_record(records.array_records[MODEL]) if MODEL in records.array_records else None


def updates_in(records: RecordDict, count: int) -> list[Named]:
    """Returns the trained models that came with a message.

    Args:
        records: Of the message.
        count: How many there should be.

    Raises:
        MessageError: There are fewer, or their bytes are no arrays.
    """
    names = [f"{UPDATE}-{number}" for number in range(count)]
    if not set(names) <= set(records.array_records):
        raise MessageError(f"An outcome announces {count} updates and brings {len(records.array_records)}.")
    return [from_array_record(records.array_records[name]) for name in names]
