"""What users bring works as they would expect, or is refused in a sentence before anything runs."""

import json
from typing import Any

import numpy as np
import pytest

from fallow.data.from_arrays import dataset_from_arrays
from fallow.errors import ConfigError, EnergyError, PolicyError
from fallow.experiment import Experiment
from fallow.simulation.engine import Engine

OWN = "tests.own_parts:"
SMALL = {"clients": 4, "epochs": 2, "policy": {"k": 2}, "energy": {"p": 1.0}, "battery": {"initial": 25}}
LEARNS = SMALL | {"learning": {"mode": "train"}, "compute": {"strategy": "stacked", "workers": 1}}


def parse(**settings: Any) -> Experiment:
    return Experiment.parse(LEARNS | settings)


def test_a_policy_keeps_its_own_default_where_the_config_says_nothing() -> None:
    settings = SMALL | {"policy": {"name": OWN + "Few"}}
    experiment = Experiment.parse(settings)
    assert (experiment.policy.options, experiment.build("policy").k) == ({"k": 3}, 3)
    assert Experiment.from_toml(experiment.to_toml()).policy.options == {"k": 3}
    assert Experiment.parse(settings | {"policy": {"name": OWN + "Few", "k": 1}}).build("policy").k == 1
    assert Experiment.parse({}).policy.options["k"] == 10


def test_a_policy_can_not_write_into_what_it_is_shown() -> None:
    with pytest.raises(PolicyError, match="read-only"):
        next(iter(Engine(Experiment.parse(SMALL | {"policy": {"name": OWN + "Meddler"}}))))


def test_a_default_of_none_is_left_out_of_the_config_and_comes_back() -> None:
    experiment = parse(model={"name": OWN + "optional"})
    assert "hidden" not in experiment.to_toml()
    assert Experiment.from_toml(experiment.to_toml()) == experiment
    list(Engine(experiment))
    assert Engine(parse(model={"name": OWN + "optional", "hidden": 5})).learner.task.network.shapes["1.bias"] == (5,)


def test_a_list_is_an_option_like_any_other() -> None:
    assert Engine(parse(model={"name": OWN + "listed"})).learner.task.network.shapes["1.bias"] == (8,)
    experiment = parse(model={"name": OWN + "listed", "hidden": [6]})
    assert Engine(experiment).learner.task.network.shapes["1.bias"] == (6,)
    assert Experiment.from_toml(experiment.to_toml()).to_toml() == experiment.to_toml()
    with pytest.raises(ConfigError, match=r"model.hidden\[0\] = 'wide' must be a whole number"):
        parse(model={"name": OWN + "listed", "hidden": ["wide"]})


def test_a_default_that_no_config_holds_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"model.activation is a type, which no config can hold"):
        parse(model={"name": OWN + "unwritable"})


def test_an_option_of_two_choices_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"data.alpha is an option of the partition 'dirichlet' and of something else"
    ):
        parse(data={"name": OWN + "mixed"})


def test_a_linear_layer_on_images_is_left_to_the_general_way() -> None:
    weights = []
    for strategy in ("stacked", "spread"):
        engine = Engine(parse(model={"name": OWN + "rows_first"}, compute={"strategy": strategy, "workers": 1}))
        list(engine)
        weights.append(engine.learner.weights)
    np.testing.assert_allclose(*weights, rtol=1e-4, atol=1e-6)


def test_a_harvest_of_lists_will_do_and_one_beyond_all_numbers_is_refused() -> None:
    settings = SMALL | {"energy": {"model": OWN + "Lists"}}
    assert next(iter(Engine(Experiment.parse(settings)))).harvested == 4 * 30
    settings["energy"] |= {"units": 3 * 10**9}
    with pytest.raises(EnergyError, match="3000000000 units for a slot"):
        next(iter(Engine(Experiment.parse(settings))))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Shared", "gave the sample 0 .* times; no sample may have two owners"),
        ("Beyond", "the dataset has those"),
        ("Empty", "Client 1 would have 0 training samples, and each needs at least one"),
        ("Short", "returned . parts for . clients; it must return one for each"),
        ("Nothing", "returned a NoneType; it must return a list of arrays"),
        ("Fractions", "gave client 0 an array of shape .* and type float64; it must be a row of whole numbers"),
    ],
)
def test_a_partition_that_no_run_could_use_is_refused(name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Engine(parse(data={"partition": OWN + name}))


def test_a_partition_may_give_each_client_another_number_of_samples_in_lists() -> None:
    learner = Engine(parse(data={"partition": OWN + "Uneven"})).learner
    assert learner.data_sizes.tolist() == [1 + client for client in range(len(learner.data_sizes))]


def test_a_policy_that_pays_nothing_needs_no_battery_for_it() -> None:
    settings = SMALL | {"cost": {"train": 40}}
    assert Experiment.parse(settings | {"policy": {"name": "unlimited"}}).cost.train == 40
    with pytest.raises(ConfigError, match="nobody can ever train"):
        Experiment.parse(settings)


def test_classes_may_be_counted_by_numpy() -> None:
    x, y = np.zeros((6, 1, 2, 2), dtype=np.uint8), np.arange(6) % 3
    dataset = dataset_from_arrays("mine", x, y, x, y, classes=y.max() + 1)
    assert json.dumps(dataset.classes) == "3"


def test_options_that_a_class_itself_refuses_are_one_sentence() -> None:
    with pytest.raises(ConfigError, match="Picky' refuses its options: ValueError: k is odd"):
        Experiment.parse(SMALL | {"policy": {"name": OWN + "Picky", "k": 3}})
