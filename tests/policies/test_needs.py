"""What policies declare that they need."""

from dataclasses import dataclass

import numpy as np
import pytest

from fallow.errors import PolicyError
from fallow.experiment import Experiment
from fallow.paper import PAPER_MU
from fallow.policies import POLICIES, Needs, VAoI, VAoIParameters, needs_of
from fallow.policies.check import check_policy
from fallow.simulation.engine import Engine
from tests.policies.test_check import Everyone

SEEN: list[np.ndarray] = []


@dataclass(frozen=True)
class Sees(Everyone):
    """Writes down the distances that it is shown."""

    def select(self, state, view, rng):
        SEEN.append(view.distance)
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class SeesFeatures(Sees):
    needs = Needs(distance="features")


@dataclass(frozen=True)
class Wishful(Everyone):
    needs = {"distance": "features"}  # noqa: RUF012


@dataclass(frozen=True)
class Faulty(Everyone):
    @property
    def needs(self):
        return Needs(threshold=self.nowhere["mu"])

    nowhere = {}  # noqa: RUF012


def test_a_policy_without_needs_has_the_default_ones() -> None:
    assert needs_of(Everyone()) == Needs(distance="none", threshold=PAPER_MU, ideal=False)


def test_our_policies_need_what_they_read() -> None:
    needy = {name: needs_of(policy()) for name, policy in POLICIES.items() if needs_of(policy()) != Needs()}
    assert needy == {
        "vaoi": Needs("features", 0.5),
        "vaoi-parameters": Needs("parameters", 0.5),
        "unlimited": Needs(ideal=True),
        "oort": Needs(training_loss=True, data_size=True, participation=True, mean_harvest=True),
        "eafl": Needs(training_loss=True, data_size=True, participation=True, mean_harvest=True),
        "power-of-choice": Needs(probe_loss=True, data_size=True),
        "fedzero": Needs(training_loss=True, data_size=True, participation=True, forecast_epochs=4, forecast_error=0.2),
        "guler-yener": Needs(mean_harvest=True),
        "label-balanced": Needs(moments=True),
        "foresight": Needs(forecast_epochs=10),
    }


def test_thresholds_are_the_options_of_the_policies() -> None:
    assert needs_of(VAoI(mu=0.3)).threshold == 0.3
    assert needs_of(VAoIParameters(threshold=7.0)).threshold == 7.0


@pytest.mark.parametrize("learning", ["none", "train"])
def test_distances_that_are_not_declared_are_not_shown(learning: str) -> None:
    for name, shown in (("Sees", False), ("SeesFeatures", True)):
        SEEN.clear()
        settings = {"clients": 3, "epochs": 2, "learning": {"mode": learning}, "data": {"samples_per_client": 5}}
        list(Engine(Experiment.parse(settings | {"policy": {"name": f"tests.policies.test_needs:{name}"}})))
        assert len(SEEN) == 2
        assert all((~np.isnan(distance)).all() if shown else np.isnan(distance).all() for distance in SEEN)


def test_the_check_shows_distances_only_to_policies_that_need_them() -> None:
    for policy, shown in ((Sees(), False), (SeesFeatures(), True)):
        SEEN.clear()
        assert check_policy(policy) == []
        assert all(np.isnan(distance).all() != shown for distance in SEEN)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Wishful(), "needs are a dict; they must be a fallow.policies.Needs"),
        (Faulty(), "needs raised KeyError: 'mu'"),
    ],
)
def test_needs_that_are_none_are_said_in_words(policy: object, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        needs_of(policy)
    assert words in " ".join(check_policy(policy))


def test_needs_are_checked_when_they_are_made() -> None:
    with pytest.raises(PolicyError, match="'weights'; it can be one of none, features, parameters"):
        Needs(distance="weights")
    with pytest.raises(PolicyError, match="threshold nan; it must be 0 or more"):
        Needs(threshold=float("nan"))
