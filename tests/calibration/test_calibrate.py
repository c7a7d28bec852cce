"""fallow.calibrate from end to end: what is timed, what is computed, what is written, what is refused."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

import fallow
from fallow.calibration.machine import describe_machine
from fallow.calibration.options import check_options
from fallow.calibration.result import Calibration
from fallow.calibration.work import USUAL_SHAPES, prepare_work
from fallow.errors import FallowError
from fallow.learning.local import train
from fallow.learning.network import build_network
from fallow.models import MODELS, SmallCNN
from fallow.models.paper_cnn import PaperCNN
from tests.calibration.machines import PMIC, answering, battery, fill, ina3221, rapl_zone, vcgencmd

NOWHERE: dict[str, Any] = {"sysfs": "/nonexistent", "vcgencmd": "no-such-command", "progress": False}


def normalised(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """A user's network with batch normalisation: 2 running statistics of 4 numbers."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(int(np.prod(input_shape)), 4), nn.BatchNorm1d(4), nn.Linear(4, classes)
    )


def broken(input_shape: tuple[int, ...], classes: int) -> nn.Module:  # noqa: ARG001
    raise RuntimeError("no such layer")


def measure(model: Any = "small-cnn", **options: Any) -> Calibration:
    small = {"samples": 12, "steps": 3, "eval_samples": 5, "repeats": 3}
    return fallow.calibrate(model, **NOWHERE | small | options)


def test_without_a_meter_or_watts_there_are_seconds_and_bytes_and_a_sentence() -> None:
    found = measure()
    assert (found.joules, found.joules_in_all, found.idle_watts) == (None, None, None)
    assert found.notes == (
        "There are no joules: this machine has no meter that answers (ina3221, pmic, rapl, battery), and no watts "
        "(--watts) are stated.",
    )
    assert all(figure.kind == "measured" and figure.value > 0 for figure in vars(found.seconds).values())
    assert found.update_bytes.value == 4 * 3658
    assert (found.batch, found.threads) == (4, 1)


def test_stated_watts_make_joules() -> None:
    found = measure(watts=3.2, idle_watts=1.2)
    for work, seconds in vars(found.seconds).items():
        assert vars(found.joules)[work].value == pytest.approx(2.0 * seconds.value)
        assert vars(found.joules_in_all)[work].value == pytest.approx(3.2 * seconds.value)
    assert found.joules.probe.how.startswith("(3.2 W − 1.2 W) × ")
    assert repr(found.idle_watts) == "1.2 W (stated)"
    assert found.notes == ()


def test_stated_watts_leave_meters_alone(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, "0", "package-0") / "energy_uj").write_text("n/a\n")
    assert measure(watts=3.2, sysfs=tmp_path).notes == ()


@pytest.mark.parametrize("meter", ["ina3221", "battery", "pmic"])
def test_a_power_meter_makes_joules(meter: str, tmp_path: Path) -> None:
    if meter == "ina3221":
        ina3221(tmp_path, in1_input=5000, curr1_input=640)
    elif meter == "battery":
        battery(tmp_path, power_now=3_200_000)
    command = vcgencmd(tmp_path, answering(PMIC) if meter == "pmic" else "exit 0")
    found = measure(sysfs=tmp_path, vcgencmd=command, window=0.02)
    assert found.idle_watts.value == pytest.approx(3.2)
    assert found.joules_in_all.training.kind == "measured"
    assert found.joules_in_all.training.value > 0
    assert f"by {meter} (" in found.joules.training.how
    # A constant power is all idle, and that is said.
    assert found.joules.training.value == pytest.approx(0, abs=1e-9)
    assert "saw no more power at work than without (step, training, probe, evaluation)" in found.notes[0]


def test_a_meter_that_does_not_answer_is_named_and_seconds_are_measured(tmp_path: Path) -> None:
    (rapl_zone(tmp_path, "0", "package-0") / "energy_uj").write_text("n/a\n")
    found = measure(sysfs=tmp_path)
    assert "energy_uj says 'n/a'" in found.notes[0]
    assert found.notes[1].startswith("There are no joules")


