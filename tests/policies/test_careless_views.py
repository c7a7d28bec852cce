"""Whatever a run knows or does not know, a policy answers with at most k clients, and warns of nothing."""

import math
from typing import Any

import numpy as np
import pytest

from fallow.policies import POLICIES, needs_of
from tests.oracle.selection import RULES
from tests.policies.views import rng, view

NEEDY = ["vaoi", "vaoi-parameters", "oldest", "random-k", "fullest-battery", *RULES]
NAN = math.nan


def nothing_known(clients: int, horizon: int) -> dict[str, Any]:
    """What an energy-only run knows before anyone has trained or harvested."""
    return {
        "distance": [NAN] * clients,
        "battery": [0] * clients,
        "probe_loss": [NAN] * clients,
        "training_loss": [NAN] * clients,
        "data_size": [1] * clients,
        "selections": [0] * clients,
        "deliveries": [0] * clients,
        "last_selected": [-1] * clients,
        "last_delivered": [-1] * clients,
        "last_staleness": [-1] * clients,
        "mean_harvest": [0.0] * clients,
        "forecast": np.zeros((clients, horizon)),
        "label_mix": np.full((clients, 1), NAN),
        "moments": np.full((clients, 1), NAN),
    }


DELIVERED = {"deliveries": 1, "last_delivered": 0}
CARELESS: dict[str, dict[str, Any]] = {
    "nothing is known": {},
    "full batteries": {"battery": 25},
    "losses that are infinite": {"battery": 25, "probe_loss": math.inf, "training_loss": math.inf, **DELIVERED},
    "clients without samples": {
        **{"battery": 25, "data_size": 0, "training_loss": 0.0, "label_mix": 0.0, "moments": 0.0},
        **DELIVERED,
    },
    "a forecast of NaN": {"battery": 25, "forecast": NAN},
    "a negative forecast": {"battery": 25, "forecast": -7.0},
    "a forecast that promises the world": {"forecast": math.inf},
    "everyone is busy": {"training": True},
    "everyone delivered": {"delivered": True, **DELIVERED},
}


def for_everyone(same: dict[str, Any], clients: int, horizon: int) -> dict[str, Any]:
    """The same value for every client; of every column, where there are several."""
    columns = {"forecast": (horizon,), "label_mix": (3,), "moments": (3,)}
    return {name: np.full((clients, *columns.get(name, ())), value) for name, value in same.items()}


@pytest.mark.parametrize("careless", CARELESS)
@pytest.mark.parametrize("name", NEEDY)
@pytest.mark.parametrize("clients", [1, 6])
def test_a_policy_answers_whatever_is_known(name: str, careless: str, clients: int) -> None:
    with_k = name != "guler-yener"
    for k in {1, clients} if with_k else {clients}:
        policy = POLICIES[name](**({"k": k} if with_k else {}))
        horizon = max(needs_of(policy).forecast_epochs, 1)
        state = policy.init(clients)
        for epoch in range(3):
            given = nothing_known(clients, horizon) | for_everyone(CARELESS[careless], clients, horizon)
            state, mask = policy.select(state, view(clients, epoch=epoch, **given), rng(epoch))
            assert mask.dtype == np.bool_
            assert mask.shape == (clients,)
            assert mask.sum() <= k


@pytest.mark.parametrize("name", ["oort", "eafl", "power-of-choice"])
def test_where_no_loss_is_known_chance_decides_among_all(name: str) -> None:
    policy, seen = POLICIES[name](k=2), np.zeros(6)
    for seed in range(200):
        given = nothing_known(6, 1) | {"battery": [25] * 6}
        seen += policy.select(policy.init(6), view(6, **given), rng(seed))[1]
    assert seen.sum() == 400
    assert (seen > 35).all()
