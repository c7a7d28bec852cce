"""The selection rules of docs/policies.md, transcribed client by client in plain Python.

Written from the formulas, with no arrays and no code of the policies. Whatever is random comes in as `u`: rows of
uniform numbers, one for each client. A rule takes its options, its memory and what it sees, and returns the memory and
the chosen clients. Whatever is not known is None.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Memory = dict[str, Any]
Options = dict[str, Any]


@dataclass
class Seen:
    """What a rule sees, as lists with one entry for each client."""

    epoch: int
    slots_per_epoch: int
    battery: list[int]
    capacity: list[int]
    train_cost: list[int]
    transmit_cost: list[int]
    train_slots: list[int]
    transmit_slots: list[int]
    training: list[bool]
    unsent: list[bool]
    delivered: list[bool]
    probe_loss: list[float | None]
    training_loss: list[float | None]
    data_size: list[int]
    deliveries: list[int]
    last_delivered: list[int]
    mean_harvest: list[float]
    forecast: list[list[float | None]]
    label_mix: list[list[float | None]]
    moments: list[list[float | None]]

    @property
    def everyone(self) -> range:
        return range(len(self.battery))

    def idle(self, i: int) -> bool:
        return not self.training[i] and not self.unsent[i]

    def cost(self, i: int) -> int:
        return self.train_cost[i] + self.transmit_cost[i]


def draw(weight: dict[int, float], k: int, u: list[float]) -> list[int]:
    """k clients without replacement, proportional to their weights: a race; the weightless last, by u."""
    running = sorted((-math.log1p(-u[i]) / w, u[i], i) for i, w in weight.items() if w > 0)
    weightless = sorted((u[i], i) for i, w in weight.items() if w <= 0)
    return ([i for _, _, i in running] + [i for _, i in weightless])[: max(k, 0)]


def top(score: dict[int, float], k: int, u: list[float]) -> list[int]:
    """The k clients with the largest scores, among equals the smaller u first."""
    return sorted(score, key=lambda i: (-score[i], u[i], i))[: max(k, 0)]


def duration(seen: Seen, i: int) -> float:
    """(κ + c_tx − E)⁺ / p, and the slots of training and upload."""
    missing = max(seen.cost(i) - seen.battery[i], 0)
    if missing == 0:
        return seen.train_slots[i] + seen.transmit_slots[i]
    if seen.mean_harvest[i] <= 0:
        return math.inf
    return missing / seen.mean_harvest[i] + seen.train_slots[i] + seen.transmit_slots[i]


def utility(seen: Seen, i: int) -> float | None:
    """n·√(mean squared loss); None if it is not known or no number."""
    loss = seen.training_loss[i]
    return None if loss is None or math.isinf(loss) else seen.data_size[i] * loss


def oort(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Oort, and EAFL with energy_weight > 0."""
    k, share = options["k"], options.get("energy_weight", 0.0)
    explored = [i for i in seen.everyone if utility(seen, i) is not None and seen.deliveries[i] > 0]
    available = [i for i in seen.everyone if seen.idle(i)]
    energy = {i: seen.battery[i] / max(seen.capacity[i], 1) for i in seen.everyone}

    # The pacer
    r = seen.epoch + 1
    brought = [utility(seen, i) for i in explored if i in memory["exploited"] and seen.delivered[i]]
    now = memory["now"] + (sum(brought) / len(brought) if brought else 0.0)
    before, percentile = memory["before"], memory["percentile"]
    if r % options["pace"] == 0:
        if r >= 2 * options["pace"]:
            if abs(now - before) <= 0.1 * before:
                percentile = min(100.0, percentile + 5)
            elif abs(now - before) >= 5 * before:
                percentile = max(5.0, percentile - 5)
        before, now = now, 0.0

    # T, and the penalty of who takes longer
    times = sorted(duration(seen, i) for i in seen.everyone)
    preferred = math.inf if percentile >= 100 else times[min(int(len(times) * percentile / 100), len(times) - 1)]
    speed = {}
    for i in seen.everyone:
        t = duration(seen, i)
        speed[i] = (preferred / t) ** options["penalty"] if t > preferred else 1.0

    # Exploit
    epsilon = memory["epsilon"] * options["decay"]
    if memory["epsilon"] > 0:
        epsilon = max(epsilon, options["least_exploration"])
    known = [i for i in available if i in explored]
    score = {}
    if known:
        values = sorted(utility(seen, i) for i in known)
        clip = values[min(int(len(values) * 0.9), len(values) - 1)]
        least = values[0] * 0.999
        spread = max(values[-1] - least, 1e-4)
        for i in known:
            normalised = (min(utility(seen, i), clip) - least) / spread
            value = (1 - share) * normalised + share * energy[i]
            value += math.sqrt(0.1 * math.log(r) / (seen.last_delivered[i] + 1))
            score[i] = value * speed[i]
    places = min(int(k * (1 - epsilon)), len(known))
    cut_off = 0.05 * sorted(score.values(), reverse=True)[min(places, len(known) - 1)] if known else 0.0
    exploited = draw({i: s for i, s in score.items() if s >= cut_off}, places, u[0])

    # Explore
    new = [i for i in available if i not in explored]
    most = max(max(seen.data_size), 1)
    promise = {i: ((1 - share) * seen.data_size[i] / most + share * energy[i]) * speed[i] for i in new}
    places = min(k - len(exploited), len(new))
    window = top(promise, 5 * places, u[2])
    chosen = exploited + draw({i: promise[i] for i in window}, places, u[1])

    # Fill up
    rest = [i for i in available if i not in chosen]
    chosen = chosen + draw(dict.fromkeys(rest, 1.0), k - len(chosen), u[2])
    if len(explored) == len(seen.battery):
        epsilon = 0.0
    memory = {"epsilon": epsilon, "percentile": percentile, "before": before, "now": now, "exploited": exploited}
    return memory, chosen


