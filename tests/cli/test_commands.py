import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fallow import __version__
from fallow.cli import app
from fallow.experiment import Experiment
from fallow.plugins.wording import nearest
from tests.cli.runner import fail, invoke


def test_version() -> None:
    assert invoke(app, "--version") == f"fallow {__version__}\n"


def test_config_prints_a_config_that_reads_back() -> None:
    assert tomllib.loads(invoke(app, "config", "--policy", "fedbacys"))["policy"]["groups"] == 5


def test_config_of_an_unknown_policy_is_one_sentence(capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "config", "--policy", "fedbacis")
    assert (code, words) == (2, "Error: There is no policy 'fedbacis'; did you mean 'fedbacys'?\n")


def test_check_says_that_a_good_policy_is_good() -> None:
    assert invoke(app, "check", "vaoi") == "vaoi keeps its contract.\n"


def test_check_says_what_is_wrong_and_exits_with_1() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "fallow", "check", "tests.policies.test_check:Greedy"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 1
    assert "more than its k = 2" in result.stdout


def test_a_policy_next_to_the_user_is_found(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "my_policy.py"
    (tmp_path / "my_policy.py").write_text(example.read_text())
    result = subprocess.run(
        [str(Path(sys.executable).with_name("fallow")), "check", "my_policy:LuckyFew"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "my_policy:LuckyFew keeps its contract.\n"


def test_check_of_nothing_that_exists_is_one_sentence(capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "check", "my_modul:MyPolicy")
    assert code == 2
    assert "importing 'my_modul' failed with ModuleNotFoundError" in words


def test_a_module_that_exits_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    (tmp_path / "exits_at_import.py").write_text("import sys; sys.exit('bye')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, words = fail(capsys, monkeypatch, "check", "exits_at_import:MyPolicy")
    assert code == 2
    assert words.endswith("importing 'exits_at_import' failed with SystemExit: bye.\n")


def test_check_takes_the_options_of_a_policy(capsys, monkeypatch) -> None:
    name = "tests.policies.test_check:Demanding"
    code, words = fail(capsys, monkeypatch, "check", name)
    assert (code, words) == (2, f"Error: The policy '{name}' needs the option 'share'; set share.\n")
    for setting in ("share=0.5", "policy.share=0.5"):
        assert invoke(app, "check", name, "--set", setting) == f"{name} keeps its contract.\n"
    for setting, wrong in (("share=half", "share = 'half' must be a number"), ("shar=1", "did you mean 'share'?")):
        code, words = fail(capsys, monkeypatch, "check", name, "--set", setting)
        assert code == 2
        assert wrong in words
    invoke(app, "check", "vaoi", "--set", "k=3", "--set", "reset=aggregated")


@pytest.mark.parametrize("name", ["NoInit", "bads", "nope"])
def test_what_is_far_from_every_name_is_answered_with_the_list(name: str, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "check", name)
    assert code == 2
    assert words.startswith(f"Error: There is no part '{name}'; valid names are all, auto, balanced-softmax,")
    code, words = fail(capsys, monkeypatch, "check", name, "--kind", "policy")
    assert code == 2
    assert words.startswith(f"Error: There is no policy '{name}'; valid names are battery-weighted, cycp,")
    assert nearest(name, Experiment.model_fields) is None
