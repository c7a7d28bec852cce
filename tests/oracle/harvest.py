"""Harvests, transcribed: every client in every slot by itself, in plain Python, from the streams that the models draw.

Nothing is vectorised, remembered or looked up: a chain is lived through from its first slot on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, sqrt
from typing import Any

import numpy as np

from fallow.energy import Harvest, Units
from fallow.experiment import Experiment
from fallow.rng import Purpose, stream

Table = list[list[int]]
"""Units by slot and client."""


@dataclass(frozen=True)
class Bursts:
    """A harvest of several units at once: an energy model from outside."""

    p: float = 0.5
    most: int = 3

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        def harvest(epoch: int) -> Iterable[Units]:
            rng = stream(seed, Purpose.HARVEST, epoch)
            shape = (slots_per_epoch, clients)
            return rng.integers(1, self.most, shape, endpoint=True) * (rng.random(shape) < self.p)

        return harvest


def some_energy(pick: Callable[[Sequence[Any]], Any]) -> dict[str, Any]:
    """Returns a harvest of any kind, as an [energy] section."""
    chosen = pick(("bernoulli", "tests.oracle.harvest:Bursts", "poisson", "markov", "mix"))
    if chosen.endswith("Bursts"):
        return {"model": chosen, "p": pick((0.0, 0.1, 0.5, 0.9, 1.0))}
    weather = {"correlation": pick((0.0, 0.0, 0.3, 1.0)), "mean": pick((0.0, 0.0, 0.1))}
    if chosen != "mix":
        return some_model(chosen, pick) | weather
    kinds = ("bernoulli", "poisson", "markov")
    sources = [some_model(pick(kinds), pick) | {"share": pick((0.5, 1, 2.0))} for _ in range(pick((1, 2, 3)))]
    return {"model": "mix", "sources": sources} | weather


def some_model(name: str, pick: Callable[[Sequence[Any]], Any]) -> dict[str, Any]:
    options: dict[str, dict[str, Sequence[Any]]] = {
        "bernoulli": {"p": (0.1, 0.5, 0.9, 1.0)},
        "poisson": {"rate": (0.1, 0.7, 3.0), "packet": (1, 2)},
        "markov": {
            "good": (2.0, 3.5, 20.0),
            "bad": (2.0, 5.0, 50.0),
            "units_good": (1.0, 0.4, 2.7),
            "units_bad": (0.0, 0.3, 1.0),
        },
    }
    return {"model": name} | {option: pick(values) for option, values in options[name].items()}


def literal_harvest(experiment: Experiment) -> Table:
    """Returns the units of every slot of an experiment."""
    energy = experiment.energy
    clients, epochs, slots = experiment.clients, experiment.epochs, experiment.slots_per_epoch
    if energy.model not in ("bernoulli", "poisson", "markov", "mix"):
        harvest = experiment.build_harvest()
        return [[int(units) for units in row] for epoch in range(epochs) for row in harvest(epoch)]
    seed, c = experiment.seed, energy.correlation
    sources = [{"model": energy.model, "share": 1} | energy.options]
    seeds = [seed]
    if energy.model == "mix":
        sources = list(energy.options["sources"])
        seeds = [stream(seed, Purpose.GROUP, group).bit_generator.random_raw() >> 1 for group in range(len(sources))]
    sizes = _sizes([source.get("share", 1) for source in sources], clients)
    means = [_mean(source) for source in sources]
    factor = 1.0
    if energy.mean:
        factor = energy.mean / float(np.repeat(means, sizes).mean())
    groups = []
    for source, own_seed, size, mean in zip(sources, seeds, sizes, means, strict=True):
        if size:
            live = {"bernoulli": _bernoulli, "poisson": _poisson, "markov": _markov}[source["model"]]
            model = _at_mean(source, mean * factor) if energy.mean else source
            groups.append(live(model, own_seed, seed, c, size, epochs, slots))
    return [[units for group in groups for units in group[slot]] for slot in range(epochs * slots)]


def _sizes(shares: list[float], clients: int) -> list[int]:
    """Whole quotas first; then one each to the largest remainders, the first of equal ones before the others."""
    quotas = [share * clients / sum(shares) for share in shares]
    sizes = [floor(quota + 1e-9) for quota in quotas]
    while sum(sizes) < clients:
        rest = [round(quota - size, 9) for quota, size in zip(quotas, sizes, strict=True)]
        sizes[rest.index(max(rest))] += 1
    return sizes


def _mean(source: dict[str, Any]) -> float:
    if source["model"] == "bernoulli":
        return float(source["p"])
    if source["model"] == "poisson":
        return float(source["rate"] * source["packet"])
    share = source["good"] / (source["good"] + source["bad"])
    return float(share * source["units_good"] + (1 - share) * source["units_bad"])


def _at_mean(source: dict[str, Any], mean: float) -> dict[str, Any]:
    if source["model"] == "bernoulli":
        return source | {"p": mean}
    if source["model"] == "poisson":
        return source | {"rate": mean / source["packet"]}
    factor = mean / _mean(source)
    return source | {"units_good": source["units_good"] * factor, "units_bad": source["units_bad"] * factor}


def _coins(rng: np.random.Generator, p: float, slots: int, clients: int) -> list[list[bool]]:
    """Events of probability p: a byte below ⌊256 p⌋ decides, and where it equals that, a uniform number does."""
    count = slots * clients
    words = rng.bit_generator.random_raw(ceil(count / 8))
    data = b"".join(int(word).to_bytes(8, "little") for word in words)
    limit = min(floor(p * 256), 255)
    flat = [byte < limit or (byte == limit and rng.random() < p * 256 - limit) for byte in data[:count]]
    return [flat[slot * clients : (slot + 1) * clients] for slot in range(slots)]


def _takes(seed: int, c: float, epoch: int, slots: int, clients: int) -> list[list[bool]]:
    """Who takes the shared draw in each slot."""
    if not c:
        return [[False] * clients for _ in range(slots)]
    return _coins(stream(seed, Purpose.SHARING, epoch), sqrt(c), slots, clients)


def _bernoulli(
    model: dict[str, Any], seed: int, weather: int, c: float, clients: int, epochs: int, slots: int
) -> Table:
    table = []
    for epoch in range(epochs):
        own = _coins(stream(seed, Purpose.HARVEST, epoch), model["p"], slots, clients)
        sky, takes = stream(weather, Purpose.WEATHER, epoch), _takes(seed, c, epoch, slots, clients)
        for slot in range(slots):
            goodness, _, _ = sky.random(3)
            shared = goodness >= 1 - model["p"]
            table.append([int(shared if takes[slot][i] else own[slot][i]) for i in range(clients)])
    return table


def _packets(uniform: float, rate: float) -> int:
    """The smallest number k with P(Poisson ≤ k) above a uniform number."""
    k, weight = 0, exp(-rate)
    below = weight
    while uniform >= below:
        k += 1
        weight *= rate / k
        below += weight
    return k


def _poisson(model: dict[str, Any], seed: int, weather: int, c: float, clients: int, epochs: int, slots: int) -> Table:
    table = []
    for epoch in range(epochs):
        rng, sky = stream(seed, Purpose.HARVEST, epoch), stream(weather, Purpose.WEATHER, epoch)
        takes = _takes(seed, c, epoch, slots, clients)
        for slot in range(slots):
            goodness, _, _ = sky.random(3)
            own = [rng.random() for _ in range(clients)]
            drawn = [goodness if takes[slot][i] else own[i] for i in range(clients)]
            table.append([model["packet"] * _packets(uniform, model["rate"]) for uniform in drawn])
    return table


def _markov(model: dict[str, Any], seed: int, weather: int, c: float, clients: int, epochs: int, slots: int) -> Table:
    r = min(1 / model["good"] + 1 / model["bad"], 1.0)
    share = model["good"] / (model["good"] + model["bad"])
    before = stream(seed, Purpose.SPELLS, 0, client=0)
    good = _coins(before, share, 1, clients)[0]
    if c:
        takes_first = _coins(before, sqrt(c), 1, clients)[0]
        shared_first = stream(weather, Purpose.WEATHER, 0, client=0).random() >= 1 - share
        good = [bool(shared_first) if takes_first[i] else good[i] for i in range(clients)]
    both = c * (2 - r) / (1 + c * (1 - r))  # then two states have the correlation c, though pairs part ways
    table = []
    for epoch in range(epochs):
        rng, emission = stream(seed, Purpose.SPELLS, epoch), stream(seed, Purpose.HARVEST, epoch)
        refresh, fresh = _coins(rng, r, slots, clients), _coins(rng, share, slots, clients)
        takes, sky = _takes(seed, both, epoch, slots, clients), stream(weather, Purpose.WEATHER, epoch)
        parts = [model[key] - floor(model[key]) for key in ("units_good", "units_bad")]
        more = [_coins(emission, part, slots, clients) if part else [] for part in parts]
        for slot in range(slots):
            goodness, amount, change = sky.random(3)
            row = []
            for i in range(clients):
                shares = takes[slot][i]
                if change < r if shares else refresh[slot][i]:
                    good[i] = bool(goodness >= 1 - share) if shares else fresh[slot][i]
                kind = 0 if good[i] else 1
                units = floor(model["units_good"] if good[i] else model["units_bad"])
                if parts[kind]:
                    units += int(amount >= 1 - parts[kind] if shares else more[kind][slot][i])
                row.append(units)
            table.append(row)
    return table
