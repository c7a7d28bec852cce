from pathlib import Path

import numpy as np
import pytest

from fallow.energy import Bernoulli, Markov, Mix, Poisson, Scale, Watts, group_seed, group_sizes
from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment
from tests.energy.cells import cells, correlation


@pytest.mark.parametrize(
    ("shares", "clients", "sizes"),
    [
        ([1, 1], 5, [3, 2]),
        ([0.5, 0.3, 0.2], 10, [5, 3, 2]),
        ([0.7, 0.2, 0.1], 5, [4, 1, 0]),
        ([0.0, 2.0], 3, [0, 3]),
        ([0.1] * 10, 10, [1] * 10),
        ([1, 1, 1], 2, [1, 1, 0]),
    ],
)
def test_shares_are_rounded_by_largest_remainder(shares: list[float], clients: int, sizes: list[int]) -> None:
    assert group_sizes(shares, clients) == sizes


def test_groups_follow_each_other_in_the_order_of_the_list() -> None:
    mix = Mix(({"model": "bernoulli", "p": 1.0, "share": 3}, {"model": "poisson", "rate": 0.0, "share": 1}))
    assert cells(mix, clients=4, slots=2).tolist() == [[1, 1, 1, 0], [1, 1, 1, 0]]


def test_a_group_harvests_what_its_model_does_with_the_seed_of_the_group() -> None:
    mix = Mix(({"model": "poisson", "rate": 2.0}, {"model": "markov", "good": 3.0, "bad": 3.0}))
    units = cells(mix, range(3), clients=6)
    np.testing.assert_array_equal(units[:, :3], cells(Poisson(2.0), range(3), clients=3, seed=group_seed(7, 0)))
    np.testing.assert_array_equal(units[:, 3:], cells(Markov(3.0, 3.0), range(3), clients=3, seed=group_seed(7, 1)))


def test_two_equal_models_do_not_harvest_alike() -> None:
    units = cells(Mix(({"model": "bernoulli", "p": 0.5},) * 2), clients=8)
    assert not np.array_equal(units[:, :4], units[:, 4:])


def test_python_takes_objects_and_classes_and_a_config_holds_their_names() -> None:
    mix = Mix(({"model": Poisson(rate=0.3), "share": 2}, {"model": Bernoulli}))
    assert mix.sources == ({"model": "poisson", "rate": 0.3, "share": 2}, {"model": "bernoulli"})
    experiment = Experiment(energy=mix)
    assert Experiment.from_toml(experiment.to_toml()) == experiment
    assert experiment.build("energy", "model") == mix
    assert experiment.replace(seed=1).build("energy", "model") == mix


def test_the_mean_is_that_of_all_clients_and_groups_keep_their_ratios() -> None:
    mix = Mix(({"model": "bernoulli", "p": 0.1}, {"model": "poisson", "rate": 0.5, "packet": 3, "share": 3}))
    assert mix.mean(4).tolist() == [0.1, 1.5, 1.5, 1.5]
    np.testing.assert_allclose(mix.with_mean(2.3).mean(4), [0.2, 3.0, 3.0, 3.0])
    units = cells(mix, clients=4, slots=20_000, mean=2.3)
    np.testing.assert_allclose(units.mean(axis=0), [0.2, 3.0, 3.0, 3.0], atol=5 * np.sqrt(9.0 / 20_000))


def test_weather_is_shared_in_a_group_and_across_groups() -> None:
    mix = Mix(({"model": "poisson", "rate": 0.5},) * 2)
    units = cells(mix, clients=20, slots=40_000, correlation=0.36).astype(float)
    for columns in (units[:, :10], units[:, 5:15], units[:, [0, 19]]):
        found, error = correlation(columns)
        assert found == pytest.approx(0.36, abs=5 * error)
    alike = cells(mix, clients=20, correlation=1.0)
    assert (alike == alike[:, :1]).all()


def test_models_that_differ_are_good_and_bad_together() -> None:
    mix = Mix(({"model": "bernoulli", "p": 0.3}, {"model": "poisson", "rate": 0.8}))
    units = cells(mix, clients=2, slots=4000, correlation=1.0)
    assert units[units[:, 0] > 0, 1].min() >= units[units[:, 0] == 0, 1].max()


