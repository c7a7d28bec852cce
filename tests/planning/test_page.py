"""docs/plan.md describes every setting of a node."""

import tomllib

from pydantic import BaseModel

from fallow.planning.node import Node
from tests.docs_site.reader import DOCS
from tests.test_docs import rows


def settings_of(model: type[BaseModel], prefix: str = "") -> dict[str, str]:
    found = {}
    for name, field in model.model_fields.items():
        inner = field.annotation
        if name in ("energy", "parts"):  # docs/configuration.md has them
            continue
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= settings_of(inner, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = field.description or ""
    return found


def test_the_page_has_every_setting_of_a_node_with_its_meaning() -> None:
    described = {row[0].strip("`"): row[2].replace("\\_", "_") for row in rows("plan.md", "Settings")}
    assert described == settings_of(Node)


def test_the_nodes_of_the_page_are_the_configs_that_come_with_it() -> None:
    page = (DOCS / "plan.md").read_text(encoding="utf-8")
    node = Node(**tomllib.loads(page.split('title="padova.toml"\n')[1].split("```")[0]))
    configs = DOCS.parent / "configs"
    kept = {
        name: Node(**tomllib.loads((configs / name).read_text())) for name in ("node-padova.toml", "node-kiruna.toml")
    }
    assert kept["node-padova.toml"] == node
    assert kept["node-kiruna.toml"].device == node.device
    assert kept["node-kiruna.toml"].wish == node.wish
