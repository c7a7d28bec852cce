"""States taken apart and put together again."""

import json
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from fallow.aggregation import AGGREGATIONS
from fallow.errors import StateError
from fallow.policies import POLICIES
from fallow.simulation.engine import Engine
from fallow.state import pack, unpack
from tests.simulation.test_learning_run import experiment


@dataclass(frozen=True)
class Memory:
    age: NDArray[np.int32]
    credit: float


@dataclass(frozen=True)
class Part:
    numbers: NDArray[np.float32]
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Whole:
    count: int
    share: float
    name: str
    yes: bool
    raw: bytes
    nothing: int | None
    some: int | None
    array: NDArray[np.int64]
    no_array: NDArray[np.int64] | None
    part: Part
    no_part: Part | None
    parts: tuple[Part, ...]
    pair: tuple[str, int, Part]
    listed: list[int]
    by_number: dict[int, NDArray[np.float32]]
    by_name: dict[str, NDArray[np.float32]]
    rows: list[dict[str, int | float | None]]
    memory: Any
    no_memory: Any = None


def whole() -> Whole:
    ones = np.ones(2, dtype=np.float32)
    return Whole(
        count=2**70,
        share=float("inf"),
        name="ä",
        yes=True,
        raw=bytes([0, 255]),
        nothing=None,
        some=3,
        array=np.arange(4).reshape(2, 2),
        no_array=None,
        part=Part(ones, "b"),
        no_part=None,
        parts=(Part(ones * 2), Part(ones * 3)),
        pair=("x", 1, Part(ones * 4)),
        listed=[1, 2],
        by_number={7: ones * 5, 3: ones * 6},
        by_name={"a": ones * 7, "a.b": ones * 8},
        rows=[{"f1": 0.5, "n": None}, {}],
        memory=Memory(np.array([1, 2], dtype=np.int32), 0.25),
    )


def through_json(state: Any, like: Any = None) -> Any:
    arrays, notes = pack(state)
    return unpack(type(state), arrays, json.loads(json.dumps(notes)), like)


def assert_same(one: Any, other: Any, path: str = "state") -> None:
    assert type(one) is type(other), path
    if is_dataclass(one):
        for entry in fields(one):
            assert_same(vars(one)[entry.name], vars(other)[entry.name], f"{path}.{entry.name}")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), path
        np.testing.assert_array_equal(one, other, path)
    elif isinstance(one, dict):
        assert list(one) == list(other), path
        for key, value in one.items():
            assert_same(value, other[key], f"{path}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), path
        for place, value in enumerate(one):
            assert_same(value, other[place], f"{path}.{place}")
    else:
        assert one == other, path


def test_every_kind_of_field_comes_back_as_it_was() -> None:
    assert_same(through_json(whole(), like=whole()), whole())


def test_arrays_of_a_state_are_its_own() -> None:
    first = whole()
    arrays, notes = pack(first)
    again = unpack(Whole, arrays, notes, first)
    again.array[:] = 9
    again.memory.age[:] = 9
    assert_same(first, whole())


def test_names_that_could_be_taken_for_each_other_are_kept_apart() -> None:
    @dataclass(frozen=True)
    class Nested:
        a: dict[str, NDArray[np.float32]]
        b: dict[str, dict[str, NDArray[np.float32]]]

    ones = np.ones(1, dtype=np.float32)
    state = Nested({"x": ones}, {"p": {"q.r": ones * 2}, "p.q": {"r": ones * 3}})
    kept = {"a": state.a, "b": state.b}
    arrays, notes = pack(state)
    assert len(arrays) == 3
    again = unpack(Nested, arrays, notes)
    for name, table in kept.items():
        assert_same(vars(again)[name], table)


@dataclass(frozen=True)
class Odd:
    numbers: set[int] = field(default_factory=set)


def test_what_no_checkpoint_holds_is_said_by_its_name() -> None:
    with pytest.raises(StateError, match=r"'numbers' has the type set\[int\]"):
        pack(Odd())


def test_a_memory_without_a_model_of_it_is_not_lost_in_silence() -> None:
    arrays, notes = pack(whole())
    with pytest.raises(StateError, match="parts \\['age', 'credit'\\] was kept"):
        unpack(Whole, arrays, notes)


@pytest.mark.parametrize("learning", ["none", "train"])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_state_of_a_run_comes_back_under_every_policy(policy: str, learning: str) -> None:
    engine = Engine(experiment(policy={"name": policy}, learning={"mode": learning}))
    for _ in range(4):
        engine.step()
    assert_same(through_json(engine.state, like=engine.state), engine.state)


@pytest.mark.parametrize("rule", AGGREGATIONS)
def test_the_memory_of_every_rule_comes_back(rule: str) -> None:
    engine = Engine(experiment(aggregation={"name": rule}, learning={"ages": "always"}, cost={"train": 12}))
    for _ in range(5):
        engine.step()
    assert engine.state.learning.held
    assert_same(through_json(engine.state, like=engine.state), engine.state)
