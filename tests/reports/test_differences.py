from pathlib import Path
from typing import Any

import numpy as np

from fallow.reports.differences import matters, order_lines, order_panels, order_values, place_runs, say, varying
from fallow.reports.runs import ReportedRun


def run(**settings: Any) -> ReportedRun:
    given = {
        "seed": 0,
        "policy.name": "vaoi",
        "policy.k": 10,
        "energy.p": 0.1,
        "data.alpha": 0.1,
        "output.events": True,
    }
    given |= {name.replace("__", "."): value for name, value in settings.items()}
    return ReportedRun("run", Path("run"), given, {}, {"stored": np.zeros(1)})


def test_runs_that_differ_in_their_seed_share_a_line_and_a_panel() -> None:
    one, other = place_runs([run(seed=1), run(seed=2, output__events=False)])
    assert (one.line, one.panel) == (other.line, other.panel) == ("vaoi", "")
    assert (one.values["seed"], other.values["seed"]) == ("1", "2")


def test_policies_are_lines_and_other_settings_are_panels() -> None:
    places = place_runs([run(), run(policy__name="fedavg"), run(energy__p=0.01)])
    assert [place.line for place in places] == ["vaoi", "fedavg", "vaoi"]
    assert [place.panel for place in places] == ["p_bc = 0.1", "p_bc = 0.1", "p_bc = 0.01"]
    assert order_panels(places) == ["p_bc = 0.01", "p_bc = 0.1"]


def test_options_that_differ_within_a_policy_stand_in_its_lines() -> None:
    places = place_runs([run(), run(policy__k=5), run(policy__name="fedavg")])
    assert [place.line for place in places] == ["vaoi, k = 10", "vaoi, k = 5", "fedavg"]


def test_alpha_and_p_always_have_a_filter_and_what_differs_gets_one() -> None:
    places = place_runs([run(clients=5), run(clients=6)])
    assert list(places[0].values) == ["line", "data.alpha", "energy.p", "clients", "seed"]
    assert places[0].panel == "N = 5"


def test_a_setting_that_a_run_lacks_is_a_dash() -> None:
    trace = run(energy__model="trace")
    assert say(trace.settings.get("energy.path")) == "–"
    assert place_runs([run(), trace])[0].panel == "energy.model = –"


def test_an_option_that_follows_from_a_name_is_not_said_again() -> None:
    received = run(aggregation__name="received")
    shrinkage = [run(aggregation__name="shrinkage", aggregation__m=m) for m in (5, 9)]
    places = place_runs([received, shrinkage[0]])
    assert [place.panel for place in places] == ["aggregation = received", "aggregation = shrinkage"]
    assert "aggregation.m" not in places[0].values
    places = place_runs([received, *shrinkage])
    assert [place.panel for place in places[1:]] == [
        "aggregation = shrinkage, aggregation.m = 5",
        "aggregation = shrinkage, aggregation.m = 9",
    ]


def test_values_in_words() -> None:
    assert [say(value) for value in (None, True, 0.1, 3, "x", [1, 2], [])] == ["–", "true", "0.1", "3", "x", "1, 2", ""]
    long, other = [0.1] * 50 + [0.5], [0.1] * 49 + [0.2, 0.5]
    assert say(long).startswith("0.1 to 0.5 (51 values, ")
    assert say(long) != say(other)


def test_orders() -> None:
    assert order_lines(["zebra", "fedavg", "vaoi, k = 10", "vaoi, k = 5"]) == [
        "vaoi, k = 5",
        "vaoi, k = 10",
        "fedavg",
        "zebra",
    ]
    assert order_values(["10", "9", "–", "0.5"]) == ["0.5", "9", "10", "–"]


def test_what_matters() -> None:
    assert not any(matters(key) for key in ("seed", "compute.workers", "output.events"))
    assert matters("compute.precision")
    assert varying([{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}]) == ["b", "c"]
