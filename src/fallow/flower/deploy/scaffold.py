"""A new app: the files of ``template/``, with its names filled in."""

import json
import re
from pathlib import Path
from zlib import crc32

from fallow.errors import FallowError

TEMPLATE = Path(__file__).parent / "template"
LONGEST_NAME = 32
"""Letters of an app's name, by Flower's rule."""

PLACES = {"gitignore": ".gitignore", "flwr-config.toml": ".flwr/config.toml"}
"""Files that would mean something to other programs where the template is kept."""


class ScaffoldError(FallowError):
    """An app can't be written."""


def write_app(directory: Path) -> str:
    """Writes a new app and returns the name of its package.

    Args:
        directory: Must be empty, or not there.

    Raises:
        ScaffoldError: The directory is not empty, or can't be written to.
    """
    try:
        return _write_app(directory)
    except OSError as error:
        raise ScaffoldError(f"{error.filename or directory} can't be written: {error.strerror}.") from error


def app_name(directory: str) -> str:
    """Returns a valid name of a Flower app that is like a directory's: letters, digits and hyphens after a letter.

    Args:
        directory: Its name.
    """
    words = re.sub(r"[^a-z0-9]+", "-", directory.lower()).strip("-")
    if not words[:1].isalpha():
        words = f"app-{words}".strip("-")
    return words[:LONGEST_NAME].rstrip("-")


def _write_app(directory: Path) -> str:
    if directory.is_file():
        raise ScaffoldError(f"{directory} is a file; choose another directory.")
    if directory.exists() and any(directory.iterdir()):
        raise ScaffoldError(f"{directory} is there and not empty; choose another directory.")
    home = directory.resolve()
    name = app_name(home.name)
    package = f"{name.replace('-', '_')}_app"  # with an ending, so that it hides no module of that name
    values = {
        "APP_NAME": name,
        "APP_PACKAGE": package,
        "APP_DIRECTORY": json.dumps(str(home), ensure_ascii=False)[1:-1],
        "APP_PORT": str(20_000 + crc32(str(home).encode()) % 10_000),
    }
    for source in sorted(TEMPLATE.rglob("*")):
        inside = source.relative_to(TEMPLATE)
        if source.is_file() and "__pycache__" not in inside.parts:
            parts = (package if part == "app" else PLACES.get(part, part) for part in inside.parts)
            target = directory.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_filled(source.read_text(encoding="utf-8"), values), encoding="utf-8")
    return package


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub("|".join(values), lambda found: values[found[0]], text)
