"""module:function: a dataset that the user's own function returns."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fallow.data.dataset import Dataset
from fallow.errors import ConfigError
from fallow.plugins.options import options_of


def from_outside(name: str, found: Any) -> type:
    """Returns the class of a dataset that is not one of Fallow's own.

    Args:
        name: Of the dataset, for the error sentence.
        found: What the name stands for: a function ``f(seed, …) -> Dataset``, whose other parameters are the
            options, or a class like those of this package.

    Raises:
        ConfigError: It is neither.
    """
    if isinstance(found, type):
        return found
    if not callable(found):
        raise ConfigError(f"The dataset '{name}' must be a function or a class; it is a {type(found).__name__}.")
    return options_of(f"The dataset '{name}'", found, ("seed",), load)


def load(
    function: Callable[..., Dataset],
    options: Mapping[str, Any],
    seed: int,
    data_dir: Path | None = None,  # noqa: ARG001
) -> Dataset:
    """Calls the function with the seed and the options."""
    return function(seed, **options)
