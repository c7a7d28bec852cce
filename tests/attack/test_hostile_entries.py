"""A few seconds of hostile run directories; ``python -m tests.attack.hostile_entries`` does more."""

from tests.attack.hostile_entries import repeat


def test_hostile_entries_are_sentences_and_nothing_outside_is_touched() -> None:
    outcomes = repeat(120, float("inf"), seed=15)
    assert min(outcomes[name] for name in ("finished", "went on", "replaced", "refused")) > 3
