"""Label-balanced, worked by hand."""

import math

from fallow.policies import LabelBalanced
from tests.policies.views import chosen, rng, view

NAN = math.nan
MIX = [[1.0, 0.0], [1.0, 0.0], [0.3, 0.7], [0.0, 1.0]]


def select(policy: LabelBalanced, seed: int = 0, **others) -> list[int]:
    given = {"battery": [21] * 4, "label_mix": MIX, "moments": MIX}
    return chosen(policy.select(None, view(4, **(given | others)), rng(seed))[1])


def test_nobody_trains_until_enough_are_ready() -> None:
    policy = LabelBalanced(k=2, pool=3)
    assert select(policy, battery=[21, 21, 20, 0]) == []
    assert select(policy, battery=[21, 21, 21, 25], unsent=[True, True, False, False]) == []
    assert len(select(policy, battery=[21, 21, 21, 0])) == 2


def test_a_pool_larger_than_the_federation_waits_for_all() -> None:
    assert select(LabelBalanced(pool=12, k=4), battery=[21, 21, 21, 20]) == []
    assert select(LabelBalanced(pool=12, k=4)) == [0, 1, 2, 3]


def test_one_after_the_other_the_mean_mix_stays_nearest_to_uniform() -> None:
    # First 2, squared distance 0.08 against 0.5. Then one of class 0: (0.65, 0.35), 0.045; class 1 gives 0.245.
    assert select(LabelBalanced(k=1, pool=4, by="labels")) == [2]
    assert {tuple(select(LabelBalanced(k=2, pool=4, by="labels"), seed)) for seed in range(30)} == {(0, 2), (1, 2)}
    # Then 3: (0.433, 0.567), 0.009, against the other of class 0: (0.767, 0.233), 0.142.
    assert {tuple(select(LabelBalanced(k=3, pool=4, by="labels"), seed)) for seed in range(30)} == {
        (0, 2, 3),
        (1, 2, 3),
    }


def test_by_moments_and_by_labels_each_reads_its_own() -> None:
    other = [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]
    assert select(LabelBalanced(k=1, pool=4), moments=other) == [1]
    assert select(LabelBalanced(k=1, pool=4, by="labels"), moments=other) == [2]
    assert LabelBalanced().needs.in_words() == "moments"
    assert LabelBalanced(by="labels").needs.in_words() == "label mix (breaks privacy)"


def test_a_mix_that_is_not_known_counts_as_uniform() -> None:
    assert select(LabelBalanced(k=1, pool=4), moments=[[1, 0], [NAN, NAN], [0.3, 0.7], [-1, 2]]) in ([1], [3])


def test_a_client_without_samples_is_never_picked() -> None:
    policy = LabelBalanced(k=4, pool=3, by="labels")
    assert select(policy, label_mix=[[0, 0], [1, 0], [0.3, 0.7], [0, 1]]) == [1, 2, 3]
