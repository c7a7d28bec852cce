"""Python and TOML enter by one door: objects and names make the same experiment, or the same sentence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.aggregation import Shrinkage
from fallow.aggregation.staleness import Polynomial
from fallow.data import Dataset, dataset_from_arrays
from fallow.data.digits import Digits
from fallow.data.partitions import Dirichlet
from fallow.data.synthetic import Synthetic
from fallow.energy import Bernoulli, Mix, Trace
from fallow.errors import ConfigError
from fallow.experiment import Experiment, bound_to_process
from fallow.models import PaperCNN
from fallow.policies import FedAvg, FedBacys, VAoI
from fallow.simulation.engine import Engine


@dataclass(frozen=True)
class Everyone:
    k: int = 7

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.arange(view.clients) < self.k


@dataclass(frozen=True)
class Mute:
    def init(self, clients):
        return None


class Plain:
    def init(self, clients):
        return None


def my_data(seed: int) -> Dataset:
    return Digits().load(seed)


@pytest.mark.parametrize(
    ("objects", "names"),
    [
        ({"policy": VAoI(k=4)}, {"policy": {"name": "vaoi", "k": 4}}),
        ({"policy": FedAvg()}, {"policy": {"name": "fedavg"}}),
        ({"policy": FedAvg}, {"policy": "fedavg"}),
        ({"policy": "fedbacys"}, {"policy": FedBacys()}),
        ({"policy": {"name": FedBacys, "groups": 3}}, {"policy": {"name": "fedbacys", "groups": 3}}),
        ({"energy": Bernoulli(p=0.05)}, {"energy": {"model": "bernoulli", "p": 0.05}}),
        ({"energy": Bernoulli(p=(0.5,) * 100)}, {"energy": {"p": [0.5] * 100}}),
        ({"energy": {"p": np.full(100, 0.5)}}, {"energy": {"p": [0.5] * 100}}),
        ({"energy": Trace(path=Path("a.csv"))}, {"energy": {"model": "trace", "path": "a.csv"}}),  # type: ignore[arg-type]
        ({"data": Synthetic()}, {"data": {"name": "synthetic"}}),
        ({"data": {"partition": Dirichlet(alpha=0.3)}}, {"data": {"partition": "dirichlet", "alpha": 0.3}}),
        ({"model": PaperCNN(width=0.5)}, {"model": {"name": "paper-cnn", "width": 0.5}}),
        ({"aggregation": Shrinkage(m=2.0)}, {"aggregation": {"name": "shrinkage", "m": 2.0}}),
        ({"staleness": Polynomial(a=0.1)}, {"staleness": {"name": "polynomial", "a": 0.1}}),
        ({"learning": "train"}, {"learning": {"mode": "train"}}),
        ({"policy": Everyone(k=3)}, {"policy": {"name": "tests.experiment.test_door:Everyone", "k": 3}}),
        ({"data": my_data}, {"data": {"name": "tests.experiment.test_door:my_data"}}),
        ({"seed": np.int64(3)}, {"seed": 3}),
    ],
)
def test_objects_and_names_make_the_same_experiment(objects: dict, names: dict) -> None:
    one, other = Experiment(**objects), Experiment.parse(names)
    assert one == other
    assert one.to_toml() == other.to_toml()
    assert Experiment.from_toml(one.to_toml()) == one
    assert Experiment(**one.given) == one


def test_the_two_give_the_same_records() -> None:
    small: dict[str, Any] = {"clients": 12, "epochs": 20}
    one = Experiment(**small, policy=VAoI(k=3, choice="sample"), energy=Bernoulli(p=0.3))
    other = Experiment.parse(small | {"policy": {"k": 3, "choice": "sample"}, "energy": {"p": 0.3}})
    assert [r.row() for r in Engine(one)] == [r.row() for r in Engine(other)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"clients": 5}, "policy.k = 10 is more than clients = 5; set policy.k to at most 5."),
        ({"policy": VAoI(k="ten")}, "policy.k = 'ten' must be a whole number."),  # type: ignore[arg-type]
        ({"policy": VAoI(mu=-1.0)}, "policy.mu = -1.0 must be at least 0."),
        ({"policy": {"name": VAoI(k=5), "k": 5}}, "policy.k is given twice: by the policy and beside it."),
        ({"policy": Mute()}, "Mute' has no method 'select'; it must have init and select."),
        ({"policy": Plain()}, "The policy Plain must be a frozen dataclass, whose fields are its options"),
        ({"policy": lambda: None}, "The policy is a lambda, for which a config has no name"),
        ({"policy": [VAoI()]}, "The policy can't be [VAoI("),
        ({"policy": None}, "The policy can't be None; give a name"),
        ({"policy": Bernoulli()}, "has no method 'init'; it must have init and select."),
        ({"energy": 0.1}, "The energy model can't be 0.1; give a name"),
        ({"data": my_data(0)}, "data can't be a Dataset itself"),
        ({"clientz": 5}, "There is no setting 'clientz'; did you mean 'clients'?"),
        ({"epochs": "many"}, "epochs = 'many' must be a whole number."),
        ({"learning": "trian"}, "learning.mode = 'trian' must be 'none' or 'train'; did you mean 'train'?"),
        ({"policy": "fedavgg"}, "There is no policy 'fedavgg'; did you mean 'fedavg'?"),
        ({"battery": 5}, "battery = 5 must be a section"),
    ],
)
def test_what_python_gets_wrong_is_one_sentence(settings: dict, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Experiment(**settings)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None or "pydantic" not in type(caught.value.__cause__).__module__


def test_a_class_that_only_this_process_knows_works_here_and_is_named() -> None:
    @dataclass(frozen=True)
    class Local(Everyone):
        k: int = 2

    experiment = Experiment(clients=4, epochs=3, policy=Local(), energy=Bernoulli(p=1.0))
    assert sum(record.selected for record in Engine(experiment)) == 6
    assert bound_to_process(experiment) == experiment.policy.name
    assert Experiment.from_toml(experiment.to_toml()) == experiment
    assert bound_to_process(Experiment(policy=Everyone())) is None


def test_a_harvest_in_a_mix_that_only_this_process_knows_is_named() -> None:
    @dataclass(frozen=True)
    class Nothing:
        def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Any:
            return lambda _epoch: np.zeros((slots_per_epoch, clients), dtype=int)

    experiment = Experiment(
        clients=4, epochs=2, policy={"k": 2}, energy=Mix(({"model": Nothing()}, {"model": Bernoulli}))
    )
    assert bound_to_process(experiment).endswith("Nothing")
    assert sum(1 for _ in Engine(experiment)) == 2


def test_a_class_of_a_notebook_that_is_gone_is_explained() -> None:
    with pytest.raises(
        ConfigError, match=r"'__main__:Mine' was defined in a notebook.*name it mine:Mine in the config\.$"
    ):
        Experiment(policy="__main__:Mine")


def test_replace_changes_sections_and_single_settings() -> None:
    base = Experiment(clients=20, policy=VAoI(k=4), energy=Bernoulli(p=0.3))
    assert base.replace(seed=3, policy=FedAvg()).given == {
        "seed": 3,
        "clients": 20,
        "energy": {"p": 0.3},
        "policy": {"name": "fedavg"},
    }
    assert base.replace(policy__k=5).build("policy") == VAoI(k=5)
    assert base.build("policy") == VAoI(k=4)


def test_an_experiment_shows_what_is_not_default() -> None:
    assert repr(Experiment(clients=20)) == "Experiment(clients=20)"
    assert repr(Experiment(policy=VAoI(k=4))) == "Experiment(policy={'k': 4})"


def test_arrays_given_to_python_are_what_a_config_holds() -> None:
    x, y = np.zeros((6, 1, 2, 2), dtype=np.uint8), np.arange(6) % 3
    assert isinstance(dataset_from_arrays("mine", x, y, x, y), Dataset)
    assert Experiment(clients=2, battery={"capacity": np.array([25, 30])}, policy=VAoI(k=1)).battery.capacity == (
        25,
        30,
    )
