"""What installed packages offer through entry points, such as a policy under ``fallow.policies``."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.wording import in_words


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Returns the entry points of a group by name; looks them up once, and loads none.

    Args:
        group: As in ``fallow.policies``.
    """
    return {point.name: point for point in sorted(entry_points(group=group))}


def package_of(point: EntryPoint) -> str:
    """Returns the name of the package that offers an entry point."""
    return point.dist.name if point.dist else point.module.partition(".")[0]


def load_installed(point: EntryPoint, what: str) -> Any:
    """Returns what an entry point names.

    Args:
        point: The entry point.
        what: Its kind in words, for the error sentence.

    Raises:
        ConfigError: It can't be imported.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # whatever the package raises is the reason to show
        raise ConfigError(
            f"The {what} '{point.name}' of the package '{package_of(point)}' can't be loaded: {in_words(error)}."
        ) from error
