import json
import subprocess
import sys
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.policies import POLICIES
from tests.cli.runner import fail, invoke


def test_list_has_a_line_for_everything_with_a_name() -> None:
    words = invoke(app, "list")
    found = json.loads(invoke(app, "list", "--json"))
    assert found["policy.name"].keys() == POLICIES.keys()
    assert set(found) == {
        "energy.model",
        "policy.name",
        "data.name",
        "data.partition",
        "model.name",
        "objective.name",
        "aggregation.name",
        "staleness.name",
        "output.trackers",
    }
    for names in found.values():
        for name, line in names.items():
            assert name in words
            assert line.endswith((".", ":")), name


def test_list_says_what_each_policy_needs_and_what_breaks_privacy() -> None:
    found = json.loads(invoke(app, "list", "policies", "--json"))["policy.name"]
    assert found["fedavg"].endswith(" Needs: batteries.")
    assert found["vaoi"].endswith(" Needs: distance of features.")
    needs = "training loss, data size, participation, forecast of 4 epochs"
    assert found["fedzero"].endswith(f" Needs: {needs}; with forecast_by = model: {needs} by the energy model.")
    assert found["label-balanced"].endswith(" Needs: moments; with by = labels: label mix (breaks privacy).")
    assert "with by = labels" in " ".join(invoke(app, "list", "policies").split())


def test_show_prints_a_run_in_words_and_as_json(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=3", "--out", str(tmp_path / "run"))
    words = invoke(app, "show", str(tmp_path / "run"))
    assert "energy consumed" in words
    assert (
        "Nobody trained: a training starts with 20 units in the battery and its upload takes 1, and the mean" in words
    )
    summary = json.loads(invoke(app, "show", str(tmp_path / "run"), "--json"))
    assert summary == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_show_of_what_is_no_finished_run_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "show", str(tmp_path))
    assert code == 2
    assert "is no run directory" in words
    invoke(app, "run", "--set", "epochs=3", "--out", str(tmp_path / "run"))
    code, words = fail(capsys, monkeypatch, "show", str(tmp_path))
    assert code == 2
    assert f"is no run directory: it holds 1; give one, such as {tmp_path / 'run'}." in words
    (tmp_path / "run" / "summary.json").unlink()
    code, words = fail(capsys, monkeypatch, "show", str(tmp_path / "run"))
    assert code == 2
    assert "is not finished (no checkpoint yet); `fallow resume" in words


@pytest.mark.parametrize(
    ("text", "words"), [("{", "can't be read"), ("{}", "has no 'policy'"), ("[]", "has no 'policy'")]
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_show_of_a_damaged_summary_is_one_sentence(form, text, words, tmp_path: Path, capsys, monkeypatch) -> None:
    invoke(app, "run", "--set", "epochs=2", "--out", str(tmp_path / "run"))
    (tmp_path / "run" / "summary.json").write_text(text)
    code, said = fail(capsys, monkeypatch, "show", str(tmp_path / "run"), *form)
    assert code == 2
    assert f"summary.json {words}" in said
    assert said.count("\n") == 1


def test_ages_that_were_not_measured_are_said_so(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=2", "--out", str(tmp_path / "run"))
    path = tmp_path / "run" / "summary.json"
    summary = json.loads(path.read_text()) | {"mean_age_selected": None, "mean_age_delivered": None}
    path.write_text(json.dumps(summary))
    words = invoke(app, "show", str(tmp_path / "run"))
    assert words.count("not measured") == 2
    assert "clients that never delivered" in words


def test_show_loads_nothing_that_it_does_not_print() -> None:
    """`fallow.cli` is an empty package here: what its other commands load is not the question."""
    heavy = "('pyarrow', 'pandas', 'scipy', 'matplotlib', 'torch', 'fallow.experiment', 'fallow.simulation.engine')"
    code = (
        "import sys, types; import fallow; cli = types.ModuleType('fallow.cli'); "
        "cli.__path__ = [fallow.__path__[0] + '/cli']; sys.modules['fallow.cli'] = cli; "
        f"import fallow.cli.show; print([name for name in {heavy} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "[]"
