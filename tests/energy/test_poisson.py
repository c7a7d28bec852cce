import math

import numpy as np
import pytest

from fallow.energy import Poisson
from fallow.energy.base import CELLS_AT_ONCE
from fallow.energy.poisson import PoissonLaw, cumulative
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from tests.energy.cells import cells, correlation


@pytest.mark.parametrize(("rate", "packet"), [(0.05, 1), (0.7, 3), (30.0, 2)])
def test_mean_and_variance_are_those_of_packets(rate: float, packet: int) -> None:
    units = cells(Poisson(rate, packet), clients=1000, slots=400).astype(float)
    mean, variance = rate * packet, rate * packet**2
    assert set(np.unique(units % packet)) == {0.0}
    assert units.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / units.size))
    # The variance of (X − μ)² for a Poisson number is 2λ² + λ.
    assert units.var() == pytest.approx(variance, abs=5 * packet**2 * math.sqrt((2 * rate**2 + rate) / units.size))


@pytest.mark.parametrize("rate", [0.0, 0.01, 1.0, 40.0, 1e4])
def test_the_law_is_that_of_poisson_to_the_last_digits(rate: float) -> None:
    from scipy.stats import poisson

    least, below = cumulative(rate)
    np.testing.assert_allclose(below, poisson.cdf(np.arange(least, least + below.size), rate), atol=1e-11)
    uniform = np.random.default_rng(1).random((50, 40))
    expected = least + np.searchsorted(below, uniform, side="right")
    np.testing.assert_array_equal(PoissonLaw.of(rate).quantile(uniform), expected)


def test_a_rate_of_zero_harvests_nothing() -> None:
    assert cells(Poisson(0.0)).sum() == 0
    assert cells(Poisson(0.0), correlation=0.5).sum() == 0


@pytest.mark.parametrize(("rate", "c"), [(0.3, 0.25), (4.0, 0.64)])
def test_two_clients_have_exactly_the_correlation(rate: float, c: float) -> None:
    found, error = correlation(cells(Poisson(rate), clients=40, slots=20_000, correlation=c).astype(float))
    assert found == pytest.approx(c, abs=5 * error)
    assert error < 0.02


def test_the_mean_moves_the_rate_and_leaves_the_packets() -> None:
    assert Poisson(rate=0.1, packet=4).with_mean(2.0) == Poisson(rate=0.5, packet=4)
    assert Poisson(rate=0.5, packet=4).mean(2).tolist() == [2.0, 2.0]


def test_a_forecast_is_the_mean_and_errs_as_it_states() -> None:
    outlook = Poisson(rate=0.5, packet=3).prepare_forecast(0, 2, 5)(9, 2)
    assert outlook.units.tolist() == [[6.0, 7.5], [6.0, 7.5]]
    np.testing.assert_allclose(outlook.error**2, [[18.0, 22.5], [18.0, 22.5]])  # 9 · 0.5 units² a slot


def test_many_clients_are_drawn_in_parts() -> None:
    clients = CELLS_AT_ONCE // 3 + 1
    for c in (0.0, 0.3):
        units = cells(Poisson(0.5), clients=clients, slots=5, correlation=c)
        assert units.shape == (5, clients)
        assert not any(np.array_equal(units[0], row) for row in units[1:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": -0.1}, r"energy\.rate = -0\.1 must be at least 0\."),
        ({"rate": "often"}, r"energy\.rate = 'often' must be a number\."),
        ({"packet": 0}, r"energy\.packet = 0 must be at least 1\."),
        ({"packet": 1.5}, r"energy\.packet = 1\.5 must be a whole number\."),
    ],
)
def test_wrong_options_are_one_sentence(options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Experiment(energy={"model": "poisson", **options})


def test_more_than_a_slot_may_hold_is_refused_before_the_first_draw() -> None:
    with pytest.raises(ConfigError, match=r"energy\.rate = 1e\+08 packets of energy\.packet = 30 units may bring"):
        Poisson(1e8, 30).prepare(0, 3, 4)
