"""module:function: a dataset that the user's own function returns."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fallow.data.dataset import Dataset
from fallow.errors import ConfigError
from fallow.plugins.names import import_attribute
from fallow.plugins.options import options_of


def from_module(name: str) -> type:
    """Returns the dataset behind ``module:attribute``.

    The attribute is a function ``f(seed, …) -> Dataset``, whose other parameters are the options, or a class like those
    of this package. Modules are looked for in the working directory too.
    """
    found = import_attribute(name, "dataset")
    if isinstance(found, type):
        return found
    if not callable(found):
        raise ConfigError(f"The dataset '{name}' must be a function or a class; it is a {type(found).__name__}.")
    return options_of(f"The dataset '{name}'", found, ["seed"], load)


def load(
    function: Callable[..., Dataset],
    options: Mapping[str, Any],
    seed: int,
    data_dir: Path | None = None,  # noqa: ARG001
) -> Dataset:
    """Calls the function with the seed and the options."""
    return function(seed, **options)
