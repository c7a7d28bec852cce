"""Random small worlds for the oracle: experiments, and the same as plain lists with all their chance laid out."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.rng import Purpose, bernoulli, stream
from tests.oracle.algorithms import Case
from tests.oracle.harvest import literal_harvest, some_energy
from tests.oracle.selection import RULES

CHOICE = ("top-k", "sample", "exp")
RESET = ("selected", "aggregated")
TURNS = ("window", "deadline", "across-epochs")
GROUPS = {"groups": range(1, 7), "grouping": ("battery", "fixed"), "turns": TURNS}
# Without learning, vaoi-parameters is vaoi; the rules of the others are transcribed in tests/oracle/selection.py.
ELSEWHERE = {"vaoi-parameters", *RULES}
OURS = [policy for policy in POLICIES if policy not in ELSEWHERE]
OPTIONS: dict[str, dict[str, Sequence[Any]]] = {
    "vaoi": {"choice": CHOICE, "reset": RESET},
    "oldest": {"reset": RESET},
    "fedbacys": GROUPS,
    "fedbacys-odd": GROUPS,
}


Pick = Callable[[Sequence[Any]], Any]


def some_world(policy: str, pick: Pick) -> Experiment:
    """A small world in which costs, caps, epochs shorter than a training and k = N all come up."""
    clients = pick(range(1, 8))
    train = [pick(range(1, 10)) for _ in range(clients)]
    capacity = [cost + pick(range(5)) for cost in train]
    smallest = min(capacity)
    slots = pick(range(1, 25))
    transmit = pick(range(min(3, smallest) + 1))
    reserve = pick((False, False, True)) and policy != "unlimited"
    if reserve or policy == "reserve":  # else no client could ever start, which is an error
        slots = max(slots, max(train) + 1)
        capacity = [max(most, cost + transmit) for most, cost in zip(capacity, train, strict=True)]
    return Experiment.parse(
        {
            "seed": pick(range(2**63 - 1)),
            "clients": clients,
            "epochs": pick(range(1, 13)),
            "slots_per_epoch": slots,
            "starts_per_epoch": pick(range(3)),
            "energy": some_energy(pick),
            "battery": {"capacity": capacity, "initial": [pick(range(most + 1)) for most in capacity]},
            "cost": {
                "train": train,
                "transmit": transmit,
                "probe": pick((0, 0, 1, min(2, smallest))),
            },
            "policy": {
                "name": policy,
                "reserve": reserve,
                "k": pick(range(1, clients + 1)),
                **{name: pick(values) for name, values in OPTIONS.get(policy, {}).items()},
            },
            "learning": {"significance": pick((0.0, 0.3, 0.7, 1.0))},
        }
    )


DEVICES: dict[str, Sequence[Any]] = {
    "cost.train_slots": (1, 2, 5, 12),
    "cost.transmit_slots": (2, 4, 9),
    "cost.listen": (1, 2),
    "cost.download": (1, 3),
    "battery.efficiency": (0.9, 0.75, 1 / 3, 0.01),
    "battery.self_discharge": (1e-6, 0.01, 0.1, 0.5),
    "battery.idle": (0.05, 0.3, 1.0, 1.7),
    "battery.cutoff": (1, 2, 4),
    "battery.wake": (5, 7),
}
"""What a device may have beyond the paper's, and the numbers that it takes."""


