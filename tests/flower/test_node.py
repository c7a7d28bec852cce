"""One node: what it answers, what it remembers, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from flwr.app import ArrayRecord, Context, Message, MessageType, RecordDict
from torch import nn

from fallow.errors import CheckpointError, NodeError
from fallow.flower import Emulated, LocalData, LocalGrid, Metered, client_app
from fallow.flower.batteries.sources import MeteredState
from fallow.flower.experiment import _parts
from fallow.flower.node import client_task
from fallow.flower.node.client import directory_for, identity_of
from fallow.flower.node.memory import KEPT, MEMORY, directory_of, load_memory
from fallow.flower.node.node import Node
from fallow.flower.server.strategy import FallowStrategy
from fallow.flower.wire.arrays import MessageError, Named, from_array_record, to_array_record, to_bytes, version_of
from fallow.flower.wire.messages import Order, Query
from fallow.flower.wire.records import to_records
from fallow.learning.options import SGD
from fallow.models import SmallCNN, build_module
from fallow.objectives import BalancedSoftmax
from fallow.policies.fedbacys import FedBacys
from fallow.policies.reserve import Reserving
from fallow.policies.vaoi import VAoI
from fallow.state import to_arrays
from tests.flower.federations import KilledError, small

FEDERATION = "0123456789abcdef" * 2
EXPERIMENT = small(energy={"p": 1.0}, battery={"initial": 10}, starts_per_epoch=1)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    parts = _parts(EXPERIMENT.to_toml())
    return Node("me", parts.task(1), Emulated.of(EXPERIMENT, 1), tmp_path)


def model_of(node: Node) -> Named:
    return node.task.layout


def query(node: Node, epoch: int = 0, **changes: Any) -> Query:
    asked = Query(FEDERATION, epoch, version_of(model_of(node)), "features", ideal=False)
    return replace(asked, **changes)


def order(node: Node, epoch: int = 0, **changes: Any) -> Order:
    told = Order(FEDERATION, epoch, version_of(model_of(node)), False, "features", selected=True, received=-1)
    return replace(told, **changes)


def test_a_node_asks_for_a_model_that_it_lacks_and_keeps_it(node: Node) -> None:
    assert node.answer(query(node)).lacks_model
    assert node.obey(order(node))[0].lacks_model
    assert not node.answer(query(node), model_of(node)).lacks_model
    assert not node.answer(query(node, epoch=1)).lacks_model


def test_a_model_that_is_not_the_one_announced_is_refused(node: Node) -> None:
    with pytest.raises(MessageError, match="is another"):
        node.answer(query(node, version="0" * 32), model_of(node))
    other = {name: array[..., None] for name, array in model_of(node).items()}
    with pytest.raises(MessageError, match="has shape"):
        node.answer(query(node, version=version_of(other)), other)


def test_the_same_order_twice_is_carried_out_once(node: Node) -> None:
    node.answer(query(node), model_of(node))
    first, updates = node.obey(order(node))
    again, same = node.obey(order(node))
    assert first == again
    assert first.trained == 1
    for one, other in zip(updates, same, strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_what_the_server_has_is_not_sent_again(node: Node) -> None:
    node.answer(query(node), model_of(node))
    first, updates = node.obey(order(node))
    assert first.slots == [0]
    assert len(updates) == 1
    again, none = node.obey(order(node, received=0))
    assert (again.slots, none) == ([], [])


def test_a_node_that_is_asked_again_about_an_epoch_that_is_over_says_what_it_said(node: Node) -> None:
    before = node.answer(query(node), model_of(node))
    node.obey(order(node))
    after = node.answer(query(node))
    assert replace(after, paid_for=[]) == before
    assert after.paid_for == [0]


def test_a_training_that_ends_in_the_first_slot_is_remembered_in_that_slot_s_probe(tmp_path: Path) -> None:
    parts = _parts(EXPERIMENT.to_toml())
    battery = replace(Emulated.of(EXPERIMENT, 1), slots_per_epoch=6, initial=4)  # six units in slot 1: slots 1 to 6
    node = Node("me", parts.task(1), battery, tmp_path)
    assert node.answer(query(node), model_of(node)).distance == np.inf
    outcome, updates = node.obey(order(node))
    assert (outcome.trained, updates) == (1, [])
    standing = node.answer(query(node, epoch=1))
    assert standing.training
    assert np.isfinite(standing.distance)


def test_a_federation_has_a_memory_of_its_own(node: Node) -> None:
    node.answer(query(node), model_of(node))
    node.obey(order(node))
    other = node.answer(query(node, federation="f" * 32), model_of(node))
    assert other.paid_for == []
    assert other.distance == np.inf


def test_a_node_forgets_the_federations_that_it_left_longest_ago(node: Node, tmp_path: Path) -> None:
    names = [f"{number:032x}" for number in range(KEPT)]
    other = Node("other", node.task, node.battery, tmp_path)
    for name in names:
        node.answer(query(node, federation=name), model_of(node))
    other.answer(query(node, federation=names[2]), model_of(node))
    node.obey(order(node, federation=names[0]))  # it is back in the first
    for number in (100, 101):
        node.answer(query(node, federation=f"{number:032x}"), model_of(node))
    left = {path.parts[-3] for path in tmp_path.glob(f"*/me/{MEMORY}")}
    assert left == {*names, f"{100:032x}", f"{101:032x}"} - {names[1], names[2]}
    assert not (tmp_path / names[1]).exists()
    assert [path.name for path in (tmp_path / names[2]).iterdir()] == ["other"]


def test_the_memory_survives_a_new_process(node: Node, tmp_path: Path) -> None:
    node.answer(query(node), model_of(node))
    node.obey(order(node))
    twin = Node(node.identity, node.task, node.battery, tmp_path)
    standing = twin.answer(query(node, epoch=1))
    assert standing.paid_for == [0]
    assert np.isfinite(standing.distance)


def test_a_damaged_memory_is_an_error_and_never_a_guess(node: Node, tmp_path: Path) -> None:
    node.answer(query(node), model_of(node))
    (path,) = tmp_path.rglob(MEMORY)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CheckpointError, match="damaged"):
        node.answer(query(node, epoch=1))


@pytest.mark.parametrize("name", ["../../etc", "", "0" * 31, "G" * 32, "0" * 33])
def test_a_federation_s_name_can_not_lead_astray(name: str, node: Node) -> None:
    with pytest.raises(MessageError, match="no name of a federation"):
        node.answer(query(node, federation=name))


def test_an_identity_can_not_lead_astray(node: Node, tmp_path: Path) -> None:
    node.identity = "../../me"
    node.answer(query(node))
    (folder,) = (tmp_path / FEDERATION).iterdir()
    assert folder.name.startswith(".._.._me-")


@pytest.mark.parametrize(
    ("one", "other"), [("北京", "上海"), ("Köln 1", "Köln/1"), (".", "_"), ("..", "__"), ("a b", "a_b")]
)
def test_names_that_look_alike_have_memories_of_their_own(one: str, other: str, tmp_path: Path) -> None:
    folders = [directory_of(tmp_path, FEDERATION, name) for name in (one, other)]
    assert folders[0] != folders[1]
    assert {folder.resolve().parent for folder in folders} == {tmp_path / FEDERATION}
    assert directory_of(tmp_path, FEDERATION, "client-000003").name == "client-000003"


def test_a_client_declines_below_its_cost_and_says_why(tmp_path: Path) -> None:
    parts = _parts(EXPERIMENT.to_toml())
    node = Node("me", parts.task(1), Metered(lambda: 7.0, train_cost=20), tmp_path)
    node.answer(query(node), model_of(node))
    outcome, updates = node.obey(order(node))
    assert updates == []
    assert outcome.declined == (
        "its battery did not come to the 20 units of a training, of 7 at the beginning of the round"
    )


def test_a_training_that_diverges_is_not_sent(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    train = client_task.train
    monkeypatch.setattr(client_task, "train", lambda *args: replace(train(*args), diverged_at=3))
    node.answer(query(node), model_of(node))
    outcome, updates = node.obey(order(node))
    assert (outcome.trained, updates) == (1, [])
    assert "diverged at step 3" in outcome.declined
    assert node.answer(query(node, epoch=1)).distance == np.inf  # h_i is that of no training


def test_a_real_training_that_was_cut_short_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_arguments: Any) -> Any:
        raise KilledError

    parts = _parts(EXPERIMENT.to_toml())
    node = Node("me", parts.task(1), Metered(lambda: 90.0), tmp_path)
    node.answer(query(node), model_of(node))
    with monkeypatch.context() as patch:
        patch.setattr(client_task, "train", dies)
        with pytest.raises(KilledError):
            node.obey(order(node))
    assert node.answer(query(node, epoch=1)).paid_for == []
    outcome, updates = node.obey(order(node, epoch=1))
    assert (outcome.trained, len(updates)) == (1, 1)


def test_a_node_that_rested_and_is_killed_in_training_lives_through_its_rest_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_arguments: Any) -> Any:
        raise KilledError

    battery = replace(Emulated.of(EXPERIMENT, 1), slots_per_epoch=2, initial=0)  # ten units after five epochs of rest
    nodes = [Node("me", _parts(EXPERIMENT.to_toml()).task(1), battery, tmp_path / name) for name in ("whole", "killed")]
    told = []
    for node in nodes:
        node.answer(query(node), model_of(node))
        if node is nodes[1]:
            with monkeypatch.context() as patch:
                patch.setattr(client_task, "train", dies)
                with pytest.raises(KilledError):
                    node.obey(order(node, epoch=6))
        node.obey(order(node, epoch=6))
        told.append(node.answer(query(node, epoch=7)))
    assert told[0].training
    assert told[1] == told[0]


def test_a_real_update_survives_a_process_that_dies_before_it_is_sent(tmp_path: Path) -> None:
    level = [90.0]

    class Dies(Exception):  # noqa: N818
        pass

    def meter() -> float:
        if level[0] < 0:
            raise Dies
        return level[0]

    parts = _parts(EXPERIMENT.to_toml())

    class Task:
        def __getattr__(self, name: str) -> Any:
            return getattr(parts.task(1), name)

        def train(self, *arguments: Any) -> Any:
            trained = parts.task(1).train(*arguments)
            level[0] = -1.0  # the battery can't be read when it comes to sending
            return trained

    node = Node("me", Task(), Metered(meter), tmp_path)  # type: ignore[arg-type]
    node.answer(query(node), model_of(node))
    with pytest.raises(Dies):
        node.obey(order(node))
    level[0] = 90.0
    (path,) = tmp_path.rglob(MEMORY)
    assert load_memory(path.parent, MeteredState()).held is not None
    assert node.answer(query(node, epoch=1)).paid_for == [0]


def test_a_policy_that_starts_slot_by_slot_must_be_known_to_the_node(node: Node) -> None:
    node.answer(query(node), model_of(node))
    with pytest.raises(NodeError, match="give client_app the same policy"):
        node.obey(order(node, policy=repr(FedBacys()), memory=b""))


def fedbacys_node(root: Path, level: float) -> tuple[Node, Order]:
    """A node with two slots, and an order under which it may start in the second."""
    policy = FedBacys(groups=2, turns="deadline")
    node = Node("me", _parts(EXPERIMENT.to_toml()).task(1), Metered(lambda: level, slots_per_epoch=2), root, policy)
    own = policy.init(1)
    own.start_slot[0], own.slots[0] = 1, 1
    return node, order(node, policy=repr(policy), memory=to_bytes(to_arrays(own)), slots_per_epoch=2)


def test_a_node_refuses_a_policy_that_counts_other_slots(tmp_path: Path) -> None:
    node, told = fedbacys_node(tmp_path, 90.0)
    node.answer(query(node), model_of(node))
    with pytest.raises(NodeError, match="counts 30 slots to an epoch and this node's battery 2: give both the same"):
        node.obey(replace(told, slots_per_epoch=30))
    assert node.obey(told)[0].trained == 1
    assert node.obey(order(node, epoch=1, slots_per_epoch=30))[0].trained == 1  # decided epoch by epoch


def test_a_client_that_its_policy_held_back_does_not_blame_its_battery(tmp_path: Path) -> None:
    node, told = fedbacys_node(tmp_path / "full", 90.0)
    node.answer(query(node), model_of(node))
    never = FedBacys(groups=2, turns="deadline").init(1)  # its start slots have no length yet
    outcome, _ = node.obey(replace(told, memory=to_bytes(to_arrays(never))))
    assert outcome.declined == "the policy let it start in none of the slots in which its battery had enough"
    node, told = fedbacys_node(tmp_path / "empty", 7.0)
    node.answer(query(node), model_of(node))
    assert "its battery did not come to the 20 units" in node.obey(told)[0].declined


def context(**config: Any) -> Context:
    return Context(0, 1, config, RecordDict(), {})


def test_a_node_is_named_by_its_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert identity_of(context(identity="roof-3")) == "roof-3"
    assert identity_of(context(**{"partition-id": 12})) == "client-000012"
    with pytest.raises(NodeError, match="has no name"):
        identity_of(context())
    monkeypatch.setenv("FALLOW_NODES", str(tmp_path))
    assert directory_for(context()) == tmp_path
    assert directory_for(context(**{"fallow-dir": "/x"}), Path("/y")) == Path("/x")
    monkeypatch.delenv("FALLOW_NODES")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert directory_for(context()) == tmp_path / "fallow" / "nodes"


def toy(seed: int) -> Callable[[Context], LocalData]:
    def load(context: Context) -> LocalData:
        rng = np.random.default_rng([seed, len(identity_of(context))])
        y = rng.integers(0, 3, 40)
        x = rng.normal(0, 0.3, (40, 1, 8, 8)).astype(np.float32)
        x[np.arange(40), 0, y, y] += 2
        return LocalData(x, y, 3)

    return load


def test_a_user_s_own_model_data_and_meter_learn(tmp_path: Path) -> None:
    def model() -> Any:
        return build_module(SmallCNN(), (1, 8, 8), 3, seed=1)

    first = to_array_record({name: value.detach().numpy() for name, value in model().named_parameters()})
    app = client_app(model, toy(0), Metered(lambda: 80.0), sgd=SGD(lr=0.1), steps=5, directory=tmp_path)
    grid = LocalGrid(app, {number: {"identity": name} for number, name in enumerate(["roof", "cellar", "yard"])})
    strategy = FallowStrategy(VAoI(k=2, mu=0.1), patience=0.0)
    strategy.start(grid, first, 6)
    assert strategy.federation is not None
    assert strategy.federation.roster.names == ["cellar", "roof", "yard"]
    rounds = strategy.federation.rounds
    assert [row["updates"] for row in rounds] == [2] * 6
    assert rounds[-1]["train_loss"] < rounds[0]["train_loss"] / 2


def test_the_loss_of_a_training_survives_a_new_process(node: Node, tmp_path: Path) -> None:
    asks = {"asks": ["training_loss", "moments"]}
    before = node.answer(query(node, **asks), model_of(node))
    assert np.isnan(before.training_loss).tolist() == [True]
    assert np.isnan(before.moments).all()
    node.obey(order(node, **asks))
    twin = Node(node.identity, node.task, node.battery, tmp_path)
    standing = twin.answer(query(node, epoch=1, **asks))
    trained = node.task.train(node.task.workers.network.weights(), 0)
    assert standing.training_loss == [trained.rms_loss]
    assert standing.moments == trained.moment.tolist()


def test_a_loss_is_probed_in_the_pass_that_is_made_anyway(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[bool] = []
    probe = client_task.probe

    def counted(*arguments: Any, losses: bool) -> Any:
        passes.append(losses)
        return probe(*arguments, losses=losses)

    monkeypatch.setattr(client_task, "probe", counted)
    standing = node.answer(query(node, asks=["probe_loss"]), model_of(node))
    assert passes == [True]
    assert standing.distance == np.inf
    batch, task = node.task.probe_batch(0), node.task
    with torch.inference_mode():
        logits = task.workers.network.module(task.samples.batch(batch)[0])
        loss = torch.nn.functional.cross_entropy(logits, task.samples.batch(batch)[1])
    assert standing.probe_loss == [pytest.approx(float(loss), rel=1e-5)]
    assert node.answer(query(node, epoch=1, asks=["probe_loss"])).probe_loss == standing.probe_loss
    assert passes == [True]  # the model has not changed


def test_a_probe_for_the_loss_alone_is_paid_for(tmp_path: Path) -> None:
    task = _parts(EXPERIMENT.to_toml()).task(1)
    battery = replace(Emulated.of(EXPERIMENT, 1), probe_cost=3, initial=4)
    node = Node("me", task, battery, tmp_path)
    asked = query(node, distance="none", asks=["probe_loss"])
    assert node.answer(asked).lacks_model
    standing = node.answer(asked, model_of(node))
    assert (standing.battery, np.isfinite(standing.probe_loss).all()) == (2, True)  # 4 + 1 − 3
    poor = Node("poor", task, replace(battery, initial=0), tmp_path)
    standing = poor.answer(asked, model_of(node))
    assert (standing.battery, np.isnan(standing.probe_loss).all()) == (1, True)


def test_a_loss_of_another_model_is_told_when_the_epoch_is_asked_about_again(node: Node) -> None:
    asks = {"asks": ["probe_loss"]}
    before = node.answer(query(node, **asks), model_of(node))
    node.obey(order(node, **asks))
    other = {name: array + np.float32(0.1) for name, array in model_of(node).items()}
    again = node.answer(query(node, version=version_of(other), **asks), other)
    assert again.battery == before.battery
    assert again.probe_loss != before.probe_loss


def test_a_node_refuses_what_it_does_not_know_or_may_not_tell(node: Node, tmp_path: Path) -> None:
    with pytest.raises(MessageError, match="The server asks for shoe_size; this node can tell probe_loss"):
        node.answer(query(node, asks=["shoe_size"]))
    with pytest.raises(NodeError, match="give client_app share_labels=True, or the node config share-labels=true"):
        node.answer(query(node, asks=["label_mix"]))
    open_node = Node("me", node.task, node.battery, tmp_path, share_labels=True)
    standing = open_node.answer(query(node, distance="none", asks=["label_mix"]))
    labels = node.task.samples.labels.numpy()[node.task.shard]
    assert standing.label_mix == [float((labels == label).mean()) for label in range(10)]


def test_a_battery_that_knows_no_harvest_says_so(node: Node, tmp_path: Path) -> None:
    class Plain:
        """A battery of a user's own, without what policies may ask."""

        capacity, train_cost, transmit_cost, slots_per_epoch = 10, 6, 1, 10

        def open(self, state: Any = None, *, probes: bool, ideal: bool) -> Any:
            opened = node.battery.open(state, probes=probes, ideal=ideal)

            class Open:
                lived, replays, state = opened.lived, opened.replays, opened.state
                catch_up, look, live = opened.catch_up, opened.look, opened.live

            return Open()

    plain = Node("me", node.task, Plain(), tmp_path)
    asked = query(node, distance="none", asks=["mean_harvest", "forecast"], forecast_epochs=2)
    standing = plain.answer(asked)
    assert np.isnan(standing.mean_harvest).tolist() == [True]
    assert np.isnan(standing.forecast).tolist() == [True, True]


