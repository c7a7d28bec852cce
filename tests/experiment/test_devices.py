"""Classes of devices in an experiment: from profiles and joules to units, and what careless input is told."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fallow.energy import Bernoulli
from fallow.errors import ConfigError
from fallow.experiment import Experiment, annotated_toml
from fallow.experiment.devices import DeviceClass
from fallow.simulation.engine import Engine
from fallow.simulation.learner_setup import load_dataset, split

SMALL = {"clients": 4, "policy": {"k": 2}, "epochs": 3}
SCALE = {"slot_seconds": 60.0, "unit_joules": 0.5}
NODE = {"name": "node", "train_joules": 3.2, "train_seconds": 90.0, "capacity_joules": 20.2, "share": 1.0}


def experiment(*devices: object, **changes: object) -> Experiment:
    return Experiment(**(SMALL | SCALE | {"device": list(devices)} | changes))


def test_joules_and_seconds_become_units_and_slots() -> None:
    node = experiment(NODE | {"idle_watts": 0.001, "cutoff_joules": 1.1, "wake_joules": 2.0}).device[0]
    assert (node.train, node.train_slots, node.capacity) == (7, 2, 40)
    assert (node.idle, node.cutoff, node.wake) == (pytest.approx(0.12), 3, 4)
    assert node.transmit is None


def test_a_profile_and_its_radio_become_units_by_hand() -> None:
    # pi-zero-2w: 3 × 1e9 FLOP × 8 samples / 1.6e9 FLOP/s = 15 s, at 2.0 W − 0.6 W idle: 21 J = 42 units in 1 slot.
    # Its Wi-Fi: 2e8 bytes = 1.6e9 bits: 50.16 J = 101 units in 80 s = 2 slots. Idle: 0.6 W × 60 s = 36 J = 72 units.
    device = {"profile": "pi-zero-2w", "forward_flops": 1e9, "samples": 8, "update_bytes": 2e8}
    board = experiment(device).device[0]
    assert board.name == "pi-zero-2w"
    assert (board.train, board.train_slots, board.transmit, board.transmit_slots) == (42, 1, 101, 2)
    assert (board.idle, board.capacity, board.steps) == (72.0, 53280, 20)
    assert "train_joules: (2 W − 0.6 W idle) × 15 s" in board.origin
    assert "upload: 200000000 bytes over wifi" in board.origin


def test_an_updates_bytes_and_a_samples_operations_are_the_models_where_none_are_given() -> None:
    # The small CNN has 3658 parameters, so an update over LoRa is 8 · 4 · 3658 bits × 24.9 µJ = 2.91 J = 6 units.
    node = experiment({"radio": "lora", "name": "node"}, data={"samples_per_client": 20}).device[0]
    assert "upload: 14632 bytes over lora" in node.origin
    assert (node.transmit, node.transmit_slots) == (6, 1)


def test_what_the_user_says_goes_before_the_profile_and_units_before_joules() -> None:
    device = {"profile": "ble-node", "train": 5, "train_slots": 3, "capacity_joules": 50.0, "transmit": 0}
    node = experiment(device | {"transmit_slots": 1}).device[0]
    assert (node.train, node.train_slots, node.capacity, node.transmit) == (5, 3, 100, 0)
    assert node.idle == pytest.approx(8.7e-6 * 60 / 0.5)


def test_a_calibrated_profile_needs_no_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ntrain_joules = 3.2\ntrain_seconds = 90.0\nprobe_joules = 0.1\nupdate_bytes = 1000\n'
    )
    mine = experiment({"profile": str(path), "radio": "ble", "capacity": 50}).device[0]
    assert (mine.name, mine.train, mine.train_slots, mine.probe, mine.transmit) == ("mine", 7, 2, 1, 1)


def test_the_resolved_config_gives_the_same_experiment_without_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("train_joules = 3.2\ntrain_seconds = 90.0\ncapacity_joules = 30.0")
    first = experiment({"profile": str(path)}, NODE | {"energy": Bernoulli(p=0.3), "steps": 4})
    path.unlink()
    again = Experiment.from_toml(first.to_toml())
    assert again == first
    assert again.to_toml() == first.to_toml()
    assert "profile =" not in first.to_toml()


def test_what_was_given_stays_in_joules_so_that_another_scale_gives_other_units() -> None:
    first = experiment(NODE)
    assert Experiment(**first.given) == first
    assert first.replace(unit_joules=0.1).device[0].train == 32
    assert first.replace(device__node__train_joules=0.4).device[0].train == 1
    assert first.replace(device__0__share=3.0).device[0].share == 3.0


def test_toml_and_objects_make_the_same_experiment(tmp_path: Path) -> None:
    path = tmp_path / "devices.toml"
    path.write_text(
        "clients = 4\nepochs = 3\nslot_seconds = 60.0\nunit_joules = 0.5\npolicy = {k = 2}\n"
        '[[device]]\nname = "node"\ntrain_joules = 3.2\ntrain_seconds = 90\ncapacity_joules = 20.2\n'
        'energy = {model = "bernoulli", p = 0.3}\n[[device]]\nprofile = "ble-node"\nupdate_bytes = 10\n'
        "forward_flops = 1e6\nsamples = 10\n[data]\nsamples_per_client = 10\n"
    )
    ble = {"profile": "ble-node", "update_bytes": 10, "forward_flops": 1e6, "samples": 10}
    read = Experiment.read(path)
    assert read == experiment(NODE | {"energy": Bernoulli(p=0.3)}, ble, data={"samples_per_client": 10})
    assert Experiment.read(path, ["device.node.train_joules=0.4"]).device[0].train == 1
    assert Experiment.read(path, ["device.1.share=0"]).device_classes.tolist() == [0, 0, 0, 0]


def test_a_profiles_name_alone_is_a_class_and_so_is_a_class_of_another_experiment() -> None:
    settings = {"data": {"samples_per_client": 10}}
    assert experiment("ble-node", **settings) == experiment({"profile": "ble-node"}, **settings)
    first = experiment(NODE)
    assert experiment(first.device[0]) == first
    assert experiment(DeviceClass(name="bare", capacity=30)).device[0].capacity == 30


def test_the_physics_of_a_client_is_that_of_its_class() -> None:
    made = experiment(NODE, {"name": "big", "capacity": 99, "share": 3, "transmit": 2}, cost={"train": 21})
    physics = made.build_physics(made.build("policy"))
    assert made.device_classes.tolist() == [0, 1, 1, 1]
    assert physics.capacity.tolist() == [40, 99, 99, 99]
    assert physics.train_cost.tolist() == [7, 21, 21, 21]
    assert physics.train_slots.tolist() == [2, 21, 21, 21]
    assert physics.transmit_cost.tolist() == [1, 2, 2, 2]


def test_without_classes_there_are_none() -> None:
    assert Experiment().device_classes is None
    assert "device" not in Experiment().table()
    assert Experiment(device=[]) == Experiment()


def test_a_class_without_its_own_harvest_has_that_of_a_run_without_classes() -> None:
    alone = Experiment(**SMALL).build_harvest()(1)
    classes = [{"name": "a", "share": 1}, {"name": "b", "share": 1, "energy": {"p": 1.0}}, {"name": "c", "share": 2}]
    mixed = np.array(list(experiment(*classes).build_harvest()(1)))
    assert mixed.shape == (30, 4)
    assert (mixed[:, [0, 2, 3]] == np.array(list(alone))[:, [0, 2, 3]]).all()
    assert (mixed[:, 1] == 1).all()


def test_two_classes_with_one_model_do_not_harvest_alike_and_harvest_the_same_again() -> None:
    classes = [{"name": name, "energy": Bernoulli(p=0.5)} for name in ("a", "b")]
    first, again = (np.array(list(experiment(*classes).build_harvest()(2))) for _ in range(2))
    assert (first == again).all()
    assert (first[:, :2] != first[:, 2:]).any()


def test_samples_of_a_class_are_the_sizes_of_its_clients() -> None:
    made = experiment({"name": "a", "samples": 30}, {"name": "b"}, data={"samples_per_client": 10})
    assert [len(part) for part in split(made, load_dataset(made))] == [30, 30, 10, 10]


def test_a_training_in_joules_has_the_batches_of_cost_train_and_not_its_slots() -> None:
    changes = {"learning": "train", "data": {"samples_per_client": 40}}
    engine = Engine(
        experiment(NODE, {"name": "paper", "train": 10}, {"name": "own", "steps": 3, "share": 2}, **changes)
    )
    assert engine.learner.task.steps.tolist() == [20, 10, 3, 3]
    assert next(iter(engine)).epoch == 0


def test_the_annotated_config_lists_every_key_of_a_class() -> None:
    lines = annotated_toml().partition("# [[device]]\n")[2]
    assert [line.split()[1] for line in lines.splitlines()] == [
        key for key in DeviceClass.model_fields if key != "stated"
    ]


@dataclass(frozen=True)
class Short:
    def prepare(self, seed: int, clients: int, slots_per_epoch: int):
        return lambda _epoch: np.zeros((slots_per_epoch - 1, clients), dtype=np.int32)


@pytest.mark.parametrize(
    ("devices", "changes", "words"),
    [
        ([NODE | {"share": 0}], {}, "The shares of the device classes node are all 0"),
        ([NODE | {"share": -1}], {}, "device[0].share = -1 must be at least 0."),
        ([NODE, {"name": "rare", "share": 0.01}], {}, "'rare' with share = 0.01 of 1.01 gets none of the 4 clients"),
        ([{"profile": "pi-zero"}], {}, "There is no device profile 'pi-zero'; did you mean 'pi-zero-2w'?"),
        ([NODE | {"radio": "bel"}], {}, "There is no radio 'bel'; did you mean 'ble'?"),
        (
            [NODE],
            {"unit_joules": 0.0},
            "The device class 'node' is in joules and seconds, and unit_joules is not stated",
        ),
        (
            [NODE | {"capacity_joules": 3.0}],
            {},
            "'node' can never train: a training takes 3.5 J (7 units), and its battery",
        ),
        ([NODE | {"cutoff_joules": 18}], {}, "has room for 2 J (4 units)"),
        (
            [NODE | {"radio": "lora", "update_bytes": 3.4e6, "capacity_joules": 1e3}],
            {},
            "uploads for 83 slots (4980 s), and an epoch has 30; raise slots_per_epoch or slot_seconds",
        ),
        ([NODE | {"train_joules": -2}], {}, "device[0].train_joules = -2 must be more than 0."),
        ([NODE | {"train_joules": "two"}], {}, "device[0].train_joules = 'two' must be a number."),
        ([NODE | {"trian": 3}], {}, "There is no setting 'device[0].trian'; did you mean 'train'?"),
        ([NODE | {"train": 3}], {}, "'node' states train and train_joules, which is the same twice"),
        ([NODE, NODE], {}, "2 device classes have the name 'node'"),
        ([{"train_joules": 3.0}], {}, "'device-0' has train_joules = 3 and no time; state train_seconds"),
        (
            [{"train_seconds": 3.0}],
            {},
            "'device-0' has a training of 3 s and no joules; state train_joules, or active_watts",
        ),
        (
            [{"train_seconds": 3.0, "active_watts": 1, "idle_watts": 1}],
            {},
            "active_watts = 1, which is not above idle_watts",
        ),
        ([NODE | {"energy": {"p": 2.0}}], {}, "In device[0]: energy.p = 2.0 must be at most 1"),
        ([NODE | {"energy": 3}], {}, "The energy model can't be 3"),
        ([NODE | {"samples": 0}], {}, "device[0].samples = 0 must be at least 1."),
        ([NODE | {"samples": 5}, {"name": "b"}], {}, "The device class 'b' states no samples and others do"),
        ([NODE | {"samples": 5}], {"data": {"sizes": "lognormal"}}, "data.sizes can't be together with device classes"),
        ([NODE | {"stated": {}}], {}, "There is no setting 'device[0].stated'"),
        ([3], {}, "device[0] = 3 must be a table, or the name of a profile."),
        ([NODE | {"capacity_joules": 1e12}], {}, "'node' has capacity_joules = 1e+12, which is 2e+12 units"),
    ],
)
def test_careless_classes_are_one_sentence(devices: list, changes: dict, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        experiment(*devices, **changes)
    assert words in str(caught.value)
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("given", ["pi-zero-2w", {"profile": "pi-zero-2w"}, 3])
def test_what_is_no_list_of_classes_is_one_sentence(given: object) -> None:
    with pytest.raises(ConfigError, match="must be a list of classes"):
        Experiment(device=given)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("device.other.share=1", "there is no 'other'; valid names are node"),
        ("device.7.share=1", "there is no '7'"),
        ("device.share=1", "name one of the tables, as in device.0.share"),
    ],
)
def test_an_override_names_a_class_that_is_there(tmp_path: Path, override: str, words: str) -> None:
    path = tmp_path / "devices.toml"
    path.write_text('[[device]]\nname = "node"\ncapacity = 30\n')
    with pytest.raises(ConfigError) as caught:
        Experiment.read(path, [override])
    assert words in str(caught.value)


def test_an_own_harvest_with_too_few_slots_is_an_error_of_the_model() -> None:
    made = experiment({"name": "a"}, {"name": "b", "energy": Short()})
    with pytest.raises(Exception, match=r"'Short' gave an array of shape \(29, 2\) for an epoch; it must be \(30, 2\)"):
        list(Engine(made))
