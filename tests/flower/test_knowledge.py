"""What a policy sees of real nodes is what it sees in the simulator; nodes tell what it declares, and nothing else."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import Message

from fallow.aggregation import Received, Update, aggregate
from fallow.aggregation.staleness import Constant
from fallow.errors import CheckpointError, ConfigError, PolicyError
from fallow.flower import FallowStrategy
from fallow.flower.experiment import Scorer, experiment_strategy
from fallow.flower.server.combination import Rules, combine, note_participation
from fallow.flower.server.federation import Federation, FederationDirectory, begin_federation
from fallow.flower.server.knowledge import agreeing, asks_of, check_told, gather
from fallow.flower.wire.arrays import MessageError, from_array_record
from fallow.flower.wire.messages import TOLD, Query, Standing
from fallow.flower.wire.records import FIELDS, to_records
from fallow.policies import EpochView, FedAvg, Mask, Needs, VAoI
from tests.flower.federations import FIRST_NODE, Wire, federate, simulated, small, weights

SEEN: list[EpochView] = []

EVERYTHING = Needs(
    distance="features",
    probe_loss=True,
    training_loss=True,
    data_size=True,
    participation=True,
    mean_harvest=True,
    forecast_epochs=3,
    forecast_error=0.4,
    label_mix=True,
    moments=True,
)


@dataclass(frozen=True)
class Seer:
    """Selects the k clients with the largest loss, those whose loss is not known first; keeps what it sees."""

    k: int = 3
    only: str = ""

    @property
    def needs(self) -> Needs:
        return Needs(**{self.only: True}) if self.only else EVERYTHING  # type: ignore[arg-type]

    def init(self, clients: int) -> None:
        pass

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        SEEN.append(view)
        losses = np.zeros(view.clients)
        for loss in (view.known.training_loss, view.known.probe_loss):
            losses += np.where(np.isnan(loss), 100, loss) if loss is not None else 0
        chosen = np.zeros(view.clients, dtype=np.bool_)
        chosen[np.argsort(-losses, kind="stable")[: self.k]] = True
        return None, chosen


@dataclass(frozen=True, eq=False)
class Boosted:
    """What `Boosting` remembers."""

    factor: np.ndarray


@dataclass(frozen=True)
class Doubling:
    """Everyone trains, and the update of client i counts i + 1 times; or as often as it is told."""

    given: Any = None

    def init(self, clients: int) -> None:
        pass

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        return None, np.ones(view.clients, dtype=np.bool_)

    def importance(self, state: None) -> Any:
        return np.arange(1.0, 4.0) if self.given is None else self.given


@dataclass(frozen=True)
class Boosting:
    """Everyone trains; the updates of those with an odd number count for more, and for more in each epoch."""

    def init(self, clients: int) -> Boosted:
        return Boosted(np.zeros(clients))

    def select(self, state: Boosted, view: EpochView, rng: np.random.Generator) -> tuple[Boosted, Mask]:
        return Boosted(state.factor + np.arange(view.clients) % 2 / 4), np.ones(view.clients, dtype=np.bool_)

    def importance(self, state: Boosted) -> Any:
        return state.factor


def views(run: Any) -> list[EpochView]:
    SEEN.clear()
    run()
    return list(SEEN)


LONG: dict[str, Any] = {"slots_per_epoch": 5, "cost": {"train": 6}, "energy": {"p": 0.6}, "epochs": 14}


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 6},
        {"cost": {"probe": 2}, "energy": {"p": 0.4}, "epochs": 10},
        LONG | {"learning": {"first_moment": "zero"}},
        {"staleness": {"name": "discard", "after": 0}, "cost": {"train": 8}, "epochs": 8},
        {"data": {"sizes": "lognormal", "spread": 0.5}, "objective": {"name": "balanced-softmax"}, "epochs": 6},
    ],
    ids=str,
)
def test_a_policy_sees_of_nodes_what_it_sees_in_the_simulator(settings: dict[str, Any], tmp_path: Path) -> None:
    experiment = small(**settings | {"policy": {"name": f"{__name__}:Seer", "k": 3}})
    expected = views(lambda: simulated(experiment))
    seen = views(lambda: federate(experiment, tmp_path))
    assert len(seen) == len(expected) == experiment.epochs
    for one, other in zip(seen, expected, strict=True):
        for name, array in vars(other.known).items():
            given = vars(one.known)[name]
            if name == "forecast_error":  # only an energy model states it
                assert array is None is given
                continue
            assert (given.shape, given.dtype, given.flags.writeable) == (array.shape, array.dtype, False), name
            np.testing.assert_allclose(given, array, rtol=1e-4, atol=1e-5, err_msg=f"{name}, epoch {one.epoch}")
    last = seen[-1].known
    assert last.training_loss is not None
    assert not np.isnan(last.training_loss).all()  # somebody finished a training
    assert any(np.isnan(view.probe_loss).any() for view in seen) == bool(experiment.cost.probe)


@pytest.mark.parametrize("name", ["probe_loss", "training_loss", "mean_harvest", "label_mix", "moments"])
def test_a_node_tells_what_is_asked_and_nothing_else(name: str, tmp_path: Path) -> None:
    experiment = small(epochs=2, policy={"name": f"{__name__}:Seer", "only": name})
    told: list[set[str]] = []

    class Listening(Wire):
        def deliver(self, message: Message) -> Message | None:
            reply = super().deliver(message)
            assert reply is not None
            told.append(set(reply.content.config_records[FIELDS]) & set(TOLD))
            return reply

    _, grid = federate(experiment, tmp_path, Listening(experiment, tmp_path / "nodes"))
    queries = [told[place] for place, (kind, *_) in enumerate(grid.sent) if kind == "query"]
    assert queries == [{name}] * 12
    known = vars(SEEN[-1].known)
    assert {other for other in known if known[other] is not None} == {name}
    models = [with_model for kind, _, _, with_model in grid.sent if kind == "query"]
    assert any(models) == (name == "probe_loss")


def test_a_policy_that_needs_no_more_than_batteries_says_and_hears_what_it_always_did() -> None:
    query = Query("f" * 32, 3, "v", "features", ideal=False)
    assert set(to_records(query).config_records[FIELDS]) == {
        *("federation", "epoch", "version", "distance", "ideal", "wire")
    }
    assert not set(to_records(Standing("me")).config_records[FIELDS]) & set(TOLD)
    assert asks_of(Needs(distance="features", data_size=True, participation=True, ideal=True)) == []


def test_without_its_owner_s_consent_a_node_keeps_its_labels_to_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    experiment = small(epochs=1, policy={"name": f"{__name__}:Seer", "only": "label_mix"})
    grid = Wire(experiment, tmp_path / "nodes", share_labels=False)
    grid.nodes[FIRST_NODE + 2]["share-labels"] = True
    grid.nodes[FIRST_NODE + 3]["share-labels"] = "yes"
    caplog.set_level("INFO", logger="flwr")
    strategy, _ = federate(experiment, tmp_path, grid)
    assert strategy.federation is not None
    assert strategy.federation.roster.names == ["client-000002"]
    assert "asks nodes for the mix of their labels" in caplog.text
    assert "this node keeps them to itself" in caplog.text
    assert "share-labels is 'yes'; it must be true or false" in caplog.text


def test_a_forecast_by_the_energy_model_is_refused_because_nodes_have_none() -> None:
    with pytest.raises(
        PolicyError, match="needs a forecast by the energy model, and a node has its battery's forecast"
    ):
        asks_of(Needs(forecast_epochs=2, forecast_by="model"))


ASKED = Query(
    "f" * 32, 3, "v", "none", ideal=False, asks=["probe_loss", "forecast", "label_mix", "moments"], forecast_epochs=2
)
TOLD_RIGHT = Standing(
    "me", data_size=4, probe_loss=[0.5], forecast=[1.0, 2.0], label_mix=[0.25, 0.75], moments=[float("nan")] * 3
)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"probe_loss": []}, "does not tell its probe_loss, which the policy asks for"),
        ({"training_loss": [1.0]}, "it tells its training_loss"),
        ({"probe_loss": [1.0, 2.0]}, "tells 2 numbers of its probe_loss, not 1"),
        ({"forecast": [1.0]}, "tells 1 numbers of its forecast, not 2"),
        ({"probe_loss": [-1.0]}, "its probe_loss can't be"),
        ({"forecast": [1.0, float("inf")]}, "its forecast can't be"),
        ({"label_mix": [0.5, 0.75]}, "its label_mix can't be"),
        ({"label_mix": [float("nan"), 1.0]}, "its label_mix can't be"),
        ({"moments": [float("inf"), 1.0]}, "its moments can't be"),
    ],
)
def test_a_standing_that_tells_other_things_is_refused(change: dict[str, list[float]], words: str) -> None:
    check_told(TOLD_RIGHT, ASKED)
    check_told(replace(TOLD_RIGHT, probe_loss=[float("nan")]), ASKED)
    with pytest.raises(MessageError, match=words):
        check_told(replace(TOLD_RIGHT, **change), ASKED)  # type: ignore[arg-type]


def federation(*sizes: int, average: float = 0.0) -> Federation:
    new = begin_federation({"w": np.zeros(2, dtype=np.float32)}, Received(), average)
    new.roster.admit([(node, f"client {node}", size) for node, size in enumerate(sizes)], set(range(len(sizes))))
    new.grow(FedAvg(), Received())
    return new


def test_nodes_that_count_other_classes_are_refused_and_most_decide(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="flwr")
    three = Standing("a", label_mix=[0.2, 0.2, 0.6])
    two = Standing("b", label_mix=[0.5, 0.5])
    kept = begin_federation({}, Received())
    assert list(agreeing(kept, {1: two, 2: three, 3: three})) == [2, 3]
    assert "node 1: it tells 2 numbers of its label_mix, and others 3" in caplog.text
    assert list(agreeing(kept, {1: two, 4: two})) == []
    assert agreeing(begin_federation({}, Received()), {1: Standing("a")}) == {1: Standing("a")}


def test_who_did_not_answer_keeps_its_row(tmp_path: Path) -> None:
    kept = federation(10, 10)
    start = np.zeros(2, dtype=np.float32)
    kept.epoch = 4
    used, _ = combine(
        kept,
        [Update(1, 70, start + 1, start, 10, staleness=2), Update(1, 100, start + 1, start, 10, staleness=1)],
        Rules(FedAvg(), Received(), Constant(), 0.0, None),
    )
    note_participation(kept, np.array([True, False]), used)
    kept.roster.admit([(2, "client 2", 5)], {0, 1, 2})
    kept.grow(FedAvg(), Received())
    FederationDirectory(tmp_path, FedAvg(), Received(), "the same").write(kept)
    again = FederationDirectory(tmp_path, FedAvg(), Received(), "the same").read()
    assert again is not None
    needs = Needs(participation=True, data_size=True)
    standings = [Standing("client 1", data_size=10), Standing("client 2", data_size=5)]
    known = gather(needs, again, np.array([1, 2]), standings)
    assert known.selections is not None
    assert known.data_size is not None
    assert [array.tolist() for array in (known.data_size, known.selections, known.deliveries)] == [
        [10, 5],
        [0, 0],
        [1, 0],
    ]
    assert [array.tolist() for array in (known.last_selected, known.last_delivered, known.last_staleness)] == [
        [-1, -1],
        [4, -1],
        [1, -1],
    ]
    assert again.participation.selections.tolist() == [1, 0, 0]
    assert again.participation.last_selected.tolist() == [4, -1, -1]


def test_the_policy_s_importance_weighs_updates() -> None:
    start = np.zeros(2, dtype=np.float32)
    updates = [Update(client, 0, start + 1, start, 10) for client in range(3)]
    kept = federation(10, 10, 10)
    used, _ = combine(kept, updates, Rules(Doubling(), Received(), Constant(), 0.0, None))
    assert [update.importance for update in used] == [1, 2, 3]
    assert kept.model["w"].tolist() == [2, 2]  # (1 + 2 + 3) / 3
    _, expected = aggregate(Received(), None, start, used)
    assert kept.model["w"].tolist() == expected.tolist()
    alike = federation(10, 10, 10)
    combine(alike, updates, Rules(Doubling(np.array(0.5)), Received(), Constant(), 0.0, None))
    assert alike.model["w"].tolist() == [0.5, 0.5]


def test_importance_weighs_in_a_federation_as_in_the_simulator(tmp_path: Path) -> None:
    experiment = small(epochs=4, policy={"name": f"{__name__}:Boosting"}, aggregation={"name": "shrinkage"})
    engine, _ = simulated(experiment)
    strategy, _ = federate(experiment, tmp_path / "boosted")
    assert engine.learner is not None
    np.testing.assert_allclose(weights(strategy), engine.learner.weights, rtol=1e-5, atol=1e-6)
    plain, _ = simulated(small(epochs=4, policy={"name": "fedavg"}, aggregation={"name": "shrinkage"}))
    assert plain.learner is not None
    assert not np.allclose(plain.learner.weights, engine.learner.weights, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("given", [np.ones(2), np.array(["a"] * 3), -np.ones(3), np.full(3, np.nan)], ids=str)
def test_an_importance_that_is_no_number_a_client_is_refused(given: Any) -> None:
    start = np.zeros(2, dtype=np.float32)
    rules = Rules(Doubling(given), Received(), Constant(), 0.0, None)
    with pytest.raises(PolicyError, match="The policy's importance returned"):
        combine(federation(1, 1, 1), [Update(0, 0, start, start, 1)], rules)


def test_a_running_mean_is_kept_by_hand() -> None:
    start = np.zeros(2, dtype=np.float32)
    kept = federation(10, average=0.75)
    for value, mean in ((4.0, 1.0), (8.0, 2.75)):  # 0.25·4, 0.75·1 + 0.25·8
        combine(kept, [Update(0, 0, start + value, start, 10)], Rules(FedAvg(), Received(), Constant(), 0.75, None))
        assert kept.model["w"].tolist() == [value, value]
        assert kept.handed_out["w"].tolist() == [mean, mean]


def test_a_federation_that_averages_goes_on_with_its_mean(tmp_path: Path) -> None:
    experiment = small(epochs=6, learning={"average": 0.8, "eval_every": 1}, policy={"name": f"{__name__}:Seer"})
    whole, _ = federate(experiment, tmp_path / "whole")
    federate(experiment, tmp_path / "parts", rounds=3)
    grid = Wire(experiment, tmp_path / "parts" / "nodes")
    strategy = experiment_strategy(experiment, tmp_path / "parts" / "server", patience=0.0, reply_seconds=0.5)
    scorer = Scorer(experiment)
    result = strategy.start(grid, scorer.initial(), experiment.epochs, evaluate_fn=scorer)
    assert whole.federation is not None
    assert strategy.federation is not None
    assert whole.federation.rounds == strategy.federation.rounds
    np.testing.assert_array_equal(weights(whole), weights(strategy))
    np.testing.assert_array_equal(whole.federation.mean, strategy.federation.mean)
    for name, counted in vars(whole.federation.participation).items():
        np.testing.assert_array_equal(counted, vars(strategy.federation.participation)[name])
    handed_out = from_array_record(result.arrays)
    for name, array in handed_out.items():
        np.testing.assert_array_equal(array, strategy.federation.handed_out[name])
        assert not np.array_equal(array, strategy.federation.model[name])
    with pytest.raises(CheckpointError, match=r"average 0\.8"):
        federate(small(epochs=6, policy={"name": f"{__name__}:Seer"}), tmp_path / "parts")


@pytest.mark.parametrize("average", [-0.1, 1.0, float("nan")])
def test_an_average_that_is_no_share_is_refused(average: float) -> None:
    with pytest.raises(ConfigError, match="must be 0 or more, and less than 1"):
        FallowStrategy(VAoI(), average=average)
