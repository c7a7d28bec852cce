"""A part that breaks its contract is refused in a sentence in every run, with the place in its code."""

from typing import Any

import pytest

from fallow.errors import ConfigError, EnergyError, PluginError, PolicyError
from fallow.experiment import Experiment
from fallow.plugins.calls import failure, is_ours, place_of
from fallow.plugins.wording import in_words
from fallow.policies import VAoI
from fallow.simulation.engine import Engine
from tests.plugins import parts
from tests.plugins.test_in_place import LEARNS, SMALL


def live(settings: dict[str, Any]) -> None:
    list(Engine(Experiment(**settings)))


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (parts.Masked(), "The mask that the policy's select returned is a masked array, whose mask would be lost"),
        (parts.Greedy(k=1), "The policy selected 4 clients, more than its k = 1."),
    ],
)
def test_a_selection_out_of_contract_is_refused(policy: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        live(SMALL | {"policy": policy})
    with pytest.raises(PolicyError, match=words):
        live(SMALL | {"policy": {"name": policy, "reserve": True}})


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            parts.Remembering(),
            r"'Remembering' gave other units for epoch \d when it was asked again, so that a resumed",
        ),
        (parts.MaskedHarvest(), "What the energy model gave for a slot is a masked array"),
        (parts.Failing(), r"'Failing' failed in its harvest of epoch 2: ValueError: .* \(tests/plugins/parts.py, line"),
    ],
)
def test_a_harvest_out_of_contract_is_refused(model: Any, words: str) -> None:
    with pytest.raises(EnergyError, match=words):
        live(SMALL | {"energy": model})
    with pytest.raises(EnergyError, match=words):
        live(SMALL | {"energy": {}, "device": [{"name": "a"}, {"name": "b", "energy": model}]})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"aggregation": parts.Wide("float64")}, r"returned a ndarray of shape \(.*\) and type float64 as weights"),
        ({"aggregation": parts.Wide("list")}, "returned a list of shape"),
        ({"aggregation": parts.Wide("short")}, "it must return a NumPy array of shape"),
        ({"aggregation": parts.Wide("nan")}, "returned weights that are not finite numbers"),
        ({"aggregation": parts.Wide("masked")}, "is a masked array"),
        ({"aggregation": parts.Wide("tensor")}, "returned a Tensor"),
        ({"aggregation": parts.Wide("none")}, "returned a NoneType"),
        ({"aggregation": parts.Forgetful()}, r"must return \(state, weights\) from combine; it returned a ndarray"),
        ({"staleness": parts.Odd(-1.0)}, "of an update that is 0 epochs late is -1.0; it must be a number from 0 to 1"),
        ({"staleness": parts.Odd(-2.0)}, "is nan; it must be a number from 0 to 1"),
        ({"staleness": parts.Odd(1.5)}, "is 1.5; it must be a number from 0 to 1"),
        ({"data": {"partition": parts.MaskedParts()}}, "The part of a client that .* made is a masked array"),
        ({"data": {"name": parts.masked_digits}}, "can't be used: y is a masked array"),
        (
            {"model": {"name": parts.fails_late}},
            r"failed in .*: ValueError: forty-three is too many \(tests/plugins/parts.py, line \d+\)",
        ),
    ],
)
def test_a_part_of_learning_out_of_contract_is_refused(settings: dict[str, Any], words: str) -> None:
    # A training takes one batch of everything a client has.
    big = {"data": {"partition": "iid", "samples_per_client": 43}, "cost": {"train": 1, "train_slots": 1}}
    with pytest.raises((PluginError, ConfigError), match=words):
        live(LEARNS | (big if "model" in settings else {}) | settings)


@pytest.mark.parametrize("network", [parts.in_place, parts.clipped_in_place])
def test_a_network_that_writes_into_its_input_is_refused(network: Any) -> None:
    with pytest.raises(ConfigError, match="The network changes the inputs that it is given"):
        Engine(Experiment(**LEARNS | {"model": network}))


def test_the_place_is_in_the_authors_code_not_in_a_library_below_it() -> None:
    with pytest.raises(ValueError, match="broadcast") as caught:
        parts.Failing().broken()
    assert "tests/plugins/parts.py, line" in failure("The part", "hook", caught.value)


def test_a_call_with_the_wrong_number_of_arguments_points_to_the_function() -> None:
    policy = parts.Greedy()
    with pytest.raises(TypeError) as caught:
        policy.select()
    caught.value.__traceback__ = None
    line = parts.Greedy.select.__code__.co_firstlineno
    assert place_of(caught.value, policy.select) == f"tests/plugins/parts.py, line {line}"


def test_an_error_whose_text_fails_is_told_by_its_type() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert in_words(MuteError()) == "MuteError"
    assert len(in_words(ValueError("x" * 10_000))) < 600


def test_what_is_ours_is_told_by_its_module() -> None:
    assert all(map(is_ours, (VAoI(), VAoI, VAoI().select)))
    assert not any(map(is_ours, (parts.Greedy(), parts.Greedy, parts.masked_digits)))
    made = Experiment(data={"name": parts.masked_digits}).build("data")
    assert not is_ours(made)  # the class was made here, of a function that was not
