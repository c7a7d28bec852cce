"""What the one door promises of every model: any epoch in any order, shared weather, another mean."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.energy import Bernoulli, Markov, Mix, Poisson, Trace, prepare_harvest, whole_units
from fallow.energy.base import CELLS_AT_ONCE
from fallow.energy.fractions import whole_rows
from fallow.errors import ConfigError, EnergyError
from fallow.experiment import Experiment
from fallow.rng import Purpose, stream
from fallow.simulation.engine import Engine
from fallow.state import pack
from tests.energy.cells import cells, correlation

MODELS = {
    "bernoulli": Bernoulli(p=0.4),
    "poisson": Poisson(rate=0.4, packet=2),
    "markov": Markov(good=20.0, bad=50.0, units_good=1.3, units_bad=0.1),
    "mix": Mix(({"model": "markov", "good": 4.0, "bad": 4.0}, {"model": "bernoulli", "p": 0.5})),
}


@dataclass(frozen=True)
class Ramp:
    """A user's model, which knows its mean and nothing else: client i harvests i + 1 units in every slot."""

    stated: float = 1.0
    as_rows: bool = False

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Any:
        def harvest(_epoch: int) -> Any:
            units = np.broadcast_to(np.arange(1, clients + 1), (slots_per_epoch, clients))
            return iter(units) if self.as_rows else units

        return harvest

    def mean(self, clients: int) -> np.ndarray:
        return np.arange(1, clients + 1) * self.stated


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", MODELS)
def test_an_epoch_is_the_same_in_any_order_and_alone(name: str, c: float) -> None:
    model = MODELS[name]
    lived = cells(model, range(20), correlation=c).reshape(20, 12, 5)
    for epochs in ([19], [7, 3], [3, 7, 7, 0, 19, 1]):
        np.testing.assert_array_equal(cells(model, epochs, correlation=c).reshape(-1, 12, 5), lived[epochs])


@pytest.mark.parametrize("c", [0.0, 0.3])
def test_in_many_parts_too(c: float) -> None:
    clients = CELLS_AT_ONCE // 2 + 1  # one slot at a time
    for model in (Markov(good=2.0, bad=9.0, units_good=1.5), Poisson(), Bernoulli()):
        lived = cells(model, range(3), clients=clients, slots=2, correlation=c)
        np.testing.assert_array_equal(cells(model, [2], clients=clients, slots=2, correlation=c), lived[4:])


@pytest.mark.parametrize("c", [0.0, 0.4])
@pytest.mark.parametrize("name", MODELS)
def test_a_run_from_a_checkpoint_goes_on_as_if_nothing_had_been(name: str, c: float) -> None:
    experiment = Experiment(
        clients=6, epochs=12, slots_per_epoch=9, energy={"model": MODELS[name], "correlation": c}, policy="fedavg"
    )
    run = Engine(experiment)
    for _ in range(8):
        run.step()
    later = Engine(experiment)
    later.restore(later.unpack(*pack(run.state)))
    assert [str(record) for record in run] == [str(record) for record in later]


@pytest.mark.parametrize("name", MODELS)
def test_no_correlation_is_the_same_bytes_and_all_of_it_the_same_for_everyone(name: str) -> None:
    model = MODELS[name]
    np.testing.assert_array_equal(cells(model.correlated(0.0), range(3)), cells(model, range(3)))
    if name != "mix":
        alike = cells(model, range(3), correlation=1.0)
        assert (alike == alike[:, :1]).all()


@pytest.mark.parametrize(("p", "c"), [(0.5, 0.09), (0.1, 0.5)])
def test_two_bernoulli_clients_have_exactly_the_correlation(p: float, c: float) -> None:
    units = cells(Bernoulli(p), clients=40, slots=20_000, correlation=c).astype(float)
    found, error = correlation(units)
    assert found == pytest.approx(c, abs=5 * error)
    assert error < 0.02
    assert units.mean() == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) * (1 / 40 + c) / 20_000))


