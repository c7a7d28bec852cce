"""A few seconds of damage to run directories; ``python -m tests.attack.run_directories`` does more."""

from tests.attack.run_directories import repeat


def test_damaged_directories_end_in_the_same_bytes_or_in_one_sentence() -> None:
    outcomes = repeat(60, float("inf"), seed=1)
    assert min(outcomes[name] for name in ("refused", "finished", "damaged")) > 3
