import operator
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from pandas.testing import assert_frame_equal

import fallow
import fallow.runs.execute
import fallow.runs.run
from fallow.cli import app
from fallow.errors import FallowError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.execute import run as run_experiment
from fallow.runs.reader import read_model
from fallow.runs.run import Run
from fallow.runs.uses import cumulate_uses
from tests.cli.runner import invoke
from tests.e2e.test_resume import begin
from tests.reports.made_runs import make_up


def test_a_run_is_read_as_frames(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=5", "--set", "energy.p=1", "--out", str(tmp_path / "run"))
    run = fallow.load(tmp_path / "run")
    assert run.settings["epochs"] == len(run.epochs) == 5
    assert (run.events.kind == "start").sum() == run.epochs.starts.sum() == run.summary["starts"]


def test_a_run_without_events_has_none(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=2", "--set", "output.events=false", "--out", str(tmp_path / "run"))
    assert fallow.load(str(tmp_path / "run")).events is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("summary.json", b"{", "can't be read: Expecting property name"),
        ("summary.json", b"[]", "has no 'policy'"),
        ("summary.json", b'{"policy": "vaoi", "clients": "many"}', "has no 'clients'"),
        ("epochs.csv", None, "can't be read: No such file or directory."),
        ("epochs.csv", b"", "has no column 'epoch'"),
        ("epochs.csv", b"\xff\xfe\x00", "can't be read: 'utf-8' codec"),
        ("epochs.csv", b"hello\n", "has no column 'epoch'"),
        ("events.parquet", None, "can't be read: No such file or directory."),
        ("events.parquet", b"hello", "can't be read: Parquet file size is 5 bytes"),
        ("events.parquet", b"PAR1" + 40 * b"\xff" + b"\x20\x00\x00\x00PAR1", "can't be read: Could"),
    ],
)
def test_a_damaged_run_is_one_sentence(name: str, content: bytes | None, words: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    invoke(app, "run", "--set", "epochs=2", "--set", "clients=3", "--set", "policy.k=1", "--out", str(run))
    (run / name).unlink()
    if content is not None:
        (run / name).write_bytes(content)
    with pytest.raises(RunDirectoryError) as caught:
        _ = operator.attrgetter(name.split(".")[0])(fallow.load(run))
    sentence = str(caught.value)
    assert sentence.startswith(f"{run / name} {words}")
    assert "\n" not in sentence
    assert ".." not in sentence.removeprefix(str(run))


TRAIN = {"learning": {"mode": "train", "eval_every": 2}, "data": {"samples_per_client": 20}}
SMALL = {"clients": 6, "epochs": 5, "policy": {"k": 2}, "energy": {"p": 0.8}, "cost": {"train": 4}}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """The same learning run in memory and on the disk."""
    experiment = Experiment.parse(SMALL | TRAIN | {"compute": {"strategy": "stacked", "workers": 1}})
    directory = tmp_path_factory.mktemp("runs") / "run"
    return run_experiment(experiment, progress=False), run_experiment(experiment, directory, progress=False)


def test_a_run_in_memory_is_the_run_on_the_disk(both: tuple[Run, Run]) -> None:
    memory, disk = both
    assert (memory.settings, memory.summary, memory.finished) == (disk.settings, disk.summary, True)
    for name in ("epochs", "events", "clients"):
        assert_frame_equal(getattr(memory, name), getattr(disk, name))
    assert memory.directory is None
    assert memory.epochs.f1.notna().sum() == 3


def test_a_frame_is_made_once(both: tuple[Run, Run]) -> None:
    for run in both:
        assert run.epochs is run.epochs


def test_the_model_has_the_final_weights(both: tuple[Run, Run]) -> None:
    import torch

    memory, disk = (run.model().state_dict() for run in both)
    saved = read_model(both[1].directory)
    assert list(memory) == list(disk)
    for name, weights in memory.items():
        assert torch.equal(weights, disk[name])
        assert np.array_equal(weights.numpy(), saved[name])
    assert both[0].model() is not both[0].model()  # the engine's own stays out of reach


def test_an_energy_only_run_has_no_model(tmp_path: Path) -> None:
    experiment = Experiment.parse(SMALL)
    for run in (run_experiment(experiment, progress=False), run_experiment(experiment, tmp_path, progress=False)):
        with pytest.raises(FallowError, match=r"learnt nothing \(learning.mode = 'none'\)"):
            run.model()


def test_a_model_that_is_not_the_configs_is_one_sentence(both: tuple[Run, Run], tmp_path: Path) -> None:
    shutil.copytree(both[1].directory, tmp_path / "run")
    config = tmp_path / "run" / "config.toml"
    config.write_text(config.read_text().replace('name = "auto"', 'name = "paper-cnn"'))
    with pytest.raises(RunDirectoryError, match=r"model.safetensors does not fit the model that .* config describes"):
        fallow.load(tmp_path / "run").model()


def test_a_column_is_plotted_against_another(both: tuple[Run, Run]) -> None:
    run = both[0]
    ax = Figure().add_subplot()
    assert run.plot("f1", ax, against="energy_total") is ax
    (line,) = ax.lines
    measured = run.epochs.dropna(subset="f1")
    assert line.get_xdata().tolist() == measured.energy_total.tolist()
    assert line.get_ydata().tolist() == measured.f1.tolist()
    assert (ax.get_xlabel(), ax.get_ylabel(), line.get_label()) == ("energy_total", "f1", "vaoi")


def test_energy_by_use_is_stacked_up_to_the_harvest(both: tuple[Run, Run]) -> None:
    run = both[0]
    ax = run.plot("energy", Figure().add_subplot())
    assert [area.get_label() for area in ax.collections] == list(cumulate_uses(run.epochs))
    top = ax.collections[-1].get_paths()[0].get_extents().y1
    assert top == run.epochs["harvested"].sum() == cumulate_uses(run.epochs).iloc[-1].sum()


def test_a_plot_without_axes_makes_a_figure(both: tuple[Run, Run]) -> None:
    mpl.use("agg")
    ax = both[0].plot("stored")
    assert len(ax.lines[0].get_xdata()) == 5
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("what", "against", "words"),
    [
        ("uplods", "epoch", "have no column 'uplods'; did you mean 'uploads'?"),
        ("f1", "energy_totl", "have no column 'energy_totl'; did you mean 'energy_total'?"),
    ],
)
def test_an_unknown_column_is_one_sentence(what: str, against: str, words: str, both: tuple[Run, Run]) -> None:
    with pytest.raises(FallowError, match=f"^The epochs of this run {re.escape(words)}$"):
        both[0].plot(what, against=against)