def test_a_reserve_around_another_policy_must_be_known_to_the_node(tmp_path: Path) -> None:
    policy, battery = Reserving(VAoI(k=2)), Metered(lambda: 20.0, train_cost=20, slots_per_epoch=3)
    node = Node("me", _parts(EXPERIMENT.to_toml()).task(1), battery, tmp_path, policy)
    node.answer(query(node), model_of(node))
    own = {"memory": to_bytes(to_arrays(policy.init(1))), "slots_per_epoch": 3}
    with pytest.raises(NodeError, match="give client_app the same policy"):
        node.obey(order(node, policy=repr(Reserving(VAoI(k=3))), **own))
    outcome, _ = node.obey(order(node, policy=repr(Reserving(VAoI(k=2))), **own))
    assert outcome.declined == "the policy let it start in none of the slots in which its battery had enough"


def test_a_node_of_one_s_own_trains_with_the_objective_that_it_is_given(tmp_path: Path) -> None:
    def model() -> Any:
        return build_module(SmallCNN(), (1, 8, 8), 3, seed=1)

    def skewed(context: Context) -> LocalData:
        local = toy(0)(context)
        return replace(local, y=np.minimum(local.y, 1))  # no sample of the last class

    first = to_array_record({name: value.detach().numpy() for name, value in model().named_parameters()})
    biases = {}
    for objective in (None, BalancedSoftmax()):
        place = tmp_path / str(objective)
        app = client_app(model, skewed, Metered(lambda: 80.0), steps=5, directory=place, objective=objective)
        strategy = FallowStrategy(VAoI(k=1), patience=0.0)
        strategy.start(LocalGrid(app, {1: {"identity": "roof"}}), first, 1)
        assert strategy.federation is not None
        *_, biases[objective] = strategy.federation.model.values()
    *_, before = from_array_record(first).values()
    assert biases[BalancedSoftmax()][2] == before[2]  # a class that it does not have is left out of its loss
    assert biases[None][2] < before[2]


