"""What is said, in the form of Flower's records. Nothing here is pickled."""

from dataclasses import fields
from typing import Any, TypeVar, get_origin, get_type_hints

from flwr.app import ConfigRecord, RecordDict

from fallow.flower.wire.arrays import MessageError, Named, from_array_record, to_array_record
from fallow.flower.wire.messages import OPTIONAL, Order, Outcome, Query, Standing

FIELDS = "fallow"
MODEL = "model"
UPDATE = "update"

Said = TypeVar("Said", Query, Standing, Order, Outcome)


def to_records(said: Query | Standing | Order | Outcome, model: Named | None = None, *updates: Named) -> RecordDict:
    """Returns the content of a message, as Flower's records.

    Args:
        said: What is said.
        model: The global model, if it goes along.
        *updates: The models that were trained, one for each of an outcome's slots.
    """
    optional = _optional(type(said))
    given = {name: value for name, value in vars(said).items() if value or name not in optional}
    records = RecordDict({FIELDS: ConfigRecord(given)})
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
    missing = wanted.keys() - given.keys() - _optional(kind)
    if missing or not given.keys() <= wanted.keys():
        raise MessageError(
            f"A {kind.__name__.lower()} has the fields {sorted(given)}, not {sorted(wanted)}: the server and the node "
            "have different versions of Fallow; give both the same."
        )
    for name, value in given.items():
        hint = wanted[name]
        plain = get_origin(hint) or hint
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


def _optional(kind: type[Query | Standing | Order | Outcome]) -> set[str]:
    return {item.name for item in fields(kind) if item.metadata == OPTIONAL}
