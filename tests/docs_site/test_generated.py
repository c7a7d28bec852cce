"""The pages that the program writes are those it would write today."""

import importlib.util

import pytest

from tests.docs_site.reader import DOCS


def load_generator():
    spec = importlib.util.spec_from_file_location("generated_pages", DOCS / "generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATED = load_generator()


@pytest.mark.parametrize("page", list(GENERATED.PAGES))
def test_a_generated_page_is_current(page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written == GENERATED.PAGES[page](), f"docs/{page} is out of date; run `python docs/generated.py`"


def test_the_configuration_page_has_every_setting_of_the_default_config() -> None:
    from fallow.experiment import annotated_toml

    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    section = ""
    for line in annotated_toml().splitlines():
        if line.startswith("["):
            section = line.strip("[]") + "."
        elif " = " in line and not line.startswith("#"):
            assert f"`{section}{line.split(' = ')[0]}`" in page
