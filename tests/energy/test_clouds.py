import numpy as np
import pytest

from fallow.energy.clouds import Clouds
from fallow.energy.cloudy import cloud_outlook
from fallow.energy.weather import CHANGE, GOODNESS
from fallow.rng import Purpose, bernoulli, stream


def sky(clouds: Clouds, epochs: int, clients: int, slots: int, seed: int = 3) -> np.ndarray:
    clearness = clouds.prepare(seed, clients, slots)
    return np.concatenate([[now.copy() for now in clearness(epoch)] for epoch in range(epochs)])


def literal(clouds: Clouds, seed: int, epochs: int, clients: int, slots: int) -> list[list[float]]:
    """The process, client by client and slot by slot, as its description has it."""
    rows, now = [], [0.0] * clients
    first, later = clouds.sharing
    for epoch in range(epochs):
        rng = stream(seed, Purpose.CLOUDS, epoch)
        weather = stream(seed, Purpose.WEATHER, epoch).random((slots, 3))
        draws = bernoulli(rng, clouds.renewal, (slots, clients))
        follows = bernoulli(rng, later, (slots, clients)) if clouds.correlation else None
        for slot in range(slots):
            opening = (epoch, slot) == (0, 0)
            takes = [False] * clients if follows is None else list(follows[slot])
            if opening:
                takes = [u < first for u in rng.random(clients)]
            for client in range(clients):
                if takes[client]:
                    if opening or weather[slot, CHANGE] < clouds.renewal:
                        now[client] = 1 - clouds.depth * (1 - weather[slot, GOODNESS])
                elif opening or draws[slot, client]:
                    now[client] = 1 - clouds.depth * rng.random()
            rows.append(list(now))
    return rows


@pytest.mark.parametrize("correlation", [0.0, 0.4, 1.0])
def test_the_process_is_its_scalar_transcription(correlation: float):
    clouds = Clouds(renewal=0.3, depth=0.7, correlation=correlation)
    assert sky(clouds, epochs=4, clients=3, slots=5).tolist() == literal(clouds, 3, 4, 3, 5)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_any_epoch_alone_or_in_any_order_is_the_same(correlation: float):
    clouds = Clouds(renewal=0.02, depth=1.0, correlation=correlation)  # most clients keep their draw over epochs
    whole = sky(clouds, epochs=8, clients=20, slots=6).reshape(8, 6, 20)
    asked = clouds.prepare(3, 20, 6)
    for epoch in (7, 3, 4, 0, 7):
        assert np.array_equal([now.copy() for now in asked(epoch)], whole[epoch])


def test_an_epoch_that_was_left_half_way_changes_nothing():
    clouds = Clouds(renewal=0.2, depth=1.0)
    whole = sky(clouds, epochs=3, clients=5, slots=6).reshape(3, 6, 5)
    asked = clouds.prepare(3, 5, 6)
    next(iter(asked(1)))
    assert np.array_equal([now.copy() for now in asked(2)], whole[2])


def test_clearness_has_mean_1_less_half_the_depth_and_variance_depth_squared_over_12_in_every_slot():
    cells = sky(Clouds(renewal=0.25, depth=0.6), epochs=2, clients=40_000, slots=4)
    # The error of a mean of 40,000 is 0.0009; of a variance of 0.03 about 0.0001.
    assert cells.mean(axis=1) == pytest.approx(np.full(8, 0.7), abs=0.004)
    assert cells.var(axis=1) == pytest.approx(np.full(8, 0.03), abs=0.0006)
    assert cells.min() >= 0.4
    assert cells.max() <= 1.0


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_autocorrelation_at_a_lag_is_1_less_renewal_to_its_power(correlation: float):
    cells = sky(Clouds(renewal=0.25, depth=1.0, correlation=correlation), epochs=2, clients=4, slots=20_000)
    cells = cells - 0.5
    for lag in (1, 2, 5, 9):
        measured = (cells[lag:] * cells[:-lag]).mean() * 12
        assert measured == pytest.approx(0.75**lag, abs=0.04)


@pytest.mark.parametrize("renewal", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("correlation", [0.25, 0.8])
def test_two_clients_have_the_stated_correlation_in_the_long_run(renewal: float, correlation: float):
    one, other = sky(Clouds(renewal, 1.0, correlation), epochs=1, clients=2, slots=30_000).T
    # Neighbouring slots are alike, so they count as 30,000 · renewal / 2 at least.
    assert np.corrcoef(one, other)[0, 1] == pytest.approx(correlation, abs=3 / np.sqrt(15_000 * renewal))


def test_two_clients_have_the_stated_correlation_in_the_first_slots_too():
    clouds = Clouds(renewal=0.25, depth=1.0, correlation=0.6)
    pairs = np.array([sky(clouds, epochs=1, clients=2, slots=3, seed=seed) for seed in range(3000)])
    for slot in range(3):
        assert np.corrcoef(pairs[:, slot].T)[0, 1] == pytest.approx(0.6, abs=0.06)


def test_shared_wholly_everyone_has_the_same_sky_and_groups_can_share_it():
    clouds = Clouds(renewal=0.3, depth=1.0, correlation=1.0)
    rows = sky(clouds, epochs=3, clients=7, slots=5)
    assert (rows == rows[:, :1]).all()
    elsewhere = Clouds(renewal=0.3, depth=1.0, correlation=1.0, weather=3)
    assert np.array_equal(sky(elsewhere, epochs=3, clients=2, slots=5, seed=99), rows[:, :2])


def test_depth_0_is_always_clear():
    assert (sky(Clouds(renewal=0.3, depth=0.0), epochs=2, clients=3, slots=4) == 1).all()


def test_the_forecast_is_the_mean_of_what_comes_and_its_error_that_of_the_sums():
    clouds = Clouds(renewal=0.3, depth=1.0)
    joules, windows = np.array([3.0, 0.0, 5.0, 2.0, 7.0]), np.array([2, 3])
    clearness = clouds.prepare(seed=8, clients=60_000, slots_per_epoch=6)
    now, *later = (slot.copy() for slot in clearness(0))
    real = np.array(later) * joules[:, None]
    sums = np.stack([real[:2].sum(axis=0), real[2:].sum(axis=0)], axis=1)
    units, error = cloud_outlook(clouds, now, np.ones(now.size), joules, windows)
    missed = sums - units
    for low in (0.0, 0.4, 0.9):  # it is right for each present sky
        group = (low <= now) & (now < low + 0.1)
        assert missed[group].mean(axis=0) == pytest.approx([0, 0], abs=0.12)
        variance = (error[group] ** 2).mean(axis=0) - 1 / 6  # what whole units add
        assert (missed[group] ** 2).mean(axis=0) == pytest.approx(variance, rel=0.06)
