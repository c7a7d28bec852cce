"""Runs that learn, through the engine."""

import json

import numpy as np
import pytest

from fallow.aggregation import aggregate
from fallow.errors import ConfigError, DataError
from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.simulation.engine import Engine
from fallow.state import pack

SMALL = {
    "clients": 15,
    "epochs": 12,
    "energy": {"p": 0.5},
    "cost": {"train": 8},
    "battery": {"capacity": 12},
    "policy": {"k": 5},
    "data": {"samples_per_client": 40},
    "learning": {"mode": "train", "eval_every": 3},
    "compute": {"strategy": "stacked", "workers": 1},
}


def experiment(**settings) -> Experiment:
    merged = {key: SMALL[key] | settings.pop(key, {}) if isinstance(SMALL[key], dict) else SMALL[key] for key in SMALL}
    return Experiment.parse(merged | settings)


def records(engine: Engine) -> list[dict]:
    return [record.row() for record in engine]


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_one_two_and_four_workers_give_the_same_bytes(strategy: str) -> None:
    outcomes = []
    for workers in (1, 2, 4):
        engine = Engine(experiment(compute={"strategy": strategy, "workers": workers}))
        outcomes.append((records(engine), engine.learner.weights.tobytes(), engine.learner.moments.tobytes()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_spread_and_stacked_agree_to_float_tolerance() -> None:
    engines = [Engine(experiment(compute={"strategy": strategy})) for strategy in ("spread", "stacked")]
    for engine in engines:
        list(engine)
    np.testing.assert_allclose(engines[0].learner.weights, engines[1].learner.weights, atol=1e-4)


def test_every_policy_of_a_seed_meets_the_same_harvest_parts_and_first_weights() -> None:
    seen = set()
    for policy in POLICIES:
        engine = Engine(experiment(policy={"name": policy}))
        first = (engine.learner.weights.tobytes(), np.concatenate(engine.learner.task.shards).tobytes())
        seen.add((*first, tuple(record.harvested for record in engine)))
    assert len(seen) == 1


def test_another_seed_has_other_parts_and_first_weights() -> None:
    one, two = (Engine(experiment(seed=seed)).learner for seed in (0, 1))
    assert not np.array_equal(one.weights, two.weights)
    assert not np.array_equal(np.concatenate(one.task.shards), np.concatenate(two.task.shards))


def test_learning_learns() -> None:
    scores = [r.f1 for r in Engine(experiment(epochs=60, sgd={"lr": 0.05}, data={"alpha": 10.0})) if r.f1 is not None]
    assert scores[0] < 0.6
    assert scores[-1] > 0.85


def test_scores_stand_in_the_epochs_that_evaluate_and_in_the_last() -> None:
    engine = Engine(experiment(epochs=8))
    assert [r.epoch for r in engine if r.f1 is not None] == [2, 5, 7]


def test_an_unchanged_model_is_neither_probed_nor_evaluated_again(monkeypatch) -> None:
    counts = {"evaluate": 0, "probe": 0}
    for name in counts:
        work = getattr(__import__("fallow.learning.learner", fromlist=[name]), name)

        def counted(*arguments, _work=work, _name=name, **options):
            counts[_name] += 1
            return _work(*arguments, **options)

        monkeypatch.setattr(f"fallow.learning.learner.{name}", counted)
    rows = records(Engine(experiment(energy={"p": 0.0}, learning={"eval_every": 1})))
    assert counts == {"evaluate": 1, "probe": 1}
    assert len({row["f1"] for row in rows}) == 1


def test_whole_weights_are_held_only_for_updates_not_sent() -> None:
    engine = Engine(experiment())
    for _ in engine:
        assert set(engine.learner.held) == set(np.flatnonzero(engine.world.state.committed))
        assert all(weights is None for weights in engine.learner.local)


def test_an_update_carries_the_model_that_its_training_began_with(monkeypatch) -> None:
    models, received = [], []

    def spy(rule, state, weights, updates, staleness):
        models.append(weights)
        received.extend((len(models) - 1, update) for update in updates)
        return aggregate(rule, state, weights, updates, staleness)

    monkeypatch.setattr("fallow.learning.learner.aggregate", spy)
    engine = Engine(experiment(cost={"train": 50}, battery={"capacity": 55}, energy={"p": 1.0}))
    for _ in engine:
        assert set(engine.learner.starts.epochs) == set(engine.learner.held)
        assert set(engine.learner.starts.models) == set(engine.learner.starts.epochs.values())
    assert any(update.staleness > 1 for _, update in received)
    for epoch, update in received:
        np.testing.assert_array_equal(update.start, models[epoch - update.staleness])
        np.testing.assert_array_equal(update.change, update.weights - models[epoch - update.staleness])


def test_the_state_between_epochs_is_all_there_is() -> None:
    whole = Engine(experiment())
    rows = records(whole)
    cut = Engine(experiment())
    kept = [cut.step().row() for _ in range(5)]
    other = Engine(experiment())
    arrays, notes = pack(cut.state)
    other.restore(other.unpack(arrays, json.loads(json.dumps(notes))))
    assert kept + records(other) == rows
    assert np.array_equal(other.learner.weights, whole.learner.weights)


def test_parameter_distances_choose_by_whole_models() -> None:
    engine = Engine(experiment(policy={"name": "vaoi-parameters"}))
    list(engine)
    trained = [client for client, weights in enumerate(engine.learner.local) if weights is not None]
    distance = engine.learner.parameter_distances()
    assert trained
    assert np.array_equal(np.flatnonzero(np.isfinite(distance)), trained)
    client = trained[0]
    by_hand = np.sqrt(((engine.learner.weights - engine.learner.local[client]).astype(float) ** 2).sum())
    assert distance[client] == pytest.approx(by_hand)


def test_discarded_updates_do_not_count_as_delivered() -> None:
    settings = {"slots_per_epoch": 5, "staleness": {"name": "discard"}}
    engine = Engine(experiment(**settings))
    rows = records(engine)
    assert sum(row["uploads"] for row in rows) > 0
    assert sum(row["dropped"] for row in rows) == sum(row["stale_uploads"] for row in rows) > 0
    assert sum(row["aggregated"] for row in rows) == 0
    assert not engine.delivered.any()


@pytest.mark.parametrize(("model", "strategy"), [("small-cnn", "stacked"), ("resnet18-gn", "spread")])
def test_the_strategy_follows_from_the_model_and_is_recorded(model: str, strategy: str) -> None:
    engine = Engine(experiment(compute={"strategy": "auto"}, model={"name": model}))
    assert engine.experiment.compute.strategy == engine.learner.strategy == strategy


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"data": {"samples_per_client": 200}}, ConfigError, "15 clients with 200 samples each need 3000"),
        ({"data": {"name": "digit"}}, ConfigError, "There is no dataset 'digit'; did you mean 'digits'?"),
        ({"data": {"alpha": 0.0}}, ConfigError, "data.alpha = 0.0 must be more than 0."),
        ({"data": {"noise": 1.0}}, ConfigError, "data.noise is an option of synthetic, sensors, not of the dataset"),
        ({"data": {"name": "npz:nowhere.npz"}}, DataError, "nowhere.npz can't be read"),
        ({"model": {"name": "papercnn"}}, ConfigError, "There is no model 'papercnn'; did you mean 'paper-cnn'?"),
        ({"model": {"feature": "features.77"}}, ConfigError, "has no layer 'features.77'"),
        ({"model": {"name": "signal-cnn"}}, ConfigError, "'signal-cnn' takes signals of shape (channels, length)"),
        ({"model": {"name": "mlp", "hidden": [0]}}, ConfigError, "must be at least 1"),
        ({"model": {"keep_local": True}}, ConfigError, "model.keep_local = true leaves running statistics at the cl"),
        (
            {"model": {"name": "tests.oracle.networks:batch_normalised"}, "data": {"samples_per_client": 1}},
            ConfigError,
            "Client 0 has 1 of the at least 2 samples that a batch needs with batch normalisation",
        ),
        ({"aggregation": {"name": "shrink"}}, ConfigError, "did you mean 'shrinkage'?"),
        ({"sgd": {"lr": 0}}, ConfigError, "sgd.lr = 0 must be more than 0."),
        ({"compute": {"device": "cuda"}}, ConfigError, "finds no CUDA device here"),
    ],
)
def test_wrong_input_is_one_sentence_before_anything_runs(settings: dict, error: type, words: str) -> None:
    if settings.get("compute") and __import__("torch").cuda.is_available():
        pytest.skip("there is a CUDA device here")
    with pytest.raises(error) as caught:
        Engine(experiment(**settings))
    assert words in str(caught.value)


def test_missing_data_names_the_command(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="run `fallow data fetch cifar10`"):
        Engine(experiment(data={"name": "cifar10"}))


@pytest.mark.slow
def test_the_papers_network_learns_from_cifar10() -> None:
    from fallow import data

    try:
        data.fetch("cifar10")
    except DataError as error:
        pytest.skip(str(error))
    settings = {"data": {"name": "cifar10", "samples_per_client": 150, "alpha": 10.0}, "model": {"name": "paper-cnn"}}
    engine = Engine(experiment(epochs=5, compute={"strategy": "spread", "workers": 2}, **settings))
    losses = [record.train_loss for record in engine if record.train_loss is not None]
    assert engine.learner.weights.size == 287_008 + 524_544 + 32_896 + 1_290  # convolutions, then three linear layers
    assert len(losses) >= 3
    assert losses[-1] < losses[0] - 0.05
