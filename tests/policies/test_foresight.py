"""Foresight, worked by hand."""

from fallow.policies import Foresight
from tests.policies.views import chosen, rng, view


def select(k: int, battery: list[int], forecast: list[list[float]], **others) -> list[int]:
    seen = view(len(battery), battery=battery, forecast=forecast, **others)
    return chosen(Foresight(k=k, horizon=len(forecast[0])).select(None, seen, rng())[1])


def test_only_who_can_pay_by_the_end_of_this_epoch_is_selected() -> None:
    assert select(9, [21, 20, 20, 0], [[0, 0], [1, 0], [0, 9], [21, 0]]) == [0, 1, 3]
    assert select(9, [21, 21], [[0, 0], [0, 0]], training=[True, False]) == [1]


def test_who_would_overflow_first_goes_first() -> None:
    # 25 is full. Client 0 overflows in the third epoch, 1 in the second, 2 never.
    forecast = [[0, 3, 3], [0, 5, 0], [1, 1, 1]]
    assert select(1, [21, 21, 21], forecast) == [1]
    assert select(2, [21, 21, 21], forecast) == [0, 1]


def test_who_would_lose_more_goes_first_and_then_who_is_fuller() -> None:
    assert select(1, [21, 21], [[5], [6]]) == [1]  # loses 2, not 1
    assert select(1, [23, 21], [[0], [1]]) == [0]  # neither overflows: 23 against 22


def test_the_future_is_known_without_error() -> None:
    needs = Foresight(horizon=3).needs
    assert (needs.forecast_epochs, needs.forecast_error) == (3, 0.0)
