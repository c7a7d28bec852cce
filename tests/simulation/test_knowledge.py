"""What is gathered for a policy: what it declares, right, and nothing else."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from fallow.errors import PolicyError
from fallow.experiment import Experiment
from fallow.learning.probe import probe_batches
from fallow.policies import EpochView, Mask, Needs
from fallow.rng import Purpose, stream
from fallow.simulation.engine import Engine

SEEN: list[EpochView] = []

EVERYTHING = Needs(
    distance="features",
    probe_loss=True,
    training_loss=True,
    data_size=True,
    participation=True,
    mean_harvest=True,
    forecast_epochs=3,
    label_mix=True,
    moments=True,
)


@dataclass(frozen=True)
class Watcher:
    """Selects every second client, and keeps what it sees."""

    declares: bool = True

    @property
    def needs(self) -> Needs:
        return EVERYTHING if self.declares else Needs()

    def init(self, clients: int) -> None:
        SEEN.clear()

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        SEEN.append(view)
        return None, np.arange(view.clients) % 2 == 0


@dataclass(frozen=True)
class Curious(Watcher):
    """Reads what it does not declare."""

    declares: bool = False

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        return None, view.label_mix[:, 0] > 0


def experiment(**settings) -> Experiment:
    base = {
        "clients": 6,
        "epochs": 12,
        "energy": {"p": 0.6},
        "policy": Watcher(),
        "data": {"name": "digits", "samples_per_client": 30},
        "learning": "train",
        "compute": {"workers": 1},
    }
    return Experiment(**base | settings)


def test_reading_what_is_not_declared_is_refused_by_name() -> None:
    with pytest.raises(PolicyError, match=r"reads view.label_mix, and its needs do not declare it"):
        next(iter(Engine(experiment(policy=Curious(), learning="none"))))


def test_nothing_is_gathered_that_nobody_declared() -> None:
    next(iter(Engine(experiment(policy=Watcher(declares=False)))))
    assert all(value is None for value in vars(SEEN[0].known).values())


def test_an_energy_only_run_knows_no_losses_labels_or_features() -> None:
    next(iter(Engine(experiment(learning="none"))))
    (view,) = SEEN
    for unknown in (view.probe_loss, view.training_loss, view.label_mix, view.moments):
        assert np.isnan(unknown).all()
    assert view.data_size.tolist() == [1] * 6


def test_participation_is_what_the_events_say() -> None:
    engine = Engine(experiment(learning="none", energy={"p": 0.9}))
    selections, deliveries = np.zeros(6, dtype=int), np.zeros(6, dtype=int)
    last_selected, last_delivered, staleness = (np.full(6, -1) for _ in range(3))
    for epoch, record in enumerate(engine):
        view = SEEN[epoch]
        for seen, true in (
            (view.selections, selections),
            (view.deliveries, deliveries),
            (view.last_selected, last_selected),
            (view.last_delivered, last_delivered),
            (view.last_staleness, staleness),
        ):
            assert seen.tolist() == true.tolist()
            assert not seen.flags.writeable
        arrived = set()
        for kind, _, who, late in record.events:
            if kind == "select":
                selections[who] += 1
                last_selected[who] = epoch
            if kind == "upload":
                arrived |= set(who.tolist())
                staleness[who] = late
        deliveries[list(arrived)] += 1
        last_delivered[list(arrived)] = epoch
    assert (staleness == 1).any()
    assert deliveries.max() > 1


def test_mean_harvest_and_forecast_are_those_of_the_energy_model() -> None:
    run = experiment(learning="none", energy={"p": 0.3})
    harvest = run.build("energy", "model").prepare(run.seed, 6, 30)
    units = np.array([[row.astype(int) for row in harvest(epoch)] for epoch in range(15)])
    list(Engine(run))
    assert SEEN[0].mean_harvest.tolist() == [0.0] * 6
    for epoch, view in enumerate(SEEN[1:], start=1):
        np.testing.assert_allclose(view.mean_harvest, units[:epoch].mean(axis=(0, 1)))
        assert view.forecast[:, 0].tolist() == units[epoch, 1:].sum(0).tolist()
        assert view.forecast[:, 2].tolist() == units[epoch + 2].sum(0).tolist()


def test_a_forecast_errs_by_what_it_states_and_is_right_in_the_mean() -> None:
    from fallow.simulation.forecast import Forecast

    def harvest(_epoch: int) -> np.ndarray:
        return np.ones((10, 4000), dtype=np.int64)

    forecast = Forecast(harvest, 0, 4000, 10, epochs=2, error=0.3)
    ratio = forecast.at(3)[:, 1] / 10
    assert ratio.mean() == pytest.approx(1, abs=0.02)
    assert np.log(ratio).std() == pytest.approx(0.3, abs=0.02)
    np.testing.assert_array_equal(forecast.at(3), Forecast(harvest, 0, 4000, 10, 2, 0.3).at(3))
    z = stream(0, Purpose.FORECAST, 3).standard_normal((4000, 2))[7, 1]
    assert forecast.at(3)[7, 1] == pytest.approx(10 * np.exp(0.3 * z - 0.045))


def test_losses_labels_and_moments_are_those_of_the_clients() -> None:
    engine = Engine(experiment(energy={"p": 0.9}))
    learner = engine.learner
    task, network = learner.task, learner.task.network
    labels = task.train.labels.numpy()
    for _ in range(6):
        weights = learner.weights
        engine.step()
        view = SEEN[-1]
        batches = probe_batches(task.seed, view.epoch, task.shards, np.full(6, 2), "fresh")
        if view.epoch == 0:
            network.load(weights)
            for client in range(6):
                inputs, classes = task.train.batch(batches[client])
                with torch.no_grad():
                    loss = cross_entropy(network.forward(inputs)[0], classes).item()
                assert view.probe_loss[client] == pytest.approx(loss, rel=1e-5)
            assert np.isnan(view.training_loss).all()
    for client in range(6):
        counts = np.bincount(labels[task.shards[client]], minlength=10) / 30
        np.testing.assert_allclose(view.label_mix[client], counts)
    trained = ~np.isnan(view.training_loss)
    assert trained.tolist() == [True, False] * 3
    assert (~np.isnan(view.moments[:, 0])).tolist() == trained.tolist()
    assert view.data_size.tolist() == [30] * 6


def test_an_unpaid_probe_leaves_its_loss_unknown() -> None:
    next(iter(Engine(experiment(energy={"p": 0.0}, cost={"probe": 1}, battery={"initial": [0, 1, 2, 0, 3, 25]}))))
    assert np.isnan(SEEN[0].probe_loss).tolist() == [True, False, False, True, False, False]