def test_no_meter_is_read_where_none_is_wanted(tmp_path: Path) -> None:
    ina3221(tmp_path, in1_input=5000, curr1_input=640)
    assert measure(sysfs=tmp_path, meter="none").notes == (
        "There are no joules: no meter was wanted, and no watts (--watts) are stated.",
    )


def test_what_is_timed_is_a_nodes_training(monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[list[int]] = []

    def spy(network, weights, training, samples, sgd):
        trained.append([len(batch) for batch in training.batches()])
        return train(network, weights, training, samples, sgd)

    monkeypatch.setattr("fallow.calibration.work.train", spy)
    work = prepare_work("small-cnn", None, options(samples=10, steps=4))
    work.training()
    work.step()
    work.workers.close()
    assert trained == [[3, 3, 3, 1], [3]]  # ⌈10/4⌉ = 3


def options(**given: Any) -> Any:
    usual = {"samples": 12, "steps": 3, "eval_samples": 5, "threads": 1, "repeats": 1, "budget": 1.0}
    return check_options(**usual | given)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_of_ours_takes_its_usual_shape(name: str) -> None:
    network = build_network(MODELS[name](), USUAL_SHAPES[name], 10, seed=0)
    assert network.classes == 10


def test_running_statistics_travel_with_an_update() -> None:
    found = measure(normalised, input_shape=(1, 2, 2), classes=3)
    # (4·4 + 4) + (4 + 4) + (4·3 + 3) = 43 parameters; a mean and a variance of 4 each.
    assert repr(found.update_bytes) == "204 bytes (computed: 4 bytes × (43 parameters + 8 running statistics))"
    assert (found.parameters, found.statistics) == (43, 8)


def test_a_dataset_gives_its_samples_and_its_test_set() -> None:
    found = measure("small-cnn", data="digits", eval_samples=0)
    assert (found.input_shape, found.eval_samples) == ((1, 8, 8), 297)


def test_options_of_a_model_are_part_of_its_name() -> None:
    assert measure(PaperCNN(width=0.125), input_shape=(1, 8, 8)).model == "paper-cnn(width=0.125)"
    assert measure(SmallCNN()).model == "small-cnn"


def test_the_profile_has_figures_with_their_origins(tmp_path: Path) -> None:
    out = tmp_path / "device.toml"
    found = measure(watts=3.2, idle_watts=1.2, out=out, name="my-node")
    profile = tomllib.loads(out.read_text())
    assert profile == tomllib.loads(found.to_toml())
    figures = ["train_joules", "train_seconds", "probe_joules", "probe_seconds", "update_bytes", "idle_watts"]
    assert list(profile) == [
        "name",
        *(key for figure in figures for key in (figure, f"{figure}_origin")),
        "calibration",
    ]
    assert profile["name"] == "my-node"
    assert profile["train_joules"] == pytest.approx(2.0 * profile["train_seconds"], rel=1e-5)
    assert profile["train_joules_origin"].startswith("computed: (3.2 W − 1.2 W) × ")
    assert profile["train_seconds_origin"].startswith(f"measured on {found.machine}: median of 3, middle half ")
    assert profile["idle_watts_origin"] == "stated"
    assert profile["update_bytes"] == 14632
    rest = profile["calibration"]
    assert (rest["model"], rest["samples"], rest["steps"], rest["threads"]) == ("small-cnn", 12, 3, 1)
    assert rest["train_joules_in_all"] == pytest.approx(3.2 * profile["train_seconds"], rel=1e-5)


def test_a_profile_without_joules_has_no_keys_for_them(tmp_path: Path) -> None:
    profile = tomllib.loads(measure(out=tmp_path / "device.toml").save(tmp_path / "again.toml").read_text())
    assert not [key for key in profile if "joules" in key or "watts" in key]


def test_a_profile_is_replaced_only_if_that_is_wanted(tmp_path: Path) -> None:
    out = fill(tmp_path, **{"device.toml": "mine"}) / "device.toml"
    with pytest.raises(FallowError, match=r"is there already; choose another out \(--out\), or replace it with"):
        measure(out=out)
    assert out.read_text() == "mine\n"
    measure(out=out, overwrite=True)
    assert out.read_text().startswith("name = ")


def test_people_and_notebooks_see_a_table() -> None:
    found = measure(watts=3.2)
    assert repr(found).startswith("Calibration of small-cnn: a training takes ")
    assert repr(found).endswith(" J, an update 14,632 bytes")
    assert str(found).count("\n") == 1 + 4 * 2 - 1 + 1  # a title, seconds and joules of four works, the update
    assert "<td>14,632 bytes</td>" in found._repr_html_()


def test_a_board_says_its_name(tmp_path: Path) -> None:
    fill(tmp_path / "firmware" / "devicetree" / "base", model="Raspberry Pi 5 Model B Rev 1.0\0")
    assert describe_machine(tmp_path) == "Raspberry Pi 5 Model B Rev 1.0"
    assert measure(sysfs=tmp_path).name == "raspberry-pi-5-model-b-rev-1-0"


SLIPS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown model": ({"model": "paper-cn"}, "There is no model 'paper-cn'; did you mean 'paper-cnn'?"),
    "no model": ({"model": None}, "The model can't be None"),
    "negative watts": ({"watts": -1.0}, "watts = -1.0 must be more than 0"),
    "watts in words": ({"watts": "three"}, "watts = 'three' must be a number."),
    "infinite watts": ({"watts": float("inf")}, "watts = inf must be a finite number."),
    "idle alone": ({"idle_watts": 1.0}, "state watts (--watts) at work too."),
    "idle above active": ({"watts": 1.0, "idle_watts": 2.0}, "= 2.0 is more than watts (--watts) = 1.0"),
    "watts and a meter": ({"watts": 1.0, "meter": "rapl"}, "choose one of the two."),
    "no repeats": ({"repeats": 0}, "repeats = 0 must be at least 1."),
    "half a repeat": ({"repeats": 1.5}, "repeats = 1.5 must be a whole number."),
    "no samples": ({"samples": 0}, "samples = 0 must be at least 1."),
    "too many samples": ({"samples": 10**9}, "samples = 1000000000 must be at most 1000000."),
    "no threads": ({"threads": 0}, "threads = 0 must be at least 1."),
    "no budget": ({"budget": 0.0}, "budget = 0.0 must be more than 0"),
    "shape in words": ({"input_shape": "3,x"}, "must be whole numbers with commas, as in 3,32,32."),
    "shape of zero": ({"input_shape": (0, 8, 8)}, "input_shape[0] = 0 must be at least 1."),
    "huge shape": ({"input_shape": (10**5, 10**5, 10**5)}, "do not fit into memory; state fewer samples"),
    "wrong shape": ({"input_shape": (64,)}, "The model 'small-cnn' takes images"),
    "one class": ({"classes": 1}, "classes = 1 must be at least 2."),
    "shape beside data": ({"data": "digits", "input_shape": (1, 8, 8)}, "is for random data; the dataset 'digits'"),
    "more than there is": ({"data": "digits", "samples": 5000}, "samples (--samples) = 5000 is more than the 1500"),
    "unknown data": ({"data": "digit"}, "There is no dataset 'digit'; did you mean 'digits'?"),
    "no shape": ({"model": normalised}, "does not say what inputs it takes; state input_shape (--input-shape 3,32,32)"),
    "a factory with a bug": (
        {"model": broken, "input_shape": (4,)},
        "can't be built for inputs of shape (4,) and 10 classes: RuntimeError: no such layer.",
    ),
    "one sample": (
        {"model": normalised, "input_shape": (4,), "samples": 1},
        "Client 0 has 1 of the at least 2 samples",
    ),
    "unknown meter": ({"meter": "rappl"}, "There is no meter 'rappl'; did you mean 'rapl'?"),
    "no such folder": ({"out": "/nonexistent/device.toml"}, "There is no folder /nonexistent for device.toml; make it"),
    "a folder": ({"out": "/"}, "/ is a folder; name a file"),
    "no path": ({"out": 5}, "out = 5 must be the path of a file"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_sentence(slip: str) -> None:
    given, words = SLIPS[slip]
    with pytest.raises(FallowError) as caught:
        measure(**given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_slip_is_found_only_after_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("work was done")

    monkeypatch.setattr("fallow.calibration.calibrate.time_calls", never)
    for given, _ in SLIPS.values():
        with pytest.raises(FallowError):
            measure(**given)
