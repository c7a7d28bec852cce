"""Event files, read back by TensorBoard."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.plugins.nested import flatten
from tests.cli.runner import invoke
from tests.e2e.test_resume import TRAIN, begin
from tests.trackers.points import accumulate, as_float32, table_points, tensorboard_points

TRACKED = {"output": {"checkpoint_every": 3, "trackers": ["tensorboard"]}}


@pytest.mark.parametrize("settings", [{}, TRAIN], ids=["energy", "learning"])
def test_scalars_are_the_columns_of_the_table(settings: dict, tmp_path: Path) -> None:
    begin(tmp_path / "run", 10, **settings, **TRACKED)
    expected = table_points(tmp_path / "run")
    assert tensorboard_points(tmp_path / "run") == as_float32(expected)
    assert {step for _, step in expected} == set(range(10))
    assert ("recall_9", 9) in expected or not settings


@pytest.mark.parametrize("pause", [0.0, 1e9], ids=["at once", "at checkpoints"])
@pytest.mark.parametrize("epochs", [0, 2, 3, 4, 8])
def test_after_a_stop_no_point_is_doubled_or_lost(epochs: int, pause: float, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.runs.tracking.PAUSE", pause)
    begin(tmp_path / "run", epochs, **TRACKED)
    told = {step for _, step in tensorboard_points(tmp_path / "run")}
    assert told == set(range(epochs if pause == 0 else epochs // 3 * 3))
    invoke(app, "resume", str(tmp_path / "run"))
    assert tensorboard_points(tmp_path / "run") == as_float32(table_points(tmp_path / "run"))
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 2


def test_a_record_cut_by_a_kill_hides_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.runs.tracking.PAUSE", 0.0)
    begin(tmp_path / "run", 5, **TRACKED)
    (file,) = (tmp_path / "run" / "tensorboard").iterdir()
    file.write_bytes(file.read_bytes()[:-7])
    assert {step for _, step in tensorboard_points(tmp_path / "run")} == {0, 1, 2, 3}
    invoke(app, "resume", str(tmp_path / "run"))
    assert tensorboard_points(tmp_path / "run") == as_float32(table_points(tmp_path / "run"))


@pytest.mark.parametrize("epochs", [2, 5, 10])
def test_settings_are_there_once_as_hyper_parameters(epochs: int, tmp_path: Path) -> None:
    from tensorboard.plugins.hparams.metadata import parse_session_start_info_plugin_data

    begin(tmp_path / "run", epochs, **TRACKED, battery={"capacity": list(range(9, 21))})
    if epochs < 10:
        invoke(app, "resume", str(tmp_path / "run"))
    events = accumulate(tmp_path / "run")
    ((tag, content),) = events.PluginTagToContent("hparams").items()
    assert len(events.Tensors(tag)) == 1
    found = parse_session_start_info_plugin_data(content).hparams
    settings = flatten(tomllib.loads((tmp_path / "run" / "config.toml").read_text()))
    assert found.keys() == settings.keys()
    assert found["policy.name"].string_value == "vaoi"
    assert found["energy.p"].number_value == 0.5
    assert found["output.events"].bool_value is True
    assert found["battery.capacity"].string_value == "[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]"


def test_an_energy_only_run_loads_no_torch_for_it(tmp_path: Path) -> None:
    code = (
        "import sys; from fallow.cli import app; "
        "app(['run', '--set', 'epochs=2', '--set', 'output.trackers=tensorboard', '--out', sys.argv[1]], "
        "standalone_mode=False); sys.exit(bool({'torch', 'tensorflow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=False).returncode == 0
    assert tensorboard_points(tmp_path / "run") == as_float32(table_points(tmp_path / "run"))
