"""A short attack: the first attempts of each kind, always the same."""

import pytest

from tests.attack.command_line import Outcome, complaint_about
from tests.attack.configs import ATTACKS, attempt

TRIES = {"settings": 60, "configs": 80, "traces": 60, "archives": 60, "command lines": 60}


@pytest.mark.parametrize("kind", ATTACKS)
def test_a_hostile_command_goes_well_or_ends_in_one_sentence(kind: str) -> None:
    for seed in range(TRIES[kind]):
        arguments, complaint = attempt(kind, seed)
        assert complaint is None, f"{kind} {seed}: {arguments}: {complaint}"


@pytest.mark.parametrize(
    ("outcome", "complaint"),
    [
        (Outcome(0, "done", ""), None),
        (Outcome(2, "", "Error: It is wrong.\n"), None),
        (Outcome(2, "", "Error: Is it wrong?\n"), None),
        (Outcome(2, "", "Error: It is wrong\n"), "not one sentence"),
        (Outcome(2, "", "Error: It is wrong.\nMore.\n"), "not one sentence"),
        (Outcome(2, "", "It is wrong.\n"), "not one sentence"),
        (Outcome(2, "", ""), "not one sentence"),
        (Outcome(1, "", "Error: It is wrong.\n"), "exit code 1"),
        (Outcome(70, "", "Error: This is a bug.\nSend it.\n"), "exit code 70"),
        (Outcome(0, "", "Traceback (most recent call last):\n"), "a traceback"),
    ],
)
def test_the_attack_notices_a_broken_promise(outcome: Outcome, complaint: str | None) -> None:
    found = complaint_about(["run"], outcome)
    assert (found is None) if complaint is None else found.startswith(complaint)
