"""Public names that are loaded on first use, so that importing a package stays light."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_on_first_use(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns ``__getattr__``, ``__dir__`` and ``__all__`` for a package (PEP 562).

    Args:
        package: The package's ``__name__``.
        names: The module of each public name; a name that ends the name of its module stands for the module itself.

    Returns:
        The three values, to be assigned in the package.
    """

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(names[name])
        return module if names[name] == f"{package}.{name}" else getattr(module, name)

    def list_names() -> list[str]:
        return sorted(names)

    return load, list_names, sorted(names)
