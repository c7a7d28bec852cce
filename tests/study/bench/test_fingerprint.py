"""Which changes of the code make results another version's."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fallow.experiment import Experiment
from fallow.study.bench import fingerprint
from fallow.study.bench.fingerprint import code_fingerprint, strip_code

VAOI, FEDAVG, PARAMETERS = (Experiment(policy=name) for name in ("vaoi", "fedavg", "vaoi-parameters"))


def forget() -> None:
    for cached in (fingerprint._named_modules, fingerprint._common_modules, fingerprint._read_code):
        cached.cache_clear()


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Adds a text at the end of a file, in a copy of the package."""
    copy = tmp_path / "fallow"
    shutil.copytree(
        fingerprint.PACKAGE, copy, ignore=lambda _, names: [n for n in names if n.endswith((".npz", ".pyc"))]
    )
    monkeypatch.setattr(fingerprint, "PACKAGE", copy)

    def write(file: str, text: str) -> None:
        with (copy / file).open("a", encoding="utf-8") as opened:
            opened.write(text)
        forget()

    forget()
    yield write
    forget()


def changed(change: Callable[[str, str], None], file: str, text: str = "\nx = 1\n") -> list[bool]:
    """Whether the fingerprints of the three change with a file."""
    before = [code_fingerprint(one) for one in (VAOI, FEDAVG, PARAMETERS)]
    change(file, text)
    return [code_fingerprint(one) != old for one, old in zip((VAOI, FEDAVG, PARAMETERS), before, strict=True)]


def test_a_policy_counts_for_itself_and_for_those_that_build_on_it(change: Callable[[str, str], None]) -> None:
    assert changed(change, "policies/fedavg.py") == [False, True, False]
    assert changed(change, "policies/vaoi.py") == [True, False, True]


@pytest.mark.parametrize("file", ["simulation/world.py", "rng.py", "learning/training.py", "energy/bernoulli.py"])
def test_what_every_run_goes_through_counts_for_all(change: Callable[[str, str], None], file: str) -> None:
    assert changed(change, file) == [True, True, True]


@pytest.mark.parametrize("file", ["cli/run.py", "energy/trace.py", "aggregation/shrinkage.py", "policies/check.py"])
def test_what_a_run_does_not_use_does_not_count(change: Callable[[str, str], None], file: str) -> None:
    assert changed(change, file) == [False, False, False]


def test_every_room_with_things_of_a_name_decides() -> None:
    assert {module.split(".")[1] for module in fingerprint._named_modules()} <= set(fingerprint.ROOMS)


def test_words_and_new_names_do_not_count(change: Callable[[str, str], None]) -> None:
    text = '\n# why\n"""Words."""\nimport os\nPOLICIES: dict[str, type] = {}\n'
    assert changed(change, "policies/__init__.py", text) == [False, False, False]


def test_code_is_what_is_left() -> None:
    function = 'def f(x):  # note\n    """Says."""\n    return "# no comment"\n'
    source = f'"""Doc."""\nimport os\n\n{function}__all__ = [\n  "f",\n]\n'
    assert strip_code(source) == 'def f(x):\n    return "# no comment"'
