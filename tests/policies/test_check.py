"""The conformance check: every policy of ours passes, and every way to break the contract is found."""

import random
import sys
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from fallow.errors import PolicyError
from fallow.policies import POLICIES
from fallow.policies.check import check_policy
from fallow.state import from_arrays, to_arrays


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_keeps_its_contract(name: str) -> None:
    assert check_policy(POLICIES[name]()) == []


@dataclass(frozen=True)
class Everyone:
    """The least policy there is; each broken one differs from it in one way."""

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Memory:
    numbers: object


@dataclass
class Thawed:
    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Mute:
    def init(self, clients):
        return None


@dataclass(frozen=True)
class WrongShape(Everyone):
    def select(self, state, view, rng):
        return state, np.ones(view.clients + 1, dtype=np.bool_)


@dataclass(frozen=True)
class WrongType(Everyone):
    def select(self, state, view, rng):
        return state, np.ones(view.clients)


@dataclass(frozen=True)
class Bare(Everyone):
    def select(self, state, view, rng):
        return np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Dice(Everyone):
    def select(self, state, view, rng):
        return state, np.array([random.random() < 0.5 for _ in range(view.clients)])  # noqa: S311


@dataclass(frozen=True)
class Vandal(Everyone):
    def select(self, state, view, rng):
        view.battery[:] = 0
        return state, view.battery == 0


@dataclass(frozen=True)
class Scribbler(Everyone):
    def init(self, clients):
        return Memory(np.zeros(clients))

    def select(self, state, view, rng):
        state.numbers[:] += 1
        return state, state.numbers > 2


@dataclass(frozen=True)
class Hoarder(Everyone):
    notes: list = field(default_factory=list)

    def select(self, state, view, rng):
        self.notes.append(view.epoch)
        return state, np.ones(view.clients, dtype=np.bool_)


SECRET: list[int] = []


@dataclass(frozen=True)
class Secretive(Everyone):
    def select(self, state, view, rng):
        SECRET.append(1)
        return state, np.full(view.clients, len(SECRET) // 15 % 2 == 0)


@dataclass(frozen=True)
class Greedy(Everyone):
    k: int = 2


@dataclass(frozen=True)
class Eager(Everyone):
    def start(self, state, view):
        return state, np.ones(view.ready.size, dtype=np.bool_)


@dataclass(frozen=True)
class Wordy(Everyone):
    def init(self, clients):
        return Memory("who trained last")


@dataclass(frozen=True)
class Dictionary(Everyone):
    def init(self, clients):
        return {"last": 0}


@dataclass(frozen=True)
class Crash(Everyone):
    def select(self, state, view, rng):
        return state, view.batery > 3


@dataclass(frozen=True)
class Quitter(Everyone):
    def select(self, state, view, rng):
        sys.exit(0)


@dataclass(frozen=True)
class Wordless(Everyone):
    def init(self, clients):
        raise SystemExit


@dataclass(frozen=True)
class Demanding(Everyone):
    """Has an option that must be given."""

    share: float

    def select(self, state, view, rng):
        return state, view.battery >= self.share * view.capacity


@dataclass(frozen=True)
class Lazy(Everyone):
    """Makes its memory when it first needs one."""

    def select(self, state, view, rng):
        return Memory(np.zeros(view.clients)), np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Partial(Everyone):
    def importance(self, state):
        return np.ones(3)


@dataclass(frozen=True)
class Negative(Everyone):
    def importance(self, state):
        return np.array(-1.0)


@dataclass(frozen=True)
class Restless(Scribbler):
    def select(self, state, view, rng):
        return state, np.ones(view.clients, dtype=np.bool_)

    def importance(self, state):
        state.numbers[:] += 1
        return np.ones(state.numbers.size)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Partial, r"importance returned an array of shape \(3,\) and type float64"),
        (Negative, "importance has factors that are negative"),
        (Restless, "importance changed the state"),
        (Lazy, "init must return a memory with every part"),
        (Thawed, "must be a frozen dataclass"),
        (Mute, "has no method 'select'"),
        (WrongShape, "must return one bool for each client"),
        (WrongType, "type float64"),
        (Bare, r"must return \(state, mask\)"),
        (Dice, "answered otherwise when asked again"),
        (Vandal, "read-only"),
        (Scribbler, "changed the state that it was given"),
        (Hoarder, "changed the policy itself"),
        (Secretive, "keeps memory outside its state|answered otherwise"),
        (Greedy, "more than its k = 2"),
        (Eager, "not in view.ready"),
        (Wordy, "'numbers' is a str"),
        (Dictionary, "state must be None or a frozen dataclass"),
        (Crash, "raised AttributeError"),
        (Quitter, r"select raised SystemExit: 0 \(.*test_check.py, line \d+\)\."),
        (Wordless, r"init raised SystemExit \(.*test_check.py, line \d+\)\."),
    ],
)
def test_each_breach_is_found_and_said_in_words(policy: type, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert check_policy(policy()) == []


@pytest.mark.parametrize("name", POLICIES)
def test_a_state_survives_being_taken_apart(name: str) -> None:
    state = POLICIES[name]().init(5)
    again = from_arrays(state, to_arrays(state))
    assert repr(again) == repr(state)
    assert type(again) is type(state)


def test_a_number_keeps_the_type_that_it_has_by_now() -> None:
    first = Memory(0)
    for number in (0.4, 7, True, np.float32(0.5)):
        again = from_arrays(first, to_arrays(Memory(number))).numbers
        assert (again, type(again)) == (number, float if isinstance(number, np.float32) else type(number))
    assert type(from_arrays(Memory(np.int32(0)), to_arrays(Memory(np.int32(3)))).numbers) is np.int32


def test_a_state_is_copied_not_shared() -> None:
    state = POLICIES["vaoi"]().init(3)
    arrays = to_arrays(state)
    arrays["age"][0] = 7
    assert state.age.tolist() == [0, 0, 0]
    assert from_arrays(state, arrays).age.tolist() == [7, 0, 0]


def test_what_no_checkpoint_keeps_is_refused() -> None:
    with pytest.raises(PolicyError, match="'numbers' is a ndarray"):
        to_arrays(Memory(np.array(["a"])))
    assert to_arrays(replace(Memory(0), numbers=3))["numbers"] == 3
