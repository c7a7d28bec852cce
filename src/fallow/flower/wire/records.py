"""What is said, in the form of Flower's records. Nothing here is pickled."""

from dataclasses import MISSING, fields
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from flwr.app import ConfigRecord, RecordDict

from fallow.flower.wire.arrays import MessageError, Named, pack_model, unpack_model
from fallow.flower.wire.messages import WIRE, Order, Outcome, Query, Standing

FIELDS = "fallow"
MODEL = "model"
UPDATE = "update"

Said = TypeVar("Said", Query, Standing, Order, Outcome)


class _Form(NamedTuple):
    """What a message of a kind looks like.

    Attributes:
        types: The type of each field, and of the items of one that is a list; None for the items of others.
        defaults: What the fields say that may be left out.
    """

    types: dict[str, tuple[type, type | None]]
    defaults: dict[str, Any]


def _form_of(kind: type[Query | Standing | Order | Outcome]) -> _Form:
    types = {
        name: (get_origin(hint) or hint, (*get_args(hint), None)[0]) for name, hint in get_type_hints(kind).items()
    }
    defaults = {item.name: item.default for item in fields(kind) if item.default is not MISSING}
    made = {item.name: item.default_factory() for item in fields(kind) if item.default_factory is not MISSING}
    return _Form(types, {name: value for name, value in (defaults | made).items() if name != "wire"})


_FORMS: dict[type, _Form] = {kind: _form_of(kind) for kind in (Query, Standing, Order, Outcome)}


def to_records(said: Query | Standing | Order | Outcome, model: Named | None = None, *updates: Named) -> RecordDict:
    """Returns the content of a message, as Flower's records.

    Args:
        said: What is said.
        model: The global model, if it goes along.
        *updates: The models that were trained, one for each of an outcome's slots.
    """
    defaults = _FORMS[type(said)].defaults
    given = {name: value for name, value in vars(said).items() if name not in defaults or value != defaults[name]}
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
    record = records.get(FIELDS)
    if not isinstance(record, ConfigRecord):
        raise MessageError(f"A message has no record '{FIELDS}'; it does not come from Fallow.")
    given: dict[str, Any] = dict(record)
    form = _FORMS[kind]
    if "wire" in form.types and given.get("wire") != WIRE:
        raise MessageError(
            f"The server's messages have the form {given.get('wire', 1)!r} and this node reads form {WIRE}: give the "
            "server and the node the same version of Fallow."
        )
    if not form.types.keys() - form.defaults.keys() <= given.keys() <= form.types.keys():
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
