"""The examples in docstrings do what they say."""

import doctest

import pytest

from fallow.study import latex, sweep


@pytest.mark.parametrize("module", [latex, sweep], ids=lambda module: module.__name__)
def test_the_examples_are_true(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert (failed, tried > 0) == (0, True)