def test_what_was_not_measured_can_not_be_plotted(tmp_path: Path) -> None:
    run = fallow.load(make_up(tmp_path / "run", epochs=5, ages=False))
    with pytest.raises(FallowError, match=r"^'mean_age_delivered' was not measured in this run"):
        run.plot("mean_age_delivered")


def test_a_notebook_shows_the_totals(both: tuple[Run, Run]) -> None:
    html = both[0]._repr_html_()
    assert "<caption>vaoi: 6 clients, 5 epochs</caption>" in html
    assert f"<td>{both[0].summary['energy_total']} units</td>" in html
    assert repr(both[0]) == "Run(vaoi, 6 clients, 5 of 5 epochs, in memory)"


def test_names_can_not_become_markup(tmp_path: Path) -> None:
    run = fallow.load(make_up(tmp_path / "run", policy="<img src=x onerror=alert(1)>", epochs=5))
    assert "<img" not in run._repr_html_()


def test_an_unfinished_run_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    begin(tmp_path / "run", 7)
    run = fallow.load(tmp_path / "run")
    assert (run.finished, run.summary, run.clients) == (False, None, None)
    assert len(run.epochs) == 7
    assert run.events.epoch.max() == 5  # the last checkpoint was after six epochs
    assert "7 of 10 epochs" in run._repr_html_()
    with pytest.raises(RunDirectoryError, match="has no model: it is not finished"):
        run.model()


SCARCE = {"clients": 10, "epochs": 30, "energy": {"p": 0.01}}


def test_a_run_in_which_nobody_trained_says_so_in_a_notebook_and_in_a_line() -> None:
    run = fallow.run(Experiment.parse(SCARCE), progress=False)
    assert run.summary["starts"] == 0
    mean = run.summary["harvested"] / 10
    assert repr(run) == "Run(vaoi, 10 clients, 30 of 30 epochs, nobody trained, in memory)"
    assert (
        "<p>Nobody trained: a training starts with 20 units in the battery and its upload takes 1, and the mean client "
        f"harvested {mean:.3g} in 30 epochs. It takes more epochs, more harvest or a cheaper training.</p>"
    ) in run._repr_html_()


def test_that_nobody_will_train_is_said_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "Note: a training starts with 20 units in the battery and its upload takes 1, but the mean client will harvest "
        "about 9 in 30 epochs: few will train, or none.\n"
    )
    fallow.run(Experiment.parse(SCARCE))
    assert capsys.readouterr().err == words
    fallow.run(Experiment.parse(SCARCE), progress=False)
    fallow.run(Experiment.parse(SCARCE | {"battery": {"initial": 11}}))  # 11 + 9 = 20
    fallow.run(Experiment.parse(SCARCE | {"policy": "unlimited"}))  # for whom energy is no limit
    assert capsys.readouterr().err == ""


def test_one_class_of_devices_that_can_train_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    rich = {"name": "rich", "share": 0.5, "energy": {"p": 0.5}}
    fallow.run(Experiment.parse(SCARCE | {"device": [{"name": "poor", "share": 0.5}, rich]}))
    assert capsys.readouterr().err == ""


@dataclass(frozen=True)
class Meanless:
    """Harvests one unit in every slot, and fails to say its mean."""

    def prepare(self, seed, clients, slots_per_epoch):
        return lambda _epoch: np.ones((slots_per_epoch, clients), dtype=np.int64)

    def mean(self, clients):
        raise ZeroDivisionError


@dataclass(frozen=True)
class Lamp:
    """A lamp that is always on, and begins never again: it has no mean."""

    def at(self, _time):
        return 1.0


@pytest.mark.parametrize(
    "energy", [{"model": Meanless()}, {"model": "signal", "of": f"{__name__}:Lamp"}], ids=["fails", "has none"]
)
def test_a_mean_that_can_not_be_had_stops_no_run(energy: dict, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"clients": 2, "epochs": 2, "slot_seconds": 1.0, "unit_joules": 1.0, "policy": "fedavg"}
    assert fallow.run(Experiment(**settings, energy=energy)).finished
    assert capsys.readouterr().err == ""


def test_nobody_trained_because_nobody_was_selected() -> None:
    settings = {"clients": 2, "epochs": 3, "energy": {"p": 1.0}, "policy": f"{__name__}:Nobody"}
    run = fallow.run(Experiment.parse(settings), progress=False)
    assert (
        "<p>Nobody trained, although the mean client harvested 90 in 3 epochs: a training starts with 20 units in the "
        "battery and its upload takes 1, and the policy selected nobody.</p>"
    ) in run._repr_html_()


@dataclass(frozen=True)
class Nobody:
    """Selects nobody."""

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.zeros(view.clients, dtype=bool)
