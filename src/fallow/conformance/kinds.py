"""The kinds of parts: how one is found, how it is recognised by its methods, and what checks it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from typing import Any

from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES, Choice
from fallow.plugins.calls import call
from fallow.plugins.installed import installed
from fallow.plugins.names import import_attribute, resolve
from fallow.plugins.options import check_methods, with_options
from fallow.plugins.wording import did_you_mean
from fallow.trackers import TRACKERS

NAMES = {"dataset": "dataset", "energy model": "energy", "aggregation": "rule"}
"""The kinds that are called otherwise in the sentences of a config."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of part.

    Attributes:
        name: What ``--kind`` calls it.
        what: The same in a sentence.
        methods: What a part of this kind has, and by what it is recognised.
        group: The entry points of installed packages; "" for none.
        table: Fallow's own, by name.
        module: The module of this room that checks it.
        choice: The setting that names one; None for trackers and batteries.
    """

    name: str
    what: str
    methods: tuple[str, ...]
    group: str
    table: Mapping[str, type]
    module: str
    choice: Choice | None = None

    def find(self, name: str) -> Any:
        """Returns the class, or of a battery the object, that a name stands for.

        Args:
            name: One of the table's, of an installed package, or ``module:attribute``.

        Raises:
            ConfigError: There is no such name.
        """
        if self.choice is not None:
            return self.choice.resolve(name)
        return resolve(name, self.table, self.what, self.group) if self.table else import_attribute(name, self.what)

    def build(self, name: str, found: Any, options: Mapping[str, Any]) -> Any:
        """Returns the part itself.

        Args:
            name: What it is called in sentences.
            found: What `find` returned, or an object.
            options: Its options, by name.

        Raises:
            ConfigError: An option is wrong, or a method is missing.
        """
        what = f"The {self.what} '{name}'"
        if not isinstance(found, type):
            return found
        check_methods(what, found, self.methods)
        if self.name == "policy" or is_dataclass(found):
            return with_options(what, found, options)
        if self.choice is not None:
            raise ConfigError(
                f"{what} must be a frozen dataclass, whose fields are its options: decorate it with "
                "@dataclass(frozen=True)."
            )
        return call(what, "its constructor", found)

    def problems(self, part: Any) -> list[str]:
        """Returns what is wrong with a part, one sentence each.

        Args:
            part: The part.
        """
        checks: dict[str, Callable[[Any], list[str]]] = vars(import_module(self.module))
        return checks[f"check_{self.name}"](part)


_MODULES = {
    "policy": "fallow.policies.check",
    "energy": "fallow.conformance.energy",
    "dataset": "fallow.conformance.data",
    "partition": "fallow.conformance.data",
    "model": "fallow.conformance.models",
    "objective": "fallow.conformance.rules",
    "rule": "fallow.conformance.rules",
    "staleness": "fallow.conformance.rules",
}


def _of(choice: Choice) -> Kind:
    name = NAMES.get(choice.what, choice.what)
    return Kind(name, choice.what, choice.methods, choice.group, choice.table, _MODULES[name], choice)


KINDS: dict[str, Kind] = {kind.name: kind for kind in map(_of, CHOICES)} | {
    "tracker": Kind(
        "tracker", "tracker", ("begin", "log", "end"), "fallow.trackers", TRACKERS, "fallow.conformance.trackers"
    ),
    "battery": Kind("battery", "battery", ("open", "capacity", "train_cost"), "", {}, "fallow.conformance.batteries"),
}
"""Every kind, by the name that ``fallow check --kind`` takes."""


def kind_named(name: str) -> Kind:
    """Returns a kind.

    Args:
        name: Such as "policy" or "energy".

    Raises:
        ConfigError: There is no such kind.
    """
    if name not in KINDS:
        raise ConfigError(f"There is no kind '{name}' of parts{did_you_mean(name, KINDS)}")
    return KINDS[name]


def kind_of_name(name: str) -> Kind:
    """Returns the kind of what a name stands for: in Fallow, in an installed package, or as ``module:attribute``.

    Args:
        name: As the user wrote it.

    Raises:
        ConfigError: There is no such name, or its kind can't be told.
    """
    if ":" in name and not name.startswith("npz:"):
        return kind_of(name, import_attribute(name, "part"))
    if name.startswith("npz:"):
        return KINDS["dataset"]
    for kind in KINDS.values():
        if name in kind.table or (kind.group and name in installed(kind.group)):
            return kind
    known = {known for kind in KINDS.values() for known in kind.table}
    raise ConfigError(f"There is no part '{name}'{did_you_mean(name, known)}")


def kind_of(name: str, found: Any) -> Kind:
    """Returns the kind of a class, a function or an object, by its methods or its first parameters.

    Args:
        name: What it is called in the sentence.
        found: The class, function or object.

    Raises:
        ConfigError: Its kind can't be told.
    """
    offered = set(dir(found))
    whole = [kind for kind in KINDS.values() if offered.issuperset(kind.methods)]
    some = [kind for kind in KINDS.values() if offered & (set(kind.methods) - {"init", "open"})]
    if not whole and not some and inspect.isfunction(found):
        first = list(inspect.signature(found).parameters)
        whole = [KINDS["dataset"]] if first[:1] == ["seed"] else []
        whole += [KINDS["model"]] if first[:2] == ["input_shape", "classes"] else []
    for candidates in (whole, some):
        if len(candidates) == 1:
            return candidates[0]
    raise ConfigError(
        f"What kind of part '{name}' is can't be told by its methods; say it with --kind, one of {', '.join(KINDS)}."
    )
