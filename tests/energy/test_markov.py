import math
from itertools import pairwise

import numpy as np
import pytest

from fallow.energy import Markov
from fallow.energy.spells import SpellLaw, Spells
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from tests.energy.cells import cells, correlation

LAW = SpellLaw(good=6.0, bad=14.0)  # r = 5/21, π = 0.3
STATES = Markov(good=6.0, bad=14.0)  # one unit in a good slot, none in a bad one: the state itself


def spell_lengths(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the lengths of the whole good and the whole bad spells of all columns."""
    good, bad = [], []
    for column in states.T:
        edges = np.flatnonzero(np.diff(column)) + 1
        for first, end in pairwise(edges):
            (good if column[first] else bad).append(end - first)
    return np.array(good), np.array(bad)


def test_spells_are_geometric_with_the_stated_means() -> None:
    for mean, lengths in zip((6.0, 14.0), spell_lengths(cells(STATES, clients=60, slots=10_000)), strict=True):
        deviation = math.sqrt(mean * (mean - 1))  # of a geometric number
        assert lengths.min() == 1
        assert lengths.mean() == pytest.approx(mean, abs=5 * deviation / math.sqrt(lengths.size))
        for least in (2, 5, 20):
            tail = (1 - 1 / mean) ** (least - 1)
            assert (lengths >= least).mean() == pytest.approx(tail, abs=5 * math.sqrt(tail / lengths.size))


@pytest.mark.parametrize("lag", [1, 3, 10])
def test_the_states_covary_over_time_as_a_chain_does(lag: int) -> None:
    states = cells(STATES, clients=4000, slots=300).astype(float) - 0.3
    products = (states[:-lag] * states[lag:]).mean(axis=0) / 0.21  # a number a client, so that they are independent
    expected = (1 - LAW.refresh) ** lag
    assert products.mean() == pytest.approx(expected, abs=5 * products.std() / math.sqrt(products.size))


def test_every_slot_of_every_epoch_has_the_stationary_share() -> None:
    states = cells(STATES, range(6), clients=60_000, slots=3)
    assert np.abs(states.mean(axis=1) - 0.3).max() < 5 * math.sqrt(0.21 / 60_000)


def test_mean_and_variance_are_those_of_states_and_of_the_fractions() -> None:
    model = Markov(good=3.0, bad=2.0, units_good=2.5, units_bad=0.25)
    units = cells(model, clients=20_000, slots=40).astype(float)
    assert set(np.unique(units)) == {0, 1, 2, 3}
    of_clients = units.mean(axis=0)
    assert model.mean(1)[0] == pytest.approx(0.6 * 2.5 + 0.4 * 0.25)
    assert of_clients.mean() == pytest.approx(1.6, abs=5 * of_clients.std() / math.sqrt(20_000))
    variance = 0.6 * 0.25 + 0.4 * 0.1875 + 0.24 * 2.25**2
    squares = ((units - 1.6) ** 2).mean(axis=0)
    assert squares.mean() == pytest.approx(variance, abs=5 * squares.std() / math.sqrt(20_000))


@pytest.mark.parametrize("c", [0.1, 0.5, 0.9])
def test_two_clients_states_have_the_correlation_that_is_asked_for_from_the_first_slot_on(c: float) -> None:
    r, s = LAW.refresh, LAW.taken(c)
    # Together they refresh to the same state, alone to another; in a stationary slot C = s(r + (1−r)C) + (1−s)(1−r)²C.
    assert c == pytest.approx(s * (r + (1 - r) * c) + (1 - s) * (1 - r) ** 2 * c)
    first, late = [], []
    for seed in range(1500):
        states = cells(STATES, clients=12, slots=30, correlation=c, seed=seed)
        for row, found in ((states[0], first), (states[-1], late)):
            z = (row - 0.3) / math.sqrt(0.21)
            found.append((z.sum() ** 2 - (z**2).sum()) / (12 * 11))
    for found in (first, late):
        assert np.mean(found) == pytest.approx(c, abs=5 * np.std(found) / math.sqrt(1500))


def test_two_clients_harvests_covary_by_their_states_and_by_the_shared_fraction() -> None:
    c, m, model = 0.5, 0.6, Markov(good=3.0, bad=3.0, units_good=0.6)
    taken, r = model.law.taken(c), model.law.refresh
    both_good = 0.5 * r + (1 - r) * (0.25 + c / 4)  # where both take the shared draw
    covariance = c / 4 * m**2 + taken * both_good * m * (1 - m)
    found, error = correlation(cells(model, range(200), clients=30, slots=100, correlation=c).astype(float))
    expected = covariance / (0.3 * 0.7)
    # Rows follow each other with memory: r = 2/3, so about (2 − r)/r = 2 rows are worth one.
    assert found == pytest.approx(expected, abs=5 * error * math.sqrt(2))
    assert error < 0.01


def test_spells_of_two_slots_each_have_no_memory() -> None:
    assert SpellLaw(2.0, 2.0).refresh == 1.0
    assert SpellLaw(1.5, 3.0).refresh == 1.0


def test_a_spell_longer_than_any_run_never_ends() -> None:
    states = cells(Markov(good=1e12, bad=1e12), range(5), clients=50)
    assert (states == states[0]).all()
    assert 0 < states[0].sum() < 50


def test_an_epoch_in_which_nobody_draws_afresh_is_looked_through() -> None:
    law = SpellLaw(good=400.0, bad=400.0)
    lived, alone = Spells(law, 1, 40, 5), Spells(law, 1, 40, 5)
    last = [list(lived.states(epoch))[-1][0][-1] for epoch in range(60)]
    assert any(np.array_equal(a, b) for a, b in pairwise(last))
    np.testing.assert_array_equal(alone.before(60), last[-1])
    np.testing.assert_array_equal(alone.before(30), last[29])
    np.testing.assert_array_equal(alone.first_slot(31), next(Spells(law, 1, 40, 5).states(31))[0][0])


def test_another_mean_scales_the_units_and_leaves_the_spells() -> None:
    model = Markov(good=10.0, bad=30.0, units_good=2.0, units_bad=0.4).with_mean(1.6)
    assert (model.good, model.bad, model.units_good, model.units_bad) == (10.0, 30.0, 4.0, 0.8)
    with pytest.raises(ConfigError, match=r"energy\.mean = 1 can't be had of 0 units in a good slot and 0 in a bad"):
        Markov(units_good=0.0).with_mean(1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"good": 0.0}, r"energy\.good = 0\.0 must be at least 1\."),
        ({"bad": 0.5}, r"energy\.bad = 0\.5 must be at least 1\."),
        ({"good": 1.2, "bad": 3.0}, r"energy\.good = 1\.2 and energy\.bad = 3 give 1/good \+ 1/bad = 1\.17, and at mo"),
        ({"units_good": -1.0}, r"energy\.units_good = -1\.0 must be at least 0\."),
        ({"units_bad": "none"}, r"energy\.units_bad = 'none' must be a number\."),
    ],
)
def test_wrong_options_are_one_sentence(options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Experiment(energy={"model": "markov", **options})


def test_a_spell_shorter_than_a_slot_is_refused_in_python_too() -> None:
    with pytest.raises(ConfigError, match=r"energy\.good = 0 slots must be at least 1"):
        Markov(good=0.0)
