"""Somebody's own parts, bent at random: a sentence, or the run of honest parts. A short piece of the long attack."""

import random
from pathlib import Path

import pytest

from tests.attack.plugins import attempt, draw, honest_run

TRIES = 15
"""Of each seed; some twenty a second."""


@pytest.mark.parametrize("seed", range(4))
def test_no_bent_answer_ends_in_a_traceback_or_in_another_run(seed: int, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rng = random.Random(seed)  # noqa: S311
    drawn = [draw(rng) for _ in range(TRIES)]
    assert {one: fault for one in drawn if (fault := attempt(*one))} == {}


def test_the_attack_finds_what_it_looks_for(monkeypatch) -> None:
    monkeypatch.setattr("fallow.policies.base.checked_mask", lambda mask, *_: mask)
    monkeypatch.setattr("fallow.simulation.world.checked_mask", lambda mask, *_: mask)
    assert "AttributeError" in attempt("policy.mask", "None", 0)
    monkeypatch.setattr("fallow.simulation.asking.checked_selection", lambda mask, *_: mask)
    assert attempt("policy.mask", "scribble later", 0).startswith("another run")


def test_an_honest_run_is_the_same_twice() -> None:
    assert honest_run("policy.mask", False)[0] == honest_run("policy.start", False)[0]