def some_device_world(policy: str, pick: Pick) -> Experiment:
    """A small world in which every feature of a device is on or off at random, for everyone or client by client."""
    plain = some_world(policy, pick).table()
    clients = plain["clients"]
    off = {"cost.transmit_slots": 1, "battery.efficiency": 1.0}
    found: dict[str, Any] = {}
    for name, values in DEVICES.items():
        choices = (off.get(name, 0), *values)
        kind = pick(("off", "one number", "client by client"))
        each = [choices[0]] * clients if kind == "off" else [pick(values)] * clients
        found[name] = [pick(choices) for _ in range(clients)] if kind == "client by client" else each
    probe = plain["cost"]["probe"]
    transmit = [plain["cost"]["transmit"] + pick((0, 0, 2)) for _ in range(clients)]
    capacity, wake = [], []
    for i, train in enumerate(plain["cost"]["train"]):
        start = train + found["cost.download"][i]
        most = max(start + (transmit[i] if plain["policy"]["reserve"] or policy == "reserve" else 0), transmit[i])
        most = max(most, probe + found["cost.download"][i], found["cost.listen"][i])
        cutoff, drain = found["battery.cutoff"][i], int(found["battery.idle"][i])
        wake.append(found["battery.wake"][i] and max(found["battery.wake"][i], cutoff))
        capacity.append(max(most + cutoff, wake[i]) + drain + pick(range(5)))
    found |= {"battery.wake": wake, "battery.capacity": capacity, "cost.transmit": transmit}
    found["battery.initial"] = [pick((0, most // 2, most)) for most in capacity]
    for name, values in found.items():
        section, setting = name.split(".")
        plain[section][setting] = pick((values, values[0])) if len(set(values)) == 1 else values
    slots = max(a + b for a, b in zip(in_slots(plain), found["cost.transmit_slots"], strict=True))
    if plain["policy"]["reserve"] or policy == "reserve":
        plain["slots_per_epoch"] = max(plain["slots_per_epoch"], slots)
    if plain["energy"]["model"] == "tests.oracle.harvest:Bursts":
        plain["energy"]["most"] = pick((3, 9))
    return Experiment.parse(plain)


def in_slots(table: dict[str, Any]) -> list[int]:
    """The slots of each client's training."""
    clients, cost = table["clients"], table["cost"]
    return [slots or units for slots, units in zip(each(cost["train_slots"], clients), cost["train"], strict=True)]


def each(value: Any, clients: int) -> list[Any]:
    """A setting that is one number, or one for each client, as a list."""
    return list(value) if isinstance(value, Sequence) else [value] * clients


def small_share(value: float) -> Fraction:
    """A share as docs/physics.md has that of self-discharge: 32 significant bits, at most 62 places, rounded up."""
    places = min(32 - math.frexp(value)[1], 62)
    return Fraction(math.ceil(Fraction(value) * 2**places), 2**places)


def fixed(value: float) -> Fraction:
    """A share of the harvest, or units a slot, as docs/physics.md has them: to 32 binary places, rounded up."""
    return Fraction(math.ceil(Fraction(value) * 2**32), 2**32)


def as_case(experiment: Experiment) -> Case:
    """The same experiment as plain lists, all its chance laid out."""
    clients, epochs, slots = experiment.clients, experiment.epochs, experiment.slots_per_epoch
    significance = experiment.learning.significance
    battery, cost = experiment.battery, experiment.cost
    cutoff = each(battery.cutoff, clients)
    options = {key: value for key, value in experiment.policy.options.items() if key not in ("k", "mu")}
    return Case(
        clients=clients,
        epochs=epochs,
        slots_per_epoch=slots,
        capacity=each(battery.capacity, clients),
        initial=each(battery.initial, clients),
        train_cost=each(cost.train, clients),
        train_slots=in_slots(experiment.table()),
        transmit_cost=each(cost.transmit, clients),
        transmit_slots=each(cost.transmit_slots, clients),
        probe_cost=each(cost.probe, clients),
        listen_cost=each(cost.listen, clients),
        download_cost=each(cost.download, clients),
        efficiency=[fixed(value) for value in each(battery.efficiency, clients)],
        self_discharge=[small_share(value) for value in each(battery.self_discharge, clients)],
        idle=[fixed(value) for value in each(battery.idle, clients)],
        cutoff=cutoff,
        wake=[wake or low for wake, low in zip(each(battery.wake, clients), cutoff, strict=True)],
        starts_per_epoch=experiment.starts_per_epoch,
        harvest=literal_harvest(experiment),
        significant=[
            bernoulli(stream(experiment.seed, Purpose.SIGNIFICANCE, epoch), significance, (1, clients))[0].tolist()
            for epoch in range(epochs)
        ],
        tie=[stream(experiment.seed, Purpose.SELECT, epoch).random(clients).tolist() for epoch in range(epochs)],
        policy=experiment.policy.name,
        reserve=experiment.policy.reserve,
        k=experiment.policy.options.get("k", 1),
        **options,
    )