def test_clients_with_other_probabilities_share_as_much_as_they_can() -> None:
    units = cells(Bernoulli((0.2, 0.6)), clients=2, slots=20_000, correlation=1.0)
    assert (units[:, 0] <= units[:, 1]).all()
    np.testing.assert_allclose(units.mean(axis=0), [0.2, 0.6], atol=5 * math.sqrt(0.24 / 20_000))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_its_mean_and_can_have_another(name: str) -> None:
    model = MODELS[name]
    for wanted, options in ((float(model.mean(400).mean()), {}), (0.25, {"mean": 0.25})):
        of_clients = cells(model, range(10), clients=400, slots=100, **options).mean(axis=0)
        assert of_clients.mean() == pytest.approx(wanted, abs=5 * of_clients.std() / 20)
    assert model.with_mean(0.25).mean(10).mean() == pytest.approx(0.25)
    assert model.correlated(0.5).mean(10).tolist() == model.mean(10).tolist()


def test_fractions_are_carried_so_that_every_sum_is_right_within_a_unit() -> None:
    rng = np.random.default_rng(3)
    real, offset = rng.exponential(0.7, (200, 50)), rng.random(50)
    whole = whole_units(real, offset)
    assert whole.min() >= 0
    assert np.abs(np.cumsum(whole, axis=0) - np.cumsum(real, axis=0)).max() < 1
    np.testing.assert_array_equal(np.array(list(whole_rows(real, offset))).sum(axis=0), whole.sum(axis=0))


def test_a_uniform_offset_makes_every_slot_right_in_the_mean() -> None:
    offset = (np.arange(1000) + 0.5) / 1000
    means = whole_units(np.tile([[0.3], [1.45], [0.0]], (1, 1000)), offset).mean(axis=1)
    np.testing.assert_allclose(means, [0.3, 1.45, 0.0], atol=1e-12)


@pytest.mark.parametrize("as_rows", [False, True])
def test_a_users_model_with_a_mean_is_scaled_and_its_clients_keep_their_ratios(as_rows: bool) -> None:
    units = cells(Ramp(as_rows=as_rows), [4], clients=4, slots=100, mean=0.25)  # the mean was 2.5
    assert np.abs(units.sum(axis=0) - [10, 20, 30, 40]).max() <= 1
    offset = stream(7, Purpose.FRACTIONS, 4).random(4)
    expected = [[math.floor(0.1 * (i + 1) * s + offset[i]) for i in range(4)] for s in range(101)]
    np.testing.assert_array_equal(units, np.diff(expected, axis=0))


@pytest.mark.parametrize(("stated", "error"), [(0.0, ConfigError), (math.nan, EnergyError), (-1.0, EnergyError)])
def test_a_mean_that_is_none_is_refused(stated: float, error: type[Exception]) -> None:
    with pytest.raises(error, match="Ramp"):
        cells(Ramp(stated=stated), mean=0.5)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    (tmp_path / "sun.csv").write_text("a,b\n1,0\n0,4\n3,0\n", encoding="utf-8")
    return Trace(str(tmp_path / "sun.csv"))


def test_a_trace_has_the_means_of_its_columns_and_is_scaled_with_nothing_lost(trace: Trace) -> None:
    np.testing.assert_allclose(trace.mean(2), [4 / 3, 4 / 3])
    units = cells(trace, range(30), clients=2, slots=2, mean=0.5)  # times 3/8
    rows = np.tile([[1, 0], [0, 4], [3, 0]], (20, 1))
    np.testing.assert_array_equal(np.cumsum(units, axis=0), np.cumsum(rows, axis=0) * 3 // 8)
    np.testing.assert_array_equal(cells(trace, [17], clients=2, slots=2, mean=0.5), units[34:36])
    np.testing.assert_allclose(trace.with_mean(0.5).mean(2), [0.5, 0.5])


def test_a_trace_has_no_weather_to_share_and_nothing_can_not_be_scaled(trace: Trace) -> None:
    with pytest.raises(
        ConfigError, match=r"energy\.correlation = 0\.2 is for models in which chance decides, and Trac"
    ):
        cells(trace, clients=2, correlation=0.2)
    Path(trace.path).write_text("0\n0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"energy\.mean = 1 can't be had of a trace with the mean 0"):
        cells(trace, mean=1.0)


def test_groups_with_their_own_seeds_can_live_under_one_sky() -> None:
    shared = {"clients": 1, "slots_per_epoch": 50, "correlation": 1.0}
    first, other = (prepare_harvest(Bernoulli(0.5), seed=seed, weather=9, **shared)(0) for seed in (1, 2))
    np.testing.assert_array_equal(np.asarray(first), np.asarray(other))