def test_a_user_s_own_model_may_drop_normalise_and_keep_its_statistics(tmp_path: Path) -> None:
    def model() -> nn.Module:
        torch.manual_seed(1)
        layers = [nn.Flatten(), nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)]
        return nn.Sequential(*layers)

    battery = Metered(lambda: 80.0)
    app = client_app(model, toy(0), battery, sgd=SGD(lr=0.1), steps=5, keep_local=True, directory=tmp_path)
    grid = LocalGrid(app, {number: {"identity": name} for number, name in enumerate(["roof", "cellar", "yard"])})
    strategy = FallowStrategy(VAoI(k=2, mu=0.1), patience=0.0)
    strategy.start(grid, ArrayRecord(model().state_dict()), 6)
    assert strategy.federation is not None
    rounds = strategy.federation.rounds
    assert [row["updates"] for row in rounds] == [2] * 6
    assert rounds[-1]["train_loss"] < rounds[0]["train_loss"] / 2
    averaged = strategy.federation.model["2.running_mean"]
    energy = battery.open(probes=True, ideal=False).state
    kept = [load_memory(path.parent, energy).statistics for path in sorted(tmp_path.glob("*/*/memory.fallow"))]
    assert len(kept) == 3
    assert np.abs(averaged).max() > 0.1
    assert all(own is not None and own.shape == (32,) and not np.array_equal(own[:16], averaged) for own in kept)


