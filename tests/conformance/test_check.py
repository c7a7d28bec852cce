"""The check of every kind of part: all of ours pass, and what breaks a contract is found and said in a sentence."""

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest

import fallow
import fallow.cli
from fallow.conformance import KINDS, check
from fallow.conformance.kinds import kind_of_name
from fallow.energy import Signal
from fallow.errors import ConfigError
from fallow.flower.batteries import Event, Metered, OpenBattery, Reading
from fallow.trackers import Tracker
from tests.cli.runner import fail, invoke
from tests.plugins import parts
from tests.test_conformance import TABLES

NEEDS_FILES = {"cifar10", "fashion-mnist", "trace", "mix", "watts", "signal", "tensorboard", "mlflow"}
HEAVY = {"resnet18-gn", "paper-cnn", "solar"}
ROWS = {name: row for _, rows in TABLES for name, row in rows.items() if name not in NEEDS_FILES | HEAVY}


@pytest.mark.parametrize("name", ROWS)
def test_every_part_of_ours_keeps_its_contract(name: str) -> None:
    assert kind_of_name(name).table[name] is type(ROWS[name])
    assert check(ROWS[name]) == []


def test_no_two_parts_have_one_name() -> None:
    names = [name for kind in KINDS.values() for name in kind.table]
    assert len(names) == len(set(names))


@dataclass(frozen=True)
class Moody:
    """A staleness weight, a partition, an objective and a rule that answer otherwise each time."""

    calls = count(1)


class MoodyStaleness(Moody):
    def discount(self, epochs):
        return 1 / next(self.calls)


class MoodyPartition(Moody):
    def split(self, y, sizes, seed):
        return [np.array([len(sizes) * (next(self.calls) % 7) + k]) for k in range(len(sizes))]


class MoodyObjective(Moody):
    def offset(self, counts):
        return np.full(counts.size, next(self.calls), dtype=np.float32)


class MoodyRule(Moody):
    def init(self, size, data_sizes):
        return None

    def combine(self, state, weights, updates):
        return state, weights + np.float32(next(self.calls))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (parts.Remembering(), r"gave other units for epoch \d when it was asked again"),
        (parts.Counting(), "after it was prepared again with the same seed"),
        (Signal(of="tests.plugins.parts:Flicker"), "after it was prepared again with the same seed"),
        (parts.MaskedHarvest(), "is a masked array"),
        (parts.MaskedParts(), "is a masked array"),
        (MoodyPartition(), "gave other samples when it was asked again with the same seed"),
        (parts.masked_digits, "y is a masked array"),
        (parts.shrinking, "had another mean, std or classes when it was loaded again with the same seed"),
        (parts.in_place, "changes the inputs"),
        (MoodyObjective(), "gave other numbers when asked again"),
        (parts.Wide("nan"), "weights that are not finite"),
        (parts.MeanInMemory(), "changed the memory that it was given in combine"),
        (MoodyRule(), "answered otherwise when asked again with the same memory and updates"),
        (parts.Odd(-1.0), "is -1.0; it must be a number from 0 to 1"),
        (MoodyStaleness(), "when asked again; it may depend on nothing else"),
        (parts.Greedy(k=1), "more than its k = 1"),
        (parts.Masked(), "is a masked array"),
        (parts.Quitter(), r"'Quitter' failed in end: SystemExit: 0 \(tests/plugins/parts.py, line \d+\)"),
        (Metered(lambda: 101.0), "level is 101, and its capacity is 100"),
        (Metered(lambda: float("nan")), "level is nan"),
        (Metered(lambda: 1, capacity=0), "capacity of the battery 'Metered' is 0; it must be a number from 1"),
    ],
)
def test_each_breach_is_found_and_said_in_a_sentence(part: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        assert check(part) == []


def test_a_meter_a_battery_and_a_function_that_returns_one_are_all_batteries() -> None:
    for battery in (lambda: 50, lambda: Metered(lambda: 50.0), Metered(lambda: 50.0)):
        assert check(battery, kind="battery") == []


class Eager:
    """A battery that trains whenever it likes."""

    capacity, train_cost, transmit_cost, slots_per_epoch, lived, replays, state = 10, 2, 1, 4, -1, False, None

    def open(self, state=None, *, probes, ideal):
        return self

    def catch_up(self, epoch):
        return iter(())

    def look(self, epoch):
        return Reading(5)

    def live(self, epoch, start, *, selected):
        yield Event("start", 0)


def test_a_battery_that_trains_unasked_is_found() -> None:
    opened: OpenBattery = Eager()
    assert check(opened) == ["The battery 'Eager' started a training in an epoch in which its client was not selected."]


def test_a_tracker_is_told_of_a_run_that_is_killed_and_goes_on() -> None:
    told: list[Any] = []

    class Notes:
        def begin(self, run):
            told.append(run.epoch)

        def log(self, rows):
            told.append([row["epoch"] for row in rows])

        def end(self, summary):
            told.append("end")

    tracker: Tracker = Notes()
    assert check(tracker) == []
    assert told == [0, [0, 1], 1, [1, 2, 3], "end"]


def test_the_kind_is_told_by_methods_or_asked_for() -> None:
    assert fallow.check(parts.Odd, options={"factor": 0.5}) == []
    with pytest.raises(ConfigError, match="What kind of part 'Turns' is can't be told by its methods; say it with"):
        check(type("Turns", (), {}))
    with pytest.raises(ConfigError, match="There is no kind 'polcy' of parts; did you mean 'policy'"):
        check("vaoi", kind="polcy")
    with pytest.raises(ConfigError, match="There is no part 'vaio'; did you mean 'vaoi'"):
        check("vaio")
    with pytest.raises(ConfigError, match="has no method 'combine'; it must have init and combine"):
        check(type("Half", (), {"init": None}), kind="rule")


def test_the_command_takes_every_kind_and_says_what_is_wrong(capsys, monkeypatch) -> None:
    name = "tests.plugins.parts:Odd"
    assert invoke(fallow.cli.app, "check", name, "--set", "factor=0.5") == f"{name} keeps its contract.\n"
    assert invoke(fallow.cli.app, "check", "poisson", "--kind", "energy") == "poisson keeps its contract.\n"
    monkeypatch.setattr("sys.argv", ["fallow", "check", name, "--json"])
    with pytest.raises(SystemExit) as caught:
        fallow.cli.main()
    assert caught.value.code == 1
    assert f'"staleness": "{name}"' in capsys.readouterr().out
    code, words = fail(capsys, monkeypatch, "check", "tests.plugins.parts:Kept")
    assert code == 2
    assert "What kind of part" in words
