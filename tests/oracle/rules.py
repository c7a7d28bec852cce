"""The aggregation rules, number by number, with plain Python loops: written from the sources' formulas.

A model is a list of floats. An epoch's updates are in the order in which a rule takes them.
"""

import math
import statistics
from dataclasses import dataclass


@dataclass
class Received:
    """One update: who, with how much data, what it sent, what it began with, s(staleness) times importance."""

    client: int
    size: int
    sent: list[float]
    began: list[float]
    factor: float


def pulls(w: list[float], update: Received, by: str) -> list[float]:
    """Returns w_i − w, or Δ_i, times the factor."""
    origin = w if by == "weights" else update.began
    return [update.factor * (a - b) for a, b in zip(update.sent, origin, strict=True)]


def changes(update: Received) -> list[float]:
    return [update.factor * (a - b) for a, b in zip(update.sent, update.began, strict=True)]


def received(w: list[float], updates: list[Received], by: str) -> list[float]:
    total = sum(update.size for update in updates)
    return [w[p] + sum(u.size / total * pulls(w, u, by)[p] for u in updates) for p in range(len(w))]


def everyone(w: list[float], updates: list[Received], by: str, sizes: list[int]) -> list[float]:
    return [w[p] + sum(u.size / sum(sizes) * pulls(w, u, by)[p] for u in updates) for p in range(len(w))]


def shrinkage(w: list[float], updates: list[Received], by: str, m: float) -> list[float]:
    n, whole = len(updates), received(w, updates, by)
    return [w[p] + n / (n + m) * (whole[p] - w[p]) for p in range(len(w))] if updates else w


class Buffered:
    """Waits for m updates and then takes all that wait, by data size."""

    def __init__(self, m: int, by: str) -> None:
        self.m, self.by, self.waiting = m, by, []

    def step(self, w: list[float], updates: list[Received]) -> list[float]:
        self.waiting = self.waiting + updates
        if len(self.waiting) < self.m:
            return w
        new = received(w, self.waiting, self.by)
        self.waiting = []
        return new


def fedasync(w: list[float], updates: list[Received], alpha: float) -> list[float]:
    for update in updates:
        a = alpha * update.factor
        w = [(1 - a) * old + a * sent for old, sent in zip(w, update.sent, strict=True)]
    return w


class FedBuff:
    """Adds η times the mean of K changes whenever K have come."""

    def __init__(self, k: int, eta: float) -> None:
        self.k, self.eta, self.waiting = k, eta, []

    def step(self, w: list[float], updates: list[Received]) -> list[float]:
        for update in updates:
            self.waiting.append(changes(update))
            if len(self.waiting) == self.k:
                w = [w[p] + self.eta * sum(change[p] for change in self.waiting) / self.k for p in range(len(w))]
                self.waiting = []
        return w


class FedOpt:
    """FedAvgM, FedAdam or FedYogi on the mean change by data size."""

    def __init__(self, method: str, eta: float, beta1: float, beta2: float, tau: float, size: int) -> None:
        self.method, self.eta, self.beta1, self.beta2, self.tau = method, eta, beta1, beta2, tau
        self.m, self.v = [0.0] * size, [tau * tau] * size

    def step(self, w: list[float], updates: list[Received]) -> list[float]:
        if not updates:
            return w
        new, total = [], sum(update.size for update in updates)
        for p, old in enumerate(w):
            delta = sum(update.size / total * changes(update)[p] for update in updates)
            if self.method == "momentum":
                self.m[p] = self.beta1 * self.m[p] + delta
                new.append(old + self.eta * self.m[p])
                continue
            self.m[p] = self.beta1 * self.m[p] + (1 - self.beta1) * delta
            if self.method == "adam":
                self.v[p] = self.beta2 * self.v[p] + (1 - self.beta2) * delta**2
            else:
                sign = (self.v[p] > delta**2) - (self.v[p] < delta**2)
                self.v[p] = self.v[p] - (1 - self.beta2) * delta**2 * sign
            new.append(old + self.eta * self.m[p] / (math.sqrt(self.v[p]) + self.tau))
        return new


class Mifa:
    """Everyone's last change stands in for it, in every round."""

    def __init__(self, eta: float, sizes: list[int], size: int) -> None:
        self.eta, self.sizes, self.y = eta, sizes, [[0.0] * size for _ in sizes]

    def step(self, w: list[float], updates: list[Received]) -> list[float]:
        for update in updates:
            self.y[update.client] = changes(update)
        return [
            w[p] + self.eta * sum(n / sum(self.sizes) * y[p] for n, y in zip(self.sizes, self.y, strict=True))
            for p in range(len(w))
        ]


class FedVarp:
    """The changes received, less β of what was remembered of their clients, plus β of what is remembered of all."""

    def __init__(self, eta: float, beta: float, sizes: list[int], size: int) -> None:
        self.eta, self.beta, self.sizes, self.y = eta, beta, sizes, [[0.0] * size for _ in sizes]

    def step(self, w: list[float], updates: list[Received]) -> list[float]:
        if not updates:
            return w
        received_samples = sum(update.size for update in updates)
        new = []
        for p, old in enumerate(w):
            step = sum(n / sum(self.sizes) * self.beta * y[p] for n, y in zip(self.sizes, self.y, strict=True))
            for update in updates:
                share = update.size / received_samples
                step += share * (changes(update)[p] - self.beta * self.y[update.client][p])
            new.append(old + self.eta * step)
        for update in updates:
            self.y[update.client] = changes(update)
        return new


class Guard:
    """Refuses an update that moved farther than the median of others and of those before lets it."""

    def __init__(self, factor: float) -> None:
        self.factor, self.moves = factor, []

    def step(self, updates: list[Received]) -> list[bool]:
        """Returns which updates are accepted."""
        lengths = [math.sqrt(sum((a - b) ** 2 for a, b in zip(u.sent, u.began, strict=True))) for u in updates]
        verdicts, accepted = [], []
        for update, length in zip(updates, lengths, strict=True):
            others = [other for u, other in zip(updates, lengths, strict=True) if u.client != update.client]
            model = math.sqrt(sum(b * b for b in update.began))
            if self.moves and others:
                before, beside = statistics.median_low(self.moves[-64:]), statistics.median_low(others)
                limit = max(model, self.factor * max(before, min(beside, self.factor * before)))
            elif self.moves or others:
                limit = max(model, self.factor * statistics.median_low(self.moves[-64:] or others))
            else:
                limit = self.factor * model or math.inf
            verdicts.append(length <= limit)
            accepted += [length] if length <= limit else []
        self.moves += accepted
        return verdicts
