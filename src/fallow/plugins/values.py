"""The limits of every setting, whoever names it: what numbers, texts and tables can be kept and computed with."""

from collections.abc import Mapping
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.wording import shortened

MOST_LEVELS = 16
"""Most tables and lists inside each other. The deepest setting there is, a mix of harvests, has six."""

MOST_WHOLE = 2**63 - 1
"""The largest whole number: TOML promises no larger one, and arrays hold no larger one."""

MOST_FLOAT = 3.4028234e38
"""The largest number with a fraction: weights, and all that they are multiplied by, are float32."""


def check_values(value: Any, name: str = "") -> None:
    """Checks that every number, text and table in settings can be kept and computed with.

    Args:
        value: A setting, or a table of settings; objects in it are left to others.
        name: The full name of the setting, for the error sentence.

    Raises:
        ConfigError: A number is too large, a text can't be written down, or tables lie too deep in each other.

    Examples:
        >>> check_values({"sgd": {"lr": 1e300}})
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: sgd.lr = 1e+300 must be at most 3.4028234e+38, the limit of float32.
    """
    left: list[tuple[str, Any, int]] = [(name, value, 0)]
    while left:  # no recursion, so that depth itself can be told
        name, value, level = left.pop()
        if level > MOST_LEVELS:
            raise ConfigError(
                f"{shortened(name) or 'A value'} lies in more than {MOST_LEVELS} tables or lists inside each other; no "
                "setting does."
            )
        if isinstance(value, Mapping):
            for key in value:
                _check_text("A name", str(key))
            left += [(f"{name}.{key}" if name else str(key), held, level + 1) for key, held in value.items()]
        elif isinstance(value, list | tuple):
            left += [(f"{name}[{place}]", held, level + 1) for place, held in enumerate(value)]
        else:
            _check_one(shortened(name) or "A value", value)


def _check_one(name: str, value: object) -> None:
    if isinstance(value, int) and abs(value) > MOST_WHOLE:
        digits = int(value.bit_length() * 0.30103) + 1
        limit = f"at most {MOST_WHOLE}" if value > 0 else f"at least {-MOST_WHOLE}"
        raise ConfigError(f"{name}, a whole number of about {digits} digits, must be {limit}.")
    if isinstance(value, float) and MOST_FLOAT < abs(value) < float("inf"):
        limit = f"at most {MOST_FLOAT}" if value > 0 else f"at least {-MOST_FLOAT}"
        raise ConfigError(f"{name} = {value:g} must be {limit}, the limit of float32.")
    if isinstance(value, str):
        _check_text(name, value)


def _check_text(name: str, text: str) -> None:
    if "\0" in text:
        raise ConfigError(
            f"{name} = '{shortened(text)}' holds the character NUL, which no name or path can; remove it."
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ConfigError(
            f"{name} = '{shortened(text)}' is not UTF-8, in which settings are kept; write it in UTF-8."
        ) from None
