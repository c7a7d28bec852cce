"""What everything with a name must keep to, whatever its kind. A new one adds its row; without it, this fails."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch

from fallow.aggregation import AGGREGATIONS, STALENESS, Update, aggregate
from fallow.aggregation.absent import All
from fallow.aggregation.buffered import Buffered
from fallow.aggregation.fedasync import FedAsync
from fallow.aggregation.fedbuff import FedBuff
from fallow.aggregation.fedopt import FedOpt
from fallow.aggregation.fedvarp import FedVarp
from fallow.aggregation.mifa import Mifa
from fallow.aggregation.received import Received
from fallow.aggregation.shrinkage import Shrinkage
from fallow.aggregation.staleness import Constant, Discard, Hinge, Polynomial
from fallow.data import DATASETS, PARTITIONS
from fallow.data.cifar10 import Cifar10
from fallow.data.digits import Digits
from fallow.data.division import divide
from fallow.data.fashion_mnist import FashionMnist
from fallow.data.partitions.dirichlet import Dirichlet
from fallow.data.partitions.iid import Iid
from fallow.data.partitions.natural import Natural
from fallow.data.partitions.one_class import OneClass
from fallow.data.sensors import Sensors
from fallow.data.synthetic import Synthetic
from fallow.energy import (
    ENERGY_MODELS,
    Bernoulli,
    Daylight,
    Markov,
    Mix,
    Poisson,
    Scale,
    Signal,
    Solar,
    Trace,
    Watts,
    prepare_harvest,
)
from fallow.energy.base import unit_rows
from fallow.errors import ConfigError
from fallow.models import MLP, MODELS, Auto, PaperCNN, ResNet18GN, SignalCNN, SmallCNN
from fallow.objectives import OBJECTIVES, BalancedSoftmax, CrossEntropy, FedLC, logit_offsets
from fallow.policies import (
    EAFL,
    POLICIES,
    BatteryWeighted,
    CyCP,
    FedAvg,
    FedBacys,
    FedBacysOdd,
    FedZero,
    Foresight,
    FullestBattery,
    GulerYener,
    LabelBalanced,
    Oldest,
    Oort,
    PowerOfChoice,
    RandomK,
    Reserve,
    RoundRobin,
    Unlimited,
    VAoI,
    VAoIParameters,
)
from fallow.policies.check import check_policy
from fallow.trackers import TRACKERS
from fallow.trackers.mlflow import MLflow
from fallow.trackers.tensorboard import TensorBoard

POLICY_ROWS = {
    "vaoi": VAoI(k=3),
    "fedavg": FedAvg(),
    "fedbacys": FedBacys(groups=2),
    "fedbacys-odd": FedBacysOdd(groups=2),
    "random-k": RandomK(k=3),
    "round-robin": RoundRobin(k=3),
    "oldest": Oldest(k=3),
    "fullest-battery": FullestBattery(k=3),
    "unlimited": Unlimited(),
    "vaoi-parameters": VAoIParameters(k=3),
    "reserve": Reserve(),
    "oort": Oort(k=3),
    "power-of-choice": PowerOfChoice(k=3, d=5),
    "eafl": EAFL(k=3),
    "fedzero": FedZero(k=3),
    "guler-yener": GulerYener(),
    "cycp": CyCP(k=3, groups=2),
    "battery-weighted": BatteryWeighted(k=3),
    "label-balanced": LabelBalanced(k=3, pool=4),
    "foresight": Foresight(k=3),
}
ENERGY_ROWS = {
    "bernoulli": Bernoulli(p=0.3),
    "trace": Trace(path="roofs.csv"),
    "poisson": Poisson(rate=0.7, packet=2),
    "markov": Markov(good=4.0, bad=9.0, units_good=1.5),
    "mix": Mix(({"model": "poisson", "rate": 0.3}, {"model": "trace", "path": "roofs.csv", "share": 2})),
    "solar": Solar(start="2025-06-21"),
    "daylight": Daylight(day=172),
    "watts": Watts(path="watts.csv"),
    "signal": Signal(of="lamp:Lamp"),
}
DATASET_ROWS = {
    "digits": Digits(),
    "cifar10": Cifar10(),
    "fashion-mnist": FashionMnist(),
    "synthetic": Synthetic(samples=60, test_samples=20),
    "sensors": Sensors(samples=60, test_samples=20, clients=5),
}
PARTITION_ROWS = {"dirichlet": Dirichlet(alpha=0.5), "iid": Iid(), "one-class": OneClass(), "natural": Natural()}
MODEL_ROWS = {
    "auto": Auto(),
    "paper-cnn": PaperCNN(width=0.125),
    "small-cnn": SmallCNN(),
    "mlp": MLP(hidden=(8,)),
    "signal-cnn": SignalCNN(width=0.25),
    "resnet18-gn": ResNet18GN(width=0.0625),
}
INPUT_SHAPES = {
    "auto": [(12,), (3, 24), (1, 8, 8), (3, 32, 32)],
    "paper-cnn": [(3, 32, 32)],
    "small-cnn": [(3, 32, 32)],
    "mlp": [(12,), (3, 24), (3, 32, 32)],
    "signal-cnn": [(3, 24), (1, 9)],
    "resnet18-gn": [(3, 32, 32), (1, 28, 28)],
}
OBJECTIVE_ROWS = {
    "cross-entropy": CrossEntropy(),
    "balanced-softmax": BalancedSoftmax(),
    "fedlc": FedLC(),
}
AGGREGATION_ROWS = {
    "received": Received(),
    "all": All(),
    "shrinkage": Shrinkage(),
    "buffered": Buffered(m=2),
    "fedasync": FedAsync(),
    "fedbuff": FedBuff(k=2),
    "fedopt": FedOpt(),
    "mifa": Mifa(),
    "fedvarp": FedVarp(),
}
STALENESS_ROWS = {"constant": Constant(), "polynomial": Polynomial(), "hinge": Hinge(), "discard": Discard()}
TRACKER_ROWS = {"tensorboard": TensorBoard, "mlflow": MLflow}

TABLES: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = [
    (POLICIES, POLICY_ROWS),
    (ENERGY_MODELS, ENERGY_ROWS),
    (DATASETS, DATASET_ROWS),
    (PARTITIONS, PARTITION_ROWS),
    (MODELS, MODEL_ROWS),
    (OBJECTIVES, OBJECTIVE_ROWS),
    (AGGREGATIONS, AGGREGATION_ROWS),
    (STALENESS, STALENESS_ROWS),
    (TRACKERS, TRACKER_ROWS),
]
WITH_OPTIONS = [row for _, rows in TABLES[:-1] for row in rows.values()]


@pytest.mark.parametrize(("table", "rows"), TABLES)
def test_every_name_has_its_row(table: Mapping[str, Any], rows: Mapping[str, Any]) -> None:
    assert list(table) == list(rows)
    for name, row in rows.items():
        assert table[name] is (row if isinstance(row, type) else type(row))


@pytest.mark.parametrize("row", WITH_OPTIONS, ids=lambda row: type(row).__name__)
def test_options_are_frozen_and_described(row: Any) -> None:
    assert is_dataclass(row)
    assert type(row).__dataclass_params__.frozen
    assert type(row).__doc__
    hints = get_type_hints(type(row), include_extras=True)
    for option in fields(row):
        described = getattr(hints[option.name], "__metadata__", ())
        assert any(getattr(extra, "description", None) for extra in described), f"{option.name} has no description"


@pytest.mark.parametrize("policy", POLICY_ROWS.values(), ids=POLICY_ROWS)
def test_a_policy_keeps_its_contract(policy: Any) -> None:
    assert check_policy(policy) == []


@pytest.mark.parametrize("model", ENERGY_ROWS.values(), ids=ENERGY_ROWS)
def test_a_harvest_is_whole_units_and_a_function_of_the_epoch(model: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roofs.csv").write_text("1\n0\n2\n", encoding="utf-8")
    (tmp_path / "watts.csv").write_text("time,watts\n0,0.01\n5000,0.02\n", encoding="utf-8")
    (tmp_path / "lamp.py").write_text("class Lamp:\n    def at(self, time):\n        return 0.01\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def prepare() -> Any:
        return prepare_harvest(model, seed=7, clients=5, slots_per_epoch=12, scale=Scale(3600.0, 7.0))

    def lived(harvest: Any, epoch: int) -> np.ndarray:
        return np.concatenate(list(unit_rows(harvest(epoch), 5, 12)))

    harvest = prepare()
    assert lived(harvest, 0).shape == (12, 5)
    assert lived(harvest, 0).any()
    # Asked in another order, or by a run that was resumed, it answers the same.
    np.testing.assert_array_equal(lived(harvest, 3), lived(prepare(), 3))


@pytest.mark.parametrize("dataset", DATASET_ROWS.values(), ids=DATASET_ROWS)
def test_a_dataset_is_whole_and_the_same_for_the_same_seed(dataset: Any) -> None:
    if hasattr(dataset, "published"):
        pytest.skip("fetched data is tested where it is fetched (tests/data)")
    first, second = dataset.load(3, None), dataset.load(3, None)
    first.check()
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(first.y, second.y)


@pytest.mark.parametrize("partition", PARTITION_ROWS.values(), ids=PARTITION_ROWS)
def test_a_partition_gives_everyone_some_and_nothing_twice(partition: Any) -> None:
    dataset = Sensors(samples=200, test_samples=5, clients=8, classes=4).load(1)
    natural = isinstance(partition, Natural)
    sizes = np.bincount(dataset.client) if natural else np.array([20, 1, 7, 12, 5, 20, 3, 9])
    given = {} if natural else {"sizes": sizes.tolist()}
    parts = divide(dataset, partition, 8, 1, **given)
    assert [len(part) for part in parts] == sizes.tolist()
    assert np.unique(np.concatenate(parts)).size == sizes.sum()
    for part, again in zip(parts, divide(dataset, partition, 8, 1, **given), strict=True):
        np.testing.assert_array_equal(part, again)


@pytest.mark.parametrize("name", MODEL_ROWS)
def test_a_model_turns_inputs_of_its_shapes_into_logits_and_refuses_others(name: str) -> None:
    for shape in INPUT_SHAPES[name]:
        assert MODEL_ROWS[name].build(shape, 7)(torch.zeros(2, *shape)).shape == (2, 7)
    if name != "mlp":
        with pytest.raises(ConfigError, match=r"The model '[a-z0-9-]+' takes .*; the data has inputs of shape \(3, 2"):
            MODEL_ROWS[name].build((3, 2), 7)


@pytest.mark.parametrize("objective", OBJECTIVE_ROWS.values(), ids=OBJECTIVE_ROWS)
def test_an_objective_shifts_logits_by_numbers_that_a_loss_can_use(objective: Any) -> None:
    labels = np.array([0, 0, 1, 2])
    offsets = logit_offsets(objective, labels, [np.arange(4), np.array([0, 2])], 4)
    for offset, present in zip(offsets, ([0, 1, 2], [0, 1]), strict=True):
        assert offset is None or np.isfinite(offset[present]).all()


@pytest.mark.parametrize("rule", AGGREGATION_ROWS.values(), ids=AGGREGATION_ROWS)
def test_an_aggregation_stays_between_the_model_and_its_updates(rule: Any) -> None:
    sizes = np.array([10, 30])
    start = np.zeros(2, dtype=np.float32)
    updates = [Update(0, 0, start + 2, start, data_size=10), Update(1, 0, start + 1, start, data_size=30)]
    _, weights = aggregate(rule, rule.init(2, sizes), start, updates)
    assert weights.dtype == np.float32
    assert np.all((weights > 0) & (weights <= 2))


@pytest.mark.parametrize("rule", STALENESS_ROWS.values(), ids=STALENESS_ROWS)
def test_a_discount_begins_at_one_and_never_grows(rule: Any) -> None:
    discounts = [rule.discount(epochs) for epochs in range(20)]
    assert discounts[0] == 1
    assert discounts == sorted(discounts, reverse=True)
    assert discounts[-1] >= 0


@pytest.mark.parametrize("tracker", TRACKER_ROWS.values(), ids=TRACKER_ROWS)
def test_a_tracker_can_begin_log_and_end(tracker: Any) -> None:
    assert tracker.__doc__
    assert all(callable(vars(tracker)[method]) for method in ("begin", "log", "end"))