def power_of_choice(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """d candidates by data size, the k of them with the largest loss."""
    candidates = draw({i: float(seen.data_size[i]) for i in seen.everyone}, max(options["d"], options["k"]), u[0])
    score = {}
    for i in candidates:
        if options["variant"] == "rpow-d":
            loss = seen.training_loss[i]
            score[i] = math.inf if loss is None else loss
        else:
            loss = seen.probe_loss[i]
            score[i] = -math.inf if loss is None else loss
    return memory, top(score, options["k"], u[1])


def fedzero(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Unblocked, feasible in the shortest horizon that serves k, the k with the largest utility."""
    worth = {}
    for i in seen.everyone:
        value = utility(seen, i)
        worth[i] = math.inf if value is None else value
    blocked = set(memory["blocked"])
    delivered = sorted(worth[i] for i in seen.everyone if seen.delivered[i])
    if delivered and options["exclusion"] > 0:
        limit = delivered[max(math.ceil(options["exclusion"] * len(delivered)) - 1, 0)]
        blocked |= {i for i in seen.everyone if seen.delivered[i] and worth[i] <= limit}
    omega = sum(seen.deliveries) / len(seen.deliveries)
    for i in sorted(blocked):
        above = seen.deliveries[i] - omega
        probability = 1.0 if above <= 0 else min(options["alpha"] / above, 1.0)
        if u[0][i] <= probability:
            blocked.discard(i)
    able = [i for i in seen.everyone if seen.idle(i) and i not in blocked]
    wanted = min(options["k"], len(seen.battery))
    for horizon in range(1, len(seen.forecast[0]) + 1):
        finishing = []
        for i in able:
            units = sum(max(f, 0.0) for f in seen.forecast[i][:horizon] if f is not None)
            if seen.battery[i] + units >= seen.cost(i):
                finishing.append(i)
        if len(finishing) >= wanted:
            return {"blocked": blocked}, top({i: worth[i] for i in finishing}, options["k"], u[1])
    return {"blocked": blocked}, []


def guler_yener(_: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Once in a period of E_i epochs, from a random epoch of it on, as soon as the energy is there."""
    periods, weight = dict(memory["periods"]), dict(memory["weight"])
    chosen = []
    for i in seen.everyone:
        if i not in periods or seen.epoch >= periods[i]["end"]:
            periods.pop(i, None)
            if seen.mean_harvest[i] > 0:
                length = math.ceil(seen.cost(i) / (seen.slots_per_epoch * seen.mean_harvest[i]))
                length = min(max(length, 1), 1_000_000)
                turn = seen.epoch + int(u[0][i] * length)
                periods[i] = {"end": seen.epoch + length, "turn": turn, "length": length, "taken": False}
        period = periods.get(i)
        charged = seen.idle(i) and seen.battery[i] >= seen.cost(i)
        if period and not period["taken"] and seen.epoch >= period["turn"] and charged:
            chosen.append(i)
            periods[i] = period | {"taken": True}
            weight[i] = period["length"]
    return {"periods": periods, "weight": weight}, chosen


def cycp(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Random groups drawn once; k at random of group t mod G."""
    group = memory["group"]
    if group is None:
        order = sorted(seen.everyone, key=lambda i: (u[1][i], i))
        group = {order[rank]: rank * options["groups"] // len(order) for rank in range(len(order))}
    members = [i for i in seen.everyone if group[i] == seen.epoch % options["groups"]]
    return {"group": group}, draw(dict.fromkeys(members, 1.0), options["k"], u[0])


def battery_weighted(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """P proportional to charge^2, from a fifth of the capacity on."""
    charge = {i: seen.battery[i] / max(seen.capacity[i], 1) for i in seen.everyone}
    weight = {i: c ** options["exponent"] for i, c in charge.items() if c >= options["least"]}
    return memory, draw(weight, options["k"], u[0])


def label_balanced(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Once enough are ready, one client after the other so that the mean mix stays nearest to uniform."""
    rows = seen.moments if options["by"] == "moments" else seen.label_mix
    classes = len(rows[0])
    mix = {}
    for i in seen.everyone:
        unknown = any(share is None or math.isinf(share) or share < 0 for share in rows[i])
        if unknown:
            mix[i] = [1 / classes] * classes
        elif sum(rows[i]) > 0:
            mix[i] = [share / sum(rows[i]) for share in rows[i]]
    ready = [i for i in seen.everyone if seen.idle(i) and seen.battery[i] >= seen.cost(i) and i in mix]
    chosen: list[int] = []
    if len(ready) < min(options["pool"], len(seen.battery)):
        return memory, chosen
    while ready and len(chosen) < options["k"]:

        def key(i: int) -> tuple[float, float]:
            together = [*chosen, i]
            mean = [sum(mix[j][c] for j in together) / len(together) for c in range(classes)]
            return round(sum((share - 1 / classes) ** 2 for share in mean), 12), u[0][i]

        nearest = min(ready, key=key)
        ready.remove(nearest)
        chosen.append(nearest)
    return memory, chosen


def foresight(options: Options, memory: Memory, seen: Seen, u: list[list[float]]) -> tuple[Memory, list[int]]:
    """Who can pay in this epoch; the earliest to overflow first, then the most above (or the least below) the brim."""
    keys = {}
    for i in seen.everyone:
        level: list[float] = []
        units = float(seen.battery[i])
        for f in seen.forecast[i]:
            units += max(f, 0.0) if f is not None else 0.0
            level.append(units)
        if not seen.idle(i) or level[0] < seen.cost(i):
            continue
        over = [h for h in range(len(level)) if level[h] > seen.capacity[i]]
        when = over[0] if over else len(level) - 1
        keys[i] = (not over, when, seen.capacity[i] - level[when], u[0][i])
    return memory, sorted(keys, key=lambda i: keys[i])[: options["k"]]


Rule = Callable[[Options, Memory, Seen, list[list[float]]], tuple[Memory, list[int]]]

RULES: dict[str, Rule] = {
    "oort": oort,
    "power-of-choice": power_of_choice,
    "eafl": oort,
    "fedzero": fedzero,
    "guler-yener": guler_yener,
    "cycp": cycp,
    "battery-weighted": battery_weighted,
    "label-balanced": label_balanced,
    "foresight": foresight,
}
ROWS = {"oort": 3, "eafl": 3, "power-of-choice": 2, "fedzero": 2, "cycp": 2}
"""How many rows of uniform numbers a rule takes; 1 where it is not said."""


def first_memory(name: str, options: Options) -> Memory:
    """The memory of a rule before the first epoch."""
    if name in ("oort", "eafl"):
        return {"epsilon": options["exploration"], "percentile": 30.0, "before": 0.0, "now": 0.0, "exploited": []}
    return {"blocked": set(), "periods": {}, "weight": {}, "group": None}
