"""What the checks share: one problem as one sentence, and a part that must not change while it is used."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fallow.errors import FallowError, PluginError


def first_problem(check: Callable[[], None]) -> list[str]:
    """Returns the sentence of the error that a check raises; an empty list if it raises none.

    Args:
        check: Raises an error whose message is a sentence.
    """
    try:
        check()
    except FallowError as error:
        return [str(error)]
    return []


@contextmanager
def unchanged(part: str, thing: object) -> Iterator[None]:
    """Checks that using a part does not change its options.

    Args:
        part: The part, in words.
        thing: The part.

    Raises:
        PluginError: It has changed.
    """
    before = repr(thing)
    yield
    if repr(thing) != before:
        raise PluginError(f"{part} changed itself while it was used, from {before} to {thing!r}; it may keep nothing.")
