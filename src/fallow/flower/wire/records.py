"""What is said, in the form of Flower's records. Nothing here is pickled."""

from dataclasses import fields
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from flwr.app import ConfigRecord, RecordDict

from fallow.flower.wire.arrays import MessageError, Named, pack_model, unpack_model
from fallow.flower.wire.messages import OPTIONAL, WIRE, Order, Outcome, Query, Standing

FIELDS = "fallow"
MODEL = "model"
UPDATE = "update"

Said = TypeVar("Said", Query, Standing, Order, Outcome)


class _Form(NamedTuple):
    """What a message of a kind looks like.

    Attributes:
        types: The type of each field, and of the items of one that is a list; None for the items of others.
        required: Fields that are always there.
        optional: Fields that are left out where they say nothing.
    """

    types: dict[str, tuple[type, type | None]]
    required: frozenset[str]
    optional: frozenset[str]


def _form_of(kind: type[Query | Standing | Order | Outcome]) -> _Form:
    hints = get_type_hints(kind)
    optional = frozenset(item.name for item in fields(kind) if item.metadata == OPTIONAL)
    types = {name: (get_origin(hint) or hint, (*get_args(hint), None)[0]) for name, hint in hints.items()}
    return _Form(types, frozenset(types) - optional, optional)


_FORMS: dict[type, _Form] = {kind: _form_of(kind) for kind in (Query, Standing, Order, Outcome)}


def to_records(said: Query | Standing | Order | Outcome, model: Named | None = None, *updates: Named) -> RecordDict:
    """Returns the content of a message, as Flower's records.

    Args:
        said: What is said.
        model: The global model, if it goes along.
        *updates: The models that were trained, one for each of an outcome's slots.
    """
    optional = _FORMS[type(said)].optional
    given = {name: value for name, value in vars(said).items() if value or name not in optional}
    records = RecordDict({FIELDS: ConfigRecord(given)})
    if model is not None:
        records[MODEL] = pack_model(model)
    for number, update in enumerate(updates):
        records[f"{UPDATE}-{number}"] = pack_model(update)
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
    form = _FORMS[kind]
    if "wire" in form.types and given.get("wire") != WIRE:
        raise MessageError(
            f"The server's messages have the form {given.get('wire', 1)!r} and this node reads form {WIRE}: give the "
            "server and the node the same version of Fallow."
        )
    if not form.required <= given.keys() <= form.types.keys():
        raise MessageError(
            f"A {kind.__name__.lower()} has the fields {sorted(given)}, not {sorted(form.types)}: the server and the "
            "node have different versions of Fallow; give both the same."
        )
    for name, value in given.items():
        plain, item = form.types[name]
        items = value if item else ()
        if type(value) is not plain or any(type(one) is not item for one in items):
            hint = get_type_hints(kind)[name]
            raise MessageError(f"A {kind.__name__.lower()} has {name} = {value!r}, which is no {hint}.")
    return kind(**given)


def model_in(records: RecordDict) -> Named | None:
    """Returns the global model that came with a message; None if there is none.

    Args:
        records: Of the message.
    """
    return unpack_model(records.array_records[MODEL]) if MODEL in records.array_records else None


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
    return [unpack_model(records.array_records[name]) for name in names]
