"""Honest parts of every kind, each of whose answers the attack can bend: parts that do as they should otherwise."""

# ruff: noqa: ARG001

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import nn

from fallow.data import dataset_from_arrays
from fallow.energy import Outlook
from fallow.policies import Needs
from fallow.rng import Purpose, stream

Bend = Callable[[Any, tuple[Any, ...]], Any]
"""From an honest answer and the arguments of the hook to what is returned instead."""


@dataclass
class Plan:
    """What is bent.

    Attributes:
        hook: The hook whose answer is bent; "" bends none.
        call: Which call of it, from 0.
        bend: How.
        calls: How often the hook was called.
        later: Arrays that were returned, and are written into when the next hook is called.
    """

    hook: str = ""
    call: int = 0
    bend: Bend = lambda answer, _: answer
    calls: int = 0
    later: list[Any] = field(default_factory=list)


plan = Plan()

OUTER = {"policy.select", "energy.forecast", "partition.split", "dataset.load", "rule.combine"}
"""Hooks that are passed on the way back from another one, before Fallow has its answer."""

HOOKS: list[str] = []
"""Every hook that can be bent, in the order of this file."""


def hook(name: str) -> Callable[..., Any]:
    """Returns a function that passes an honest answer through, or bends it if the plan says so."""
    HOOKS.append(name)

    def answer(honest: Any, *arguments: Any) -> Any:
        if name not in OUTER:
            for array in plan.later:
                array[...] = 1
            plan.later.clear()
        if plan.hook != name:
            return honest
        plan.calls += 1
        return plan.bend(honest, arguments) if plan.calls - 1 == plan.call else honest

    return answer


_init, _select, _mask, _start = hook("policy.init"), hook("policy.select"), hook("policy.mask"), hook("policy.start")
_importance, _needs = hook("policy.importance"), hook("policy.needs")


@dataclass(frozen=True)
class Turns:
    taken: Any


@dataclass(frozen=True)
class Policy:
    """Selects who took the fewest turns, starts all that are ready."""

    k: int = 2

    @property
    def needs(self):
        return _needs(Needs(data_size=True, mean_harvest=True, forecast_epochs=2, forecast_by="model"))

    def init(self, clients):
        return _init(Turns(np.zeros(clients, dtype=np.int64)))

    def select(self, state, view, rng):
        mask = np.isin(np.arange(view.clients), np.argsort(state.taken, kind="stable")[: self.k])
        return _select((Turns(state.taken + mask), _mask(mask, view, state, rng)), view)

    def start(self, state, view):
        return state, _start(view.ready.copy(), view)

    def importance(self, state):
        return _importance(np.linspace(0.5, 1, state.taken.size))


_prepare, _harvest, _row = hook("energy.prepare"), hook("energy.harvest"), hook("energy.row")
_forecast, _units, _means = hook("energy.forecast"), hook("energy.units"), hook("energy.mean")


@dataclass(frozen=True)
class Sun:
    """Half the slots bring two units; as an array, or row by row."""

    rows: bool = False

    def prepare(self, seed, clients, slots_per_epoch):
        def harvest(epoch):
            units = 2 * (stream(seed, Purpose.HARVEST, epoch).random((slots_per_epoch, clients)) < 0.5)
            return _harvest((_row(row) for row in units) if self.rows else units)

        return _prepare(harvest)

    def mean(self, clients):
        return _means(np.ones(clients))

    def prepare_forecast(self, seed, clients, slots_per_epoch):
        def forecast(epoch, epochs):
            units = np.full((clients, epochs), float(slots_per_epoch))
            return _forecast(Outlook(_units(units), np.ones((clients, epochs))))

        return forecast


_split, _part = hook("partition.split"), hook("partition.part")


@dataclass(frozen=True)
class Strides:
    def split(self, y, sizes, seed):
        return _split([_part(np.arange(k, 60, len(sizes)), y, sizes) for k in range(len(sizes))], y, sizes)


_load, _x, _y = hook("dataset.load"), hook("dataset.x"), hook("dataset.y")


def points(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 90)
    x = (rng.normal(size=(90, 5)) + 3 * np.eye(5)[y]).astype(np.float32)
    return _load(dataset_from_arrays("points", _x(x[:60]), _y(y[:60]), x[60:], y[60:], classes=3))


_build, _forward, _offset = hook("model.build"), hook("model.forward"), hook("objective.offset")


class Layer(nn.Module):
    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, classes)

    def forward(self, inputs):
        return _forward(self.linear(inputs), inputs)


def network(input_shape, classes):
    return _build(Layer(input_shape[0], classes))


@dataclass(frozen=True)
class Shares:
    def offset(self, counts):
        return _offset((0.1 * counts / counts.sum()).astype(np.float32), counts)


_memory, _combine, _weights = hook("rule.init"), hook("rule.combine"), hook("rule.weights")
_discount = hook("staleness.discount")


@dataclass(frozen=True)
class Velocity:
    velocity: Any


@dataclass(frozen=True)
class Momentum:
    def init(self, size, data_sizes):
        return _memory(Velocity(np.zeros(size, dtype=np.float32)), data_sizes)

    def combine(self, state, weights, updates):
        change = sum((item.factor * item.update.change for item in updates), np.zeros_like(weights))
        velocity = (0.5 * state.velocity + change / max(1, len(updates))).astype(np.float32)
        moved = weights + velocity
        return _combine((Velocity(velocity), _weights(moved, weights, updates)), weights, updates)


@dataclass(frozen=True)
class Halves:
    def discount(self, epochs):
        return _discount(0.5**epochs)


_begin, _log, _end = hook("tracker.begin"), hook("tracker.log"), hook("tracker.end")


class Diary:
    def begin(self, run):
        _begin(None, run)

    def log(self, rows):
        _log(None, rows)

    def end(self, summary):
        _end(None, summary)
