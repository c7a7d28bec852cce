"""One self-contained page: markup, style, programs and data in a single file that asks no one for anything."""

import base64
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "dom.js",
    "numbers.js",
    "groups.js",
    "lines.js",
    "bars.js",
    "heatmap.js",
    "timeline.js",
    "tables.js",
    "energy.js",
    "classes.js",
    "details.js",
    "page.js",
)
"""In the order in which they build on each other; all share one scope."""

STYLES = ("page.css", "controls.css", "charts.css")
"""In the order in which a later rule stands above an earlier one."""

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def build_page(contents: Mapping[str, Any]) -> str:
    """Returns the whole page, as HTML.

    Args:
        contents: As `gather` returns them.
    """
    return fill_page("page.html", join_scripts(), data=embed(contents))


def fill_page(template: str, script: str = "", **pieces: str) -> str:
    """Returns a page that carries its style and its programs, and may run and ask for nothing else.

    Args:
        template: The file with its markup, in which ``{{name}}`` stands for a piece.
        script: The program of the page; without one, only the theme is a program.
        **pieces: HTML by name.
    """
    theme = _read("theme.js")
    style = "\n".join(_read(name) for name in STYLES)
    programs = [theme, script] if script else [theme]
    everything = {"rules": _rules(style, *programs), "style": style, "theme": theme, "script": script} | pieces
    # One pass, so that nothing within a piece is taken for a placeholder.
    return PLACEHOLDER.sub(lambda found: everything[found[1]], _read(template))


def join_scripts() -> str:
    """Returns the programs of the page as one, in a scope of their own."""
    return '"use strict";\n(() => {\n' + "\n".join(_read(name) for name in SCRIPTS) + "\n})();\n"


def embed(contents: Mapping[str, Any]) -> str:
    """Returns JSON that can stand inside a script element: nothing in it can end the element.

    Args:
        contents: As `gather` returns them.
    """
    text = json.dumps(contents, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _rules(style: str, *scripts: str) -> str:
    """Returns a content security policy under which these pieces run, and nothing else is run or asked for."""
    programs = " ".join(_fingerprint(script) for script in scripts)
    return f"default-src 'none'; img-src data:; style-src {_fingerprint(style)}; script-src {programs}"


def _fingerprint(piece: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(piece.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return files("fallow.reports").joinpath("page", name).read_text(encoding="utf-8")