def test_a_group_without_chance_stays_as_it_is_and_of_nothing_else_there_is_no_weather(tmp_path: Path) -> None:
    (tmp_path / "sun.csv").write_text("1\n0\n2\n", encoding="utf-8")
    trace = {"model": "trace", "path": str(tmp_path / "sun.csv")}
    units = cells(Mix((trace, {"model": "bernoulli", "p": 0.5})), clients=4, slots=3, correlation=0.5)
    assert units[:, :2].tolist() == [[1, 1], [0, 0], [2, 2]]
    with pytest.raises(ConfigError, match=r"energy\.correlation = 0\.5 .* there is none in energy\.sources"):
        cells(Mix((trace,)), correlation=0.5)


def test_a_mix_may_hold_a_mix() -> None:
    inner = {"model": "mix", "sources": [{"model": "bernoulli", "p": 1.0}, {"model": "bernoulli", "p": 0.0}]}
    assert cells(Mix((inner, {"model": "poisson", "rate": 0.0})), clients=4, slots=1).tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ([], r"energy\.sources is empty; a mix needs at least one"),
        ("…", r"energy\.sources = '…' must be a list\."),
        ([3], r"energy\.sources\[0\] = 3 must be a section, a table in TOML\."),
        ([{"share": 1}], r"energy\.sources\[0\] needs a model"),
        ([{"model": "bernuli"}], r"There is no energy model 'bernuli'; did you mean 'bernoulli'\?"),
        ([{"model": "bernoulli", "p": 2.0}], r"energy\.sources\[0\]\.p = 2\.0 must be at most 1\."),
        (
            [{"model": "bernoulli"}, {"model": "poisson", "p": 0.1}],
            r"'poisson' in energy\.sources\[1\] has no option 'p'",
        ),
        ([{"model": "bernoulli", "share": -1}], r"energy\.sources\[0\]\.share = -1 must be a number, 0 or more"),
        ([{"model": "bernoulli", "share": "half"}], r"energy\.sources\[0\]\.share = 'half' must be a number"),
        ([{"model": "bernoulli", "share": 0}], r"Every share in energy\.sources is 0"),
        ([{"model": "markov", "good": 1.0}], r"energy\.good = 1 and energy\.bad = 90 give"),
        (
            [{"model": "trace"}],
            r"'trace' in energy\.sources\[0\] needs the option 'path'; set energy\.sources\[0\]\.path",
        ),
    ],
)
def test_wrong_sources_are_one_sentence(sources: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Experiment(energy={"model": "mix", "sources": sources})


def test_a_missing_file_is_found_before_the_first_slot() -> None:
    mix = Mix(({"model": "bernoulli"}, {"model": "trace", "path": "nowhere.csv"}))
    with pytest.raises(FallowError, match=r"The trace nowhere\.csv can't be read: No such file or directory\."):
        mix.prepare(0, 4, 3)


def test_a_mean_that_one_group_can_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"energy\.mean = .* can't be had of one unit a slot"):
        cells(Mix(({"model": "bernoulli", "p": 0.5}, {"model": "poisson"})), clients=4, mean=2.0)
    with pytest.raises(ConfigError, match="a mix in which nobody harvests anything"):
        cells(Mix(({"model": "bernoulli", "p": 0.0},)), mean=0.5)


def test_a_mix_tells_what_its_files_held_and_takes_sources_in_watts(tmp_path: Path) -> None:
    lines = "".join(f"2025-01-01T0{hour}:00:00Z,{watts}\n" for hour, watts in enumerate((0.5, 1.5, 1.0)))
    (tmp_path / "roof.csv").write_text("time,watts\n" + lines, encoding="utf-8")
    watts = {"model": "watts", "path": str(tmp_path / "roof.csv")}
    mix = Mix((watts, {"model": "bernoulli", "p": 1.0}))
    assert "roof.csv" in mix.describe()
    assert "\n" not in mix.describe()
    assert Mix(({"model": "bernoulli"},)).describe() == ""
    units = cells(mix, clients=2, slots=3, scale=Scale(slot_seconds=3600, unit_joules=900))
    assert units[:, 1].tolist() == [1, 1, 1]
    assert units[:, :1].tolist() == cells(Watts(watts["path"]), clients=1, slots=3, scale=Scale(3600, 900)).tolist()
    with pytest.raises(ConfigError, match="is in watts, and slot_seconds and unit_joules are not stated"):
        mix.prepare(0, 2, 3)
