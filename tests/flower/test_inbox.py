"""What comes from nodes is checked before it counts."""

import json

import numpy as np
import pytest
from flwr.app import Message
from flwr.supercore.task_identity import TaskIdentity

from fallow.aggregation.received import Received
from fallow.flower.server.federation import Federation, begin_federation
from fallow.flower.server.inbox import sound_updates, take_over_memory
from fallow.flower.server.roster import Roster
from fallow.flower.wire.arrays import Named, to_bytes
from fallow.flower.wire.messages import Outcome
from fallow.flower.wire.records import to_records
from fallow.policies.fedbacys import FedBacys
from fallow.state import to_arrays

MODEL: Named = {"w": np.zeros(3, dtype=np.float32)}


@pytest.fixture
def federation() -> Federation:
    new = begin_federation(MODEL, Received())
    new.epoch, new.roster = 4, Roster(["me", "you"], [7, 8], [10, 10], [20, -1])
    new.grow(FedBacys(groups=3), Received())
    for epoch in (2, 3):
        new.sent.order(0, epoch, np.full(3, epoch, dtype=np.float32))
    return new


def brought(outcome: Outcome, *updates: Named) -> Message:
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 0, 1
    return Message(to_records(outcome, None, *updates), 7, "train")


def test_an_update_counts_once(federation: Federation) -> None:
    outcome = Outcome("me", 4, slots=[20, 31], epochs=[2, 3], losses=[1.0, 0.5])
    received, refused = sound_updates(federation, 0, outcome, brought(outcome, MODEL, MODEL))
    assert [(update.slot, update.staleness, loss) for update, loss in received] == [(31, 1, 0.5)]
    assert refused == 0
    assert received[0][0].start.tolist() == [3, 3, 3]
    assert list(federation.sent.models) == [3]  # another training of that epoch may be on its way
    assert sound_updates(federation, 0, outcome, brought(outcome, MODEL, MODEL)) == ([], 0)


def test_an_unsound_update_is_refused_for_good_and_the_others_count(federation: Federation) -> None:
    bad: Named = {"w": np.array([1, np.nan, 1], dtype=np.float32)}
    outcome = Outcome("me", 4, slots=[21, 31], epochs=[2, 3], losses=[1.0, 0.5])
    received, refused = sound_updates(federation, 0, outcome, brought(outcome, bad, MODEL))
    assert ([update.slot for update, _ in received], refused) == ([31], 1)
    assert federation.roster.received == [31, -1]


def test_an_update_from_a_model_that_is_not_kept_is_refused(federation: Federation) -> None:
    outcome = Outcome("me", 4, slots=[21], epochs=[1], losses=[1.0])
    assert sound_updates(federation, 0, outcome, brought(outcome, MODEL)) == ([], 1)


def test_a_client_s_memory_is_taken_over_and_no_other_s(federation: Federation) -> None:
    own = FedBacys(groups=3).init(1)
    own.start_slot[0], own.group[0] = 9, 2
    take_over_memory(federation, 1, Outcome("you", 4, memory=to_bytes(to_arrays(own))))
    assert federation.policy_state.start_slot.tolist() == [0, 9]
    assert federation.policy_state.group.tolist() == [0, 2]


def with_an_unknown_type() -> bytes:
    header = json.dumps({"group": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    return len(header).to_bytes(8, "little") + header + b"\0\0"


@pytest.mark.parametrize(
    "memory", [b"nonsense", to_bytes({"group": np.zeros(1, dtype=np.int32)}), with_an_unknown_type()]
)
def test_another_memory_is_refused(memory: bytes, federation: Federation) -> None:
    take_over_memory(federation, 1, Outcome("you", 4, memory=memory))
    assert federation.policy_state.start_slot.tolist() == [0, 0]
