"""What installed packages offer through entry points, such as a policy under ``fallow.policies``."""

from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, cast

from fallow.errors import ConfigError
from fallow.plugins.wording import in_words


@cache
def _everything_installed() -> EntryPoints:
    """Returns all entry points; looks them up once, because that reads the metadata of every package."""
    return cast(EntryPoints, entry_points())  # in Python 3.11 it is a table that selects as EntryPoints do


def installed(group: str) -> dict[str, EntryPoint]:
    """Returns the entry points of a group by name, and loads none.

    Args:
        group: The group of entry points, such as ``fallow.policies``.
    """
    return {point.name: point for point in sorted(_everything_installed().select(group=group))}


def package_of(point: EntryPoint) -> str:
    """Returns the name of the package that offers an entry point."""
    return point.dist.name if point.dist else point.module.partition(".")[0]


def load_installed(point: EntryPoint, what: str) -> Any:
    """Returns what an entry point names.

    Args:
        point: The entry point.
        what: The kind of object, in words, for the error sentence.

    Raises:
        ConfigError: The entry point can't be imported.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # whatever the package raises is the reason to show
        raise ConfigError(
            f"The {what} '{point.name}' of the package '{package_of(point)}' can't be loaded: {in_words(error)}."
        ) from error
