"""What is said survives Flower's records, and anything else is refused."""

import math

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fallow.flower.wire.arrays import (
    MessageError,
    flattened,
    from_bytes,
    named,
    to_array_record,
    to_bytes,
    unpack_model,
    version_of,
)
from fallow.flower.wire.messages import Order, Outcome, Query, Standing
from fallow.flower.wire.records import FIELDS, from_records, model_in, to_records, updates_in

MODEL = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([7.0], dtype=np.float32)}

SAID = [
    Query("f" * 32, 3, "v", "features", ideal=False),
    Standing("me", data_size=4, battery=2, paid_for=[], distance=0.5),
    Standing("me", data_size=4, paid_for=[3, 9], distance=math.inf),
    Query("f" * 32, 3, "v", "none", ideal=False, asks=["forecast", "label_mix"], forecast_epochs=2, forecast_error=0.3),
    Standing("me", data_size=4, distance=0.5, forecast=[3.0, math.inf], label_mix=[0.25, 0.75], moments=[-1.5]),
    Order("f" * 32, 3, "v", False, "none", True, -1, "FedBacys()", b"\x00\xff", 30),
    Outcome("me", 3, slots=[1, 2], epochs=[0, 1], losses=[0.5, 2.0], memory=b"m"),
    Outcome("me", 3),
]


@pytest.mark.parametrize("said", SAID, ids=repr)
def test_what_is_said_is_what_is_heard(said: Query | Standing | Order | Outcome) -> None:
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 0, 1
    sent = Message(to_records(said, MODEL), 5, "query")
    heard = Message.inflate(sent.deflate(), {c.object_id: c for c in sent.children.values()}) if sent.children else sent
    assert from_records(type(said), heard.content) == said


def test_a_distance_that_was_not_measured_stays_unmeasured() -> None:
    assert math.isnan(from_records(Standing, to_records(Standing("me"))).distance)


def test_a_model_is_one_array_that_says_its_parameters() -> None:
    content = to_records(Outcome("me", 0, slots=[0]), MODEL, MODEL)
    ((layout, array),) = content.array_records["model"].items()
    assert layout == '[["a",[2,3]],["b",[1]]]'
    assert array.numpy().tolist() == [0, 1, 2, 3, 4, 5, 7]
    for heard in (model_in(content), *updates_in(content, 1)):
        assert heard is not None
        assert {name: part.tolist() for name, part in heard.items()} == {"a": [[0, 1, 2], [3, 4, 5]], "b": [7]}
    with pytest.raises(MessageError, match="announces 2 updates"):
        updates_in(content, 2)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("a", "can't be read"),
        ("[" * 100_000, "can't be read"),
        ("[]", "no model has"),
        ('[["a",[7]],["a",[7]]]', "no model has"),
        ('[["a",[true,7]]]', "no model has"),
        ('[["a",[-7,-1]]]', "no model has"),
        ('[["a",[7.0]]]', "no model has"),
        ("[[3,[7]]]", "no model has"),
        (f'[["a",[7,{10**30}]]]', "no model has"),
        (f'[["a",{[1] * 40}]]', "no model has"),
        ('[["a",[2,3]]]', "has the shape \\(7,\\), and its layout 6 numbers"),
        ("num_batches_tracked", "can't be read"),
    ],
    ids=lambda value: value[:30],
)
def test_a_layout_that_is_none_is_refused(layout: str, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        unpack_model(ArrayRecord({layout: Array(np.zeros(7, dtype=np.float32))}))


def test_a_model_in_several_arrays_is_refused() -> None:
    with pytest.raises(MessageError, match="has 2 arrays, not one"):
        unpack_model(to_array_record(MODEL))


@pytest.mark.parametrize("said", [SAID[0], SAID[5]], ids=["query", "order"])
@pytest.mark.parametrize("form", [1, 3, "2"])
def test_a_message_of_another_form_says_which_versions_do_not_fit(said: Query | Order, form: int | str) -> None:
    content = to_records(said)
    content.config_records[FIELDS]["wire"] = form
    if form == 1:
        del content.config_records[FIELDS]["wire"]  # as an earlier version of Fallow sends it
    with pytest.raises(MessageError, match=f"have the form {form!r} and this node reads form 2: give the server and"):
        from_records(type(said), content)


def test_a_vector_and_a_model_by_name_are_the_same() -> None:
    again = named(flattened(MODEL, MODEL), MODEL)
    assert version_of(again) == version_of(MODEL)
    assert version_of({"a": MODEL["a"], "b": MODEL["b"] + 1}) != version_of(MODEL)


def test_a_field_of_a_later_version_may_be_missing_and_no_other() -> None:
    content = to_records(SAID[0])
    assert from_records(Query, content).asks == []
    content.config_records[FIELDS].update({"asks": [3]})
    with pytest.raises(MessageError, match=r"asks = \[3\]"):
        from_records(Query, content)
    del content.config_records[FIELDS]["asks"], content.config_records[FIELDS]["ideal"]
    with pytest.raises(MessageError, match="different versions of Fallow; give both the same"):
        from_records(Query, content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epoch": "3"}, "epoch = '3'"),
        ({"epoch": True}, "epoch = True"),
        ({"ideal": 0}, "ideal = 0"),
        ({"more": 1}, "has the fields"),
    ],
)
def test_other_fields_and_types_are_refused(change: dict[str, object], words: str) -> None:
    content = to_records(SAID[0])
    content.config_records[FIELDS].update(change)  # type: ignore[arg-type]
    with pytest.raises(MessageError, match=words):
        from_records(Query, content)


def test_a_message_of_another_app_is_refused() -> None:
    with pytest.raises(MessageError, match="does not come from Fallow"):
        from_records(Query, RecordDict({"other": ConfigRecord()}))


def test_a_policy_s_memory_goes_over_the_wire_without_pickle() -> None:
    arrays = {"x": np.array([3], dtype=np.int32), "n": np.array(5)}
    again = from_bytes(to_bytes(arrays))
    assert {name: (array.tolist(), array.dtype) for name, array in again.items()} == {
        name: (array.tolist(), array.dtype) for name, array in arrays.items()
    }
    with pytest.raises(MessageError, match="can't be read"):
        from_bytes(b"\x80\x04not safetensors")
