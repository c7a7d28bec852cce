from itertools import pairwise
from pathlib import Path

import pytest

from fallow.energy import ENERGY_MODELS
from fallow.errors import ConfigError
from fallow.experiment import Experiment, annotated_toml
from fallow.policies import POLICIES
from fallow.policies.vaoi import VAoI


def test_the_defaults_are_the_papers_numbers() -> None:
    e = Experiment()
    assert (e.clients, e.epochs, e.slots_per_epoch, e.starts_per_epoch) == (100, 500, 30, 0)
    assert (e.battery.capacity, e.battery.initial, e.cost.train, e.cost.transmit) == (25, 0, 20, 1)
    assert e.build("policy") == VAoI(k=10, mu=0.5, choice="top-k", reset="selected")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"clints": 3}, "There is no setting 'clints'; did you mean 'clients'?"),
        ({"zebra": 3}, "There is no setting 'zebra'; valid names are aggregation, battery, clients, "),
        ({"energy": {"modle": "x"}}, "There is no setting 'energy.modle'; did you mean 'model'?"),
        ({"battery": {"capcity": 3}}, "There is no setting 'battery.capcity'; did you mean 'capacity'?"),
        ({"policy": {"kk": 3}}, "There is no setting 'policy.kk'; did you mean 'k'?"),
        (
            {"policy": {"groups": 3}},
            "policy.groups is an option of fedbacys, fedbacys-odd, cycp, not of the policy 'vaoi'",
        ),
        ({"policy": {"name": "vaio"}}, "There is no policy 'vaio'; did you mean 'vaoi'?"),
        ({"policy": {"name": "VAOI"}}, "There is no policy 'VAOI'; did you mean 'vaoi'?"),
        ({"battery": {"options": {}}}, "There is no setting 'battery.options'"),
        ({"policy": {"options": {}}}, "There is no setting 'policy.options'"),
        (
            {"policy": {"name": 3}},
            "The policy can't be 3; give a name, a table of a name and options, a class or an object.",
        ),
        ({"policy": 3}, "The policy can't be 3; give a name"),
        ({"battery": 3}, "battery = 3 must be a section"),
        ({"energy": {"model": "bernuli"}}, "There is no energy model 'bernuli'; did you mean 'bernoulli'?"),
        ({"energy": {"p": 1.5}}, "energy.p = 1.5 must be at most 1."),
        ({"energy": {"p": -0.5}}, "energy.p = -0.5 must be at least 0."),
        ({"energy": {"p": float("nan")}}, "energy.p = nan must be a finite number."),
        ({"energy": {"p": "much"}}, "energy.p = 'much' must be a number."),
        ({"energy": {"p": [0.1, 7.0]}, "clients": 2}, "energy.p[1] = 7.0 must be at most 1."),
        ({"energy": {"model": "trace"}}, "set energy.path"),
        ({"clients": 0}, "clients = 0 must be at least 1."),
        ({"clients": 2.5}, "clients = 2.5 must be a whole number."),
        ({"clients": True}, "clients = true must be a whole number."),
        ({"clients": [1, 2]}, "clients = [1, 2] must be a whole number."),
        ({"epochs": 0}, "epochs = 0 must be at least 1."),
        ({"seed": -1}, "seed = -1 must be at least 0."),
        ({"seed": 2**63}, "must be at most 9223372036854775807."),
        ({"policy": {"k": 101}}, "policy.k = 101 is more than clients = 100; set policy.k to at most 100."),
        ({"policy": {"k": 0}}, "policy.k = 0 must be at least 1."),
        ({"policy": {"mu": float("nan")}}, "policy.mu = nan must be a finite number."),
        ({"policy": {"reset": "agregated"}}, "must be 'selected' or 'aggregated'; did you mean 'aggregated'?"),
        (
            {"cost": {"train": 30}},
            "cost.train = 30 is above battery.capacity = 25, so nobody can ever train; raise the capacity",
        ),
        ({"cost": {"train": [20, 26]}, "clients": 2, "policy": {"k": 1}}, "so client 1 can't ever train"),
        ({"cost": {"train": [20, -1]}, "clients": 2}, "cost.train[1] = -1 must be at least 1."),
        ({"cost": {"train": [20, 20, 20]}}, "cost.train has 3 numbers for 100 clients"),
        ({"cost": {"transmit": 26}}, "nobody can ever send an update"),
        ({"cost": {"probe": 26}}, "nobody can ever make a probe"),
        ({"battery": {"initial": 26}}, "battery.initial = 26 is above battery.capacity = 25"),
        ({"battery": {"capacity": "big"}}, "battery.capacity = 'big' must be a whole number."),
        ({"learning": {"significance": 2}}, "learning.significance = 2 must be at most 1."),
        ({"output": {"events": "yes"}}, "output.events = 'yes' must be true or false."),
        ({"epochs": 10**9, "slots_per_epoch": 10**3}, "slots are too many"),
        ({"policy": {"name": "no_such_module:Policy"}}, "importing 'no_such_module' failed with ModuleNotFoundError"),
        ({"policy": {"name": "fallow.policies.vaoi:Vaoi"}}, "has no 'Vaoi'; did you mean 'VAoI'?"),
        ({"policy": {"name": "fallow.paper:largest"}}, "must be a class; it is a function"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_says_what_to_do(raw: dict, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Experiment.parse(raw)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_policy_without_k_passes_it_over() -> None:
    experiment = Experiment.parse({"clients": 3, "policy": {"name": "fedavg", "k": 10}})
    assert experiment.policy.options == {}
    assert experiment == Experiment.parse({"clients": 3, "policy": {"name": "fedavg"}})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_resolved_config_reads_back_as_itself(policy: str, tmp_path: Path) -> None:
    experiment = Experiment.parse({"policy": {"name": policy, "k": 3}, "energy": {"p": [0.5] * 100}})
    path = tmp_path / "config.toml"
    path.write_text(experiment.to_toml(), encoding="utf-8")
    assert Experiment.read(path) == experiment


@pytest.mark.parametrize("policy", POLICIES)
def test_the_annotated_config_is_the_default_and_documents_every_line(policy: str, tmp_path: Path) -> None:
    text = annotated_toml(policy=policy)
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    assert Experiment.read(path) == Experiment.parse({"policy": {"name": policy}})
    lines = text.splitlines()
    for above, line in pairwise(lines):
        if "=" in line and not line.startswith("#"):
            assert above.startswith("# "), line
            assert "None" not in above


def test_configs_paper_toml_is_the_annotated_default() -> None:
    path = Path(__file__).parents[2] / "configs" / "paper.toml"
    assert path.read_text(encoding="utf-8") == annotated_toml()


def test_every_option_of_every_component_is_documented() -> None:
    for energy in ENERGY_MODELS:
        assert "# None" not in annotated_toml(policy="fedbacys", energy=energy)


def test_overrides_reach_sections_and_take_bare_words() -> None:
    e = Experiment.read(None, ["policy.name=fedbacys", "policy.groups=3", "energy.p=0.01", "output.events=false"])
    assert e.build("policy").groups == 3
    assert e.energy.options == {"p": 0.01}
    assert not e.output.events


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("policy.name", "not of the form key=value"),
        ("=3", "not of the form key=value"),
        ("seed.x=3", "There is no setting|'seed' is not a section|must be"),
        ("polciy.name=vaoi", "There is no setting 'polciy'; did you mean 'policy'?"),
    ],
)
def test_a_wrong_override_is_one_sentence(override: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Experiment.read(None, [override])
    assert any(word in str(caught.value) for word in words.split("|"))


def test_a_missing_or_broken_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be read: No such file"):
        Experiment.read(tmp_path / "nowhere.toml")
    (tmp_path / "broken.toml").write_text("seed = = 3")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        Experiment.read(tmp_path / "broken.toml")


CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", [path for path in CONFIGS if not path.name.startswith("node-")], ids=lambda p: p.name)
def test_every_config_that_comes_with_the_project_reads(path: Path) -> None:
    assert Experiment.read(path).clients == 100
