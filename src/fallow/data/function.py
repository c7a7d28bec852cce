"""module:function: a dataset that a user's function returns."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fallow.data.dataset import Dataset
from fallow.errors import ConfigError
from fallow.plugins.options import options_of


def from_outside(name: str, found: Any) -> type:
    """Returns the class of a dataset that does not come with Fallow.

    Args:
        name: The name of the dataset, for the error sentence.
        found: The object that the name stands for: a function ``f(seed, …) -> Dataset``, whose other parameters are the
            options, or a class with the methods of `DatasetOptions`.

    Raises:
        ConfigError: `found` is neither.
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
    """Returns the dataset that a user's function returns.

    Args:
        function: The user's function.
        options: Its parameters besides the seed, by name.
        seed: The seed of the run.
        data_dir: Is not used.
    """
    return function(seed, **options)
