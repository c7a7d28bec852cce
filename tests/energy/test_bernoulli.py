import numpy as np
import pytest

from fallow.energy.bernoulli import CELLS_AT_ONCE, Bernoulli
from fallow.errors import ConfigError


def cells(model: Bernoulli, epoch: int, seed: int = 1, clients: int = 50, slots: int = 30) -> np.ndarray:
    return np.array(list(model.prepare(seed, clients, slots)(epoch)))


def test_an_epoch_has_a_row_a_slot_and_a_column_a_client() -> None:
    assert cells(Bernoulli(0.5), 0).shape == (30, 50)


def test_asked_twice_it_answers_the_same_and_another_epoch_or_seed_differs() -> None:
    model = Bernoulli(0.5)
    assert np.array_equal(cells(model, 4), cells(model, 4))
    assert not np.array_equal(cells(model, 4), cells(model, 5))
    assert not np.array_equal(cells(model, 4), cells(model, 4, seed=2))


def test_each_client_may_have_its_own_probability() -> None:
    harvest = cells(Bernoulli((0.0, 1.0, 0.5)), 0, clients=3)
    assert harvest[:, 0].sum() == 0
    assert harvest[:, 1].sum() == 30
    assert 0 < harvest[:, 2].sum() < 30


def test_probabilities_for_another_number_of_clients_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"energy\.p has 2 numbers for 3 clients"):
        Bernoulli((0.1, 0.2)).prepare(0, 3, 30)


def test_many_clients_are_drawn_in_parts_that_join_without_a_seam() -> None:
    clients = CELLS_AT_ONCE // 4 + 1
    harvest = cells(Bernoulli(0.5), 0, clients=clients, slots=7)
    assert harvest.shape == (7, clients)
    assert harvest.mean() == pytest.approx(0.5, abs=0.01)
    assert not any(np.array_equal(harvest[0], row) for row in harvest[1:])
