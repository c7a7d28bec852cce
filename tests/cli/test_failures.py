"""What a user is told when a command ends in an error: one sentence, or a sentence and what to send."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runner import fail

DEEP = "[" * 3000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", f"--set=seed={'9' * 6000}"], "(Exceeds the limit (4300 digits) for integer string conversion"),
        (
            ["run", f"--set=seed=0x{'f' * 5000}"],
            "value, a whole number of about 6021 digits, must be at most 9223372036854",
        ),
        (["run", f"--set=battery.capacity={DEEP}"], "There are more than 16 tables or lists inside each other."),
        (["run", f"--set={'a.' * 3000}b=1"], "no setting has a name of 3001 parts."),
        (["run", "--set=seed=1\nclients=5"], "'1\\nclients=5' holds more than one setting; give each by itself."),
        (
            ["run", r'--set=energy.path="a\u0000b"'],
            "value = 'a\\x00b' holds the character NUL, which no name or path can; remove it.",
        ),
        (["run", "--set=sgd.lr=1e39"], "value = 1e+39 must be at most 3.4028234e+38, the limit of float32."),
        (["run", "--out=a\0b"], "The argument '--out=a\\x00b' is no text in UTF-8, in which runs are kept; rename it."),
        (
            ["run", "--out", "runs/\udcff"],
            "'runs/\\udcff' is no text in UTF-8, in which runs are kept; rename it.",
        ),
        (
            ["compare", f"--seeds={10**20}"],
            f"'--seeds': {10**20} is not in the range 1<=x<=10000; `fallow compare --help`",
        ),
        (["paper", f"--seeds={10**20}"], "is not in the range 1<=x<=10000"),
        (
            ["paper", "--set=policy.name=fedavg"],
            "policy.name can't be set for all runs: it differs from run to run; `fallow",
        ),
        (["paper", "--set=seed=5"], "seed can't be set for all runs: it differs from run to run; use --seeds."),
        (["compare", "--set=policy . name=fedavg"], "policy.name can't be set for all runs"),
        (["run", "--set=policy.name=a:b:c"], "The policy 'a:b:c' can't be loaded"),
        (["run", "--set=policy.name=[/]\x1b[31m"], "There is no policy '[/]\\x1b[31m'"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_hostile_words_are_answered_in_one_sentence(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, said = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert words in said
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    assert len(said) < 1100
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_option_is_one_sentence_too(capsys, monkeypatch):
    code, said = fail(capsys, monkeypatch, "run", "--foo")
    assert (code, said) == (2, "Error: No such option: --foo Did you mean --out?\n")
    code, said = fail(capsys, monkeypatch, "show")
    assert (code, said) == (2, "Error: Missing argument 'DIRECTORY'; `fallow show --help` lists what there is.\n")


def broken(*_: object, **__: object) -> None:
    raise KeyError("a thing\nof two lines")


def test_a_bug_is_a_sentence_with_its_place_and_what_to_send(capsys, monkeypatch):
    monkeypatch.setattr("fallow.experiment.catalogue.installed", broken)
    code, said = fail(capsys, monkeypatch, "list")
    assert code == 70
    first, second = said.splitlines()
    assert first.startswith(
        "Error: This is a bug in Fallow 0.1.0: KeyError: 'a thing\\nof two lines' (cli/test_failures.py, line "
    )
    assert second.startswith(
        "To report it, send this line, the command, its config, and what the same command prints after"
    )
    assert "FALLOW_TRACEBACK=1" in second


def test_the_traceback_is_there_for_those_who_ask(capsys, monkeypatch):
    monkeypatch.setattr("fallow.experiment.catalogue.installed", broken)
    monkeypatch.setenv("FALLOW_TRACEBACK", "1")
    code, said = fail(capsys, monkeypatch, "list")
    assert code == 70
    assert said.startswith("Traceback (most recent call last):")
    assert "in broken" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate 9 TiB"), "This takes more memory than there is; make the data, the model or"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "This takes more memory than there is"),
        (PermissionError(13, "Permission denied", "runs/x"), "runs/x: Permission denied."),
    ],
)
def test_what_the_machine_refuses_is_no_bug(error, words, capsys, monkeypatch):
    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("fallow.experiment.catalogue.installed", refused)
    code, said = fail(capsys, monkeypatch, "list")
    assert (code, said.count("\n")) == (2, 1)
    assert words in said


def test_a_name_that_is_not_utf8_is_refused_before_anything_is_written(tmp_path: Path):
    command = [sys.executable, "-m", "fallow", "run", "--set=epochs=1", "--out", b"x\xff"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"Error: The argument 'x\\udcff' is no text in UTF-8, in which runs are kept; rename it.\n"
    assert list(tmp_path.iterdir()) == []