def test_a_user_s_own_model_that_can_not_be_repeated_is_told_so(tmp_path: Path) -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(64, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(nn.functional.dropout(x.flatten(1), training=self.training))

    app = client_app(Noisy, toy(0), Metered(lambda: 80.0), directory=tmp_path)
    grid = LocalGrid(app, {0: {"identity": "roof"}})
    asked = to_records(Query(FEDERATION, 0, "0" * 32, "none", ideal=False))
    reply = grid.deliver(grid.create_message(asked, MessageType.QUERY, 0, "0"))
    assert reply is not None
    assert "gives other numbers for the same input the next time" in reply.error.reason


def test_a_node_without_samples_says_so(tmp_path: Path) -> None:
    def nothing(_context: Context) -> LocalData:
        return LocalData(np.zeros((0, 1, 8, 8), dtype=np.float32), np.zeros(0, dtype=np.int64), 3)

    def model() -> Any:
        return build_module(SmallCNN(), (1, 8, 8), 3, seed=1)

    app = client_app(model, nothing, Metered(lambda: 80.0), directory=tmp_path)
    grid = LocalGrid(app, {0: {"identity": "roof"}})
    asked = Message(to_records(Query(FEDERATION, 0, "v", "none", ideal=False)), 0, MessageType.QUERY)
    reply = grid.deliver(asked)
    assert reply is not None
    assert "The node 'roof' has no samples, and it needs at least one" in reply.error.reason
