"""What an experiment chooses by name: each choice, its table of names, and the options that come with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w

from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.data import DATASETS, PARTITIONS, Dataset, resolve_dataset
from fallow.energy import ENERGY_MODELS
from fallow.errors import ConfigError
from fallow.models import MODELS, resolve_model
from fallow.objectives import OBJECTIVES
from fallow.plugins.names import resolve
from fallow.plugins.nested import thawed
from fallow.plugins.objects import describe
from fallow.plugins.options import check_methods, option_names, option_values, with_options
from fallow.plugins.wording import did_you_mean
from fallow.policies import POLICIES, Reserving


@dataclass(frozen=True, eq=False)
class Choice:
    """A setting that names a class. The fields of the class are further settings of the section.

    Attributes:
        section: The section of the setting.
        field: The name of the setting in the section.
        what: What is chosen, in words.
        group: The entry points through which installed packages offer more classes.
        table: Fallow's classes, by name.
        methods: The methods that every class of the kind must have.
        find: Returns the class of a name, for a kind that accepts more than `table`, `group` and ``module:Class``.
        common: Options that may be given with every choice, so that a config can change the name alone; a class
            without such an option ignores it.
    """

    section: str
    field: str
    what: str
    group: str
    table: Mapping[str, type]
    methods: tuple[str, ...]
    find: Callable[[str], type] | None = None
    common: tuple[str, ...] = ()

    def resolve(self, name: str) -> type[Any]:
        """Returns the class that a name stands for.

        Args:
            name: As the user wrote it.

        Raises:
            ConfigError: There is no such name.
        """
        return self.find(name) if self.find else resolve(name, self.table, self.what, self.group)

    def build(self, name: str, cls: type, settings: Mapping[str, Any]) -> Any:
        """Returns an instance of the class that a name stands for.

        Args:
            name: As the user wrote it.
            cls: The class that it stands for.
            settings: Settings of the section, by name; those that are options of the class are used.

        Raises:
            ConfigError: An option is wrong, or the class lacks a method.
        """
        what = f"The {self.what} '{name}'"
        options = {key: value for key, value in settings.items() if key in option_names(cls)}
        if cls is self.table.get(name):
            return with_options(what, cls, options, self.section)
        check_methods(what, cls, self.methods)
        built = with_options(what, cls, options, self.section)
        for key, value in option_values(built).items():
            _check_writable(f"{self.section}.{key}", value)
        return built

    def describe(self, thing: Any) -> dict[str, Any]:
        """Returns the settings of the section that describe an object.

        Args:
            thing: A name, a class, a function or an instance.

        Raises:
            ConfigError: A config can't name it.
        """
        if isinstance(thing, Dataset):
            raise ConfigError(
                "data can't be a Dataset itself, which no config can name; write a function that returns it, "
                "def my_data(seed): …, and give the function."
            )
        if isinstance(thing, Reserving):
            return self.describe(thing.of) | {"reserve": True}
        return describe(thing, self.field, self.table, self.what)


CHOICES = (
    Choice("energy", "model", "energy model", "fallow.energy", ENERGY_MODELS, ("prepare",)),
    Choice("policy", "name", "policy", "fallow.policies", POLICIES, ("init", "select"), common=("k", "mu")),
    Choice("data", "name", "dataset", "fallow.data", DATASETS, ("load",), resolve_dataset),
    Choice("data", "partition", "partition", "fallow.partitions", PARTITIONS, ("split",)),
    Choice("model", "name", "model", "fallow.models", MODELS, ("build",), resolve_model),
    Choice("objective", "name", "objective", "fallow.objectives", OBJECTIVES, ("offset",)),
    Choice("aggregation", "name", "aggregation", "fallow.aggregation", AGGREGATIONS, ("init", "combine")),
    Choice("staleness", "name", "staleness", "fallow.staleness", STALENESS, ("discount",)),
)


def choices_in(section: str) -> list[Choice]:
    """Returns the choices of a section, the main one first."""
    return [choice for choice in CHOICES if choice.section == section]


def as_table(section: str, given: Any) -> Any:
    """Returns a section that was given in Python as the table that TOML would hold.

    Args:
        section: The name of the section.
        given: A table, in which objects may stand for names; or only the first choice of the section: a name, a class,
            a function or an object.

    Returns:
        A table of names and options; `given` itself for a section without choices.

    Raises:
        ConfigError: A config can't name an object, or an option is given twice.

    Examples:
        >>> from fallow.policies import VAoI
        >>> as_table("policy", VAoI(k=5))
        {'name': 'vaoi', 'k': 5}
    """
    choices = choices_in(section)
    if not choices:
        return given
    if not isinstance(given, Mapping):
        return choices[0].describe(given)
    table = dict(given)
    for choice in choices:
        if choice.field in table and not isinstance(table[choice.field], str):
            described = choice.describe(table.pop(choice.field))
            for key in described.keys() & table.keys():
                raise ConfigError(f"{section}.{key} is given twice: by the {choice.what} and beside it.")
            table |= described
    return table


def build_choices(section: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a section, and under "parts" the objects that it chooses, made with their options.

    Args:
        section: The name of the section.
        given: Names and options as the user wrote them.
        defaults: The fields of the section itself, with their defaults.

    Raises:
        ConfigError: A name or an option is unknown or wrong.
    """
    section_fields = {key: value for key, value in given.items() if key in defaults}
    names = {choice: section_fields.get(choice.field, defaults[choice.field]) for choice in choices_in(section)}
    if not all(isinstance(name, str) for name in names.values()):
        return section_fields  # the check of the section then raises a clear error
    classes = {choice: choice.resolve(name) for choice, name in names.items()}
    options = {choice: option_names(cls) for choice, cls in classes.items()}
    known = set().union(*options.values(), *(choice.common for choice in names))
    for key in given.keys() - defaults.keys() - known:
        raise ConfigError(_unknown(section, key, names, defaults.keys() | known))
    taken = set(defaults)
    for choice, name in names.items():
        for key in sorted(taken & options[choice]):
            raise ConfigError(
                f"{section}.{key} is an option of the {choice.what} '{name}' and of something else; rename it there."
            )
        taken |= options[choice]
    parts = {choice.field: choice.build(name, classes[choice], given) for choice, name in names.items()}
    return section_fields | {"parts": parts}


def _check_writable(setting: str, value: Any) -> None:
    try:
        tomli_w.dumps({"value": thawed(value)} if value is not None else {})
    except TypeError:
        raise ConfigError(
            f"{setting} is a {type(value).__name__}, which no config can hold; make it a number, a text, a list of "
            "them, or None."
        ) from None


def _unknown(section: str, key: str, names: Mapping[Choice, str], valid: set[str]) -> str:
    for choice, name in names.items():
        owners = [other for other, cls in choice.table.items() if key in option_names(cls)]
        if owners:
            return (
                f"{section}.{key} is an option of {', '.join(owners)}, not of the {choice.what} '{name}'; remove it, "
                f"or set {section}.{choice.field}."
            )
    return f"There is no setting '{section}.{key}'{did_you_mean(key, valid)}"
