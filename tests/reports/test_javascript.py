"""The scripts of the page pass their linter, and the linter would find what it is for."""

from pathlib import Path

import pytest

from fallow.reports import page
from tests.reports.javascript import PAGE, BiomeMissingError, _locate, check_format, find_biome, lint, lint_page


@pytest.fixture(scope="module")
def biome() -> Path:
    try:
        return find_biome()
    except BiomeMissingError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_the_scripts_of_the_page_are_clean(biome: Path) -> None:
    assert lint_page(biome) == []


@pytest.mark.slow
def test_the_scripts_and_styles_of_the_page_are_in_shape(biome: Path) -> None:
    assert check_format(biome) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("unheardOf();", "correctness/noUndeclaredVariables"),
        ("function idle() {}", "correctness/noUnusedVariables"),
        ("function firstOf(some, other) { return some; }\nat(firstOf);", "correctness/noUnusedFunctionParameters"),
        ("for (const at of [1]) say(at);", "suspicious/noShadow"),
        ("if (say(1) == 1) hideTip();", "suspicious/noDoubleEquals"),
    ],
)
def test_a_fault_in_a_script_is_found(fault: str, rule: str, biome: Path) -> None:
    joined = page.join_scripts().removesuffix("})();\n") + fault + "\n})();\n"
    (complaint,) = lint(biome, {"joined.js": joined})
    assert f" lint/{rule}: " in complaint


def test_a_complaint_names_the_file_and_its_line() -> None:
    joined = page.join_scripts()
    for script in page.SCRIPTS:
        lines = (PAGE / script).read_text(encoding="utf-8").splitlines()
        for number in (1, len(lines)):
            place = joined[: joined.index("\n".join(lines))].count("\n") + number
            assert joined.splitlines()[place - 1] == lines[number - 1]
            assert _locate(f"joined.js:{place}:7 rule: words", joined) == f"{script}:{number}:7 rule: words"
