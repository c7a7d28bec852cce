"""What models expect of the harvest to come: right in the mean, and wrong by what they state."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.energy import Bernoulli, Markov, Mix, Outlook, Poisson, Trace, prepare_forecast
from fallow.energy.spell_forecast import spell_outlook
from fallow.energy.spells import SpellLaw
from fallow.errors import ConfigError, PolicyError
from fallow.experiment import Experiment
from fallow.policies import EpochView, FedZero, Mask, Needs, needs_of
from fallow.simulation.engine import Engine
from tests.energy.cells import cells

CLIENTS, SLOTS, EPOCHS = 20_000, 6, 3


def truth(model: Any, **more: Any) -> np.ndarray:
    """Returns what was to come in the first slot of epoch 4, shape (N, H)."""
    units = cells(model, range(4, 4 + EPOCHS), clients=CLIENTS, slots=SLOTS, **more).reshape(EPOCHS, SLOTS, CLIENTS)
    return np.column_stack([units[0, 1:].sum(axis=0), *(epoch.sum(axis=0) for epoch in units[1:])])


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (Bernoulli(p=0.3), {}),
        (Bernoulli(p=tuple(np.linspace(0, 1, CLIENTS).tolist())), {}),
        (Poisson(rate=0.4, packet=3), {"mean": 0.6}),
        (Markov(good=5.0, bad=9.0), {}),
        (Markov(good=3.0, bad=4.0, units_good=2.4, units_bad=0.5), {}),
        (Markov(good=30.0, bad=1.5, units_good=0.5), {"mean": 0.7}),
        (Mix(({"model": "markov", "good": 4.0, "bad": 4.0}, {"model": "poisson", "rate": 0.5})), {}),
    ],
)
def test_a_forecast_is_right_in_the_mean_and_errs_as_it_states(model: Any, more: dict[str, float]) -> None:
    forecast = prepare_forecast(model, seed=7, clients=CLIENTS, slots_per_epoch=SLOTS, **more)
    units, error = forecast(4, EPOCHS)
    assert units.shape == error.shape == (CLIENTS, EPOCHS)
    wrong = truth(model, **more) - units
    for known in np.unique(units[:, 0])[:4]:  # also for each thing that the forecast knows
        of = (units[:, 0] == known) if (units[:, 0] == known).sum() > 100 else np.ones(CLIENTS, dtype=bool)
        assert (np.abs(wrong[of].mean(axis=0)) <= 5 * wrong[of].std(axis=0) / np.sqrt(of.sum())).all()
        stated, squares = (error[of] ** 2).mean(axis=0), wrong[of] ** 2
        assert (np.abs(squares.mean(axis=0) - stated) <= 5 * squares.std(axis=0) / np.sqrt(of.sum())).all()


def test_spells_forecast_by_the_state_of_the_first_slot_also_under_shared_weather() -> None:
    model, more = Markov(good=6.0, bad=6.0), {"correlation": 0.6}
    first = cells(model, [4], clients=50, slots=SLOTS, **more)[0]
    units = prepare_forecast(model, seed=7, clients=50, slots_per_epoch=SLOTS, **more)(4, 2).units
    expected = spell_outlook(SpellLaw(6.0, 6.0), (0.0, 1.0), SLOTS, 2).units
    np.testing.assert_array_equal(units, expected[first])
    assert expected[1, 0] > expected[0, 0]


def test_far_ahead_spells_promise_the_mean() -> None:
    units = spell_outlook(SpellLaw(3.0, 9.0), (0.0, 2.0), slots_per_epoch=10, epochs=20).units
    np.testing.assert_allclose(units[:, -1], [5.0, 5.0], atol=1e-9)


def test_a_trace_is_known(tmp_path: Path) -> None:
    (tmp_path / "sun.csv").write_text("1\n0\n2\n", encoding="utf-8")
    trace = Trace(str(tmp_path / "sun.csv"))
    units, error = trace.prepare_forecast(0, 2, 2)(1, 3)  # the epochs are 1 0, 2 1, 0 2, 1 0
    assert units.tolist() == [[1.0, 2.0, 1.0]] * 2
    assert not error.any()
    ends = Trace(trace.path, end="zeros")
    assert ends.prepare_forecast(0, 1, 2)(0, 3).units.tolist() == [[0.0, 2.0, 0.0]]
    scaled = prepare_forecast(trace, seed=0, clients=1, slots_per_epoch=2, mean=2.0)  # every unit becomes two
    assert scaled(1, 3).units.tolist() == [[2.0, 4.0, 2.0]]


@dataclass(frozen=True)
class Mute:
    """A user's model, which knows its mean and has no forecast."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Any:
        return lambda _epoch: np.ones((slots_per_epoch, clients), dtype=np.int64)

    def mean(self, clients: int) -> np.ndarray:
        return np.ones(clients)


@dataclass(frozen=True)
class Talking(Mute):
    """One that has: it always expects a unit a slot."""

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> Any:
        return lambda _epoch, epochs: Outlook(np.ones((clients, epochs)), np.zeros((clients, epochs)))


def test_a_model_without_forecast_is_refused_by_name() -> None:
    for model, more in ((Mute(), {}), (Mute(), {"mean": 0.5}), (Mix(({"model": Mute()},)), {})):
        with pytest.raises(ConfigError, match=r"Mute has (none|no forecast); choose another energy model"):
            prepare_forecast(model, seed=0, clients=2, slots_per_epoch=3, **more)


def test_a_scaled_forecast_errs_by_the_rounding_too() -> None:
    outlook = prepare_forecast(Talking(), seed=0, clients=1, slots_per_epoch=3, mean=0.25)(0, 2)
    assert outlook.units.tolist() == [[0.25, 0.25]]
    assert outlook.error.tolist() == [[0.5, 0.5]]


SEEN: list[EpochView] = []


@dataclass(frozen=True)
class Reader:
    """Reads the model's forecast and its error."""

    @property
    def needs(self) -> Needs:
        return Needs(forecast_epochs=2, forecast_by="model")

    def init(self, clients: int) -> None:
        SEEN.clear()

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        SEEN.append(view)
        return None, view.forecast[:, 0] > view.forecast_error[:, 0]


def test_a_policy_is_told_what_it_declared() -> None:
    list(Engine(Experiment(clients=3, epochs=4, energy=Markov(good=8.0, bad=8.0), policy=Reader())))
    expected = Markov(good=8.0, bad=8.0).prepare_forecast(0, 3, 30)
    for epoch, view in enumerate(SEEN):
        np.testing.assert_array_equal(view.forecast, expected(epoch, 2).units)
        np.testing.assert_array_equal(view.forecast_error, expected(epoch, 2).error)
        assert not view.forecast.flags.writeable
    with pytest.raises(ConfigError, match="Mute has none"):
        Engine(Experiment(energy=Mute(), policy=Reader()))


def test_a_model_states_its_own_error() -> None:
    with pytest.raises(PolicyError, match="a model states its own error; leave forecast_error at 0"):
        Needs(forecast_epochs=1, forecast_error=0.1, forecast_by="model")
    with pytest.raises(PolicyError, match="forecast by 'oracle'; it can be one of truth, model"):
        Needs(forecast_by="oracle")
    needs = needs_of(FedZero(forecast_by="model"))
    assert (needs.forecast_by, needs.forecast_error) == ("model", 0.0)
    assert "forecast of 4 epochs by the energy model" in needs.in_words()
