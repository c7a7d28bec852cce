"""What a config chooses by name: each choice, its table of names, and the options that come with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tomli_w

from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.data import DATASETS, PARTITIONS, resolve_dataset
from fallow.energy import ENERGY_MODELS
from fallow.errors import ConfigError
from fallow.models import MODELS, resolve_model
from fallow.plugins.names import did_you_mean, resolve
from fallow.plugins.nested import thawed
from fallow.plugins.options import option_names, with_options
from fallow.policies import POLICIES


@dataclass(frozen=True, eq=False)
class Choice:
    """A field of a config that names a class, whose fields then stand beside it in the section.

    Attributes:
        section: Where it stands.
        field: Its name there.
        what: What is chosen, in words.
        table: The project's own, by name.
        find: From a name to a class, where more than `table` and ``module:Class`` will do.
    """

    section: str
    field: str
    what: str
    table: Mapping[str, type]
    find: Callable[[str], type] | None = None

    def resolve(self, name: str) -> type[Any]:
        """Returns the class that a name stands for."""
        return self.find(name) if self.find else resolve(name, self.table, self.what)

    def build(self, name: str, settings: Mapping[str, Any]) -> Any:
        """Returns the class made with those of the settings that are options of it."""
        cls = self.resolve(name)
        options = {key: value for key, value in settings.items() if key in option_names(cls)}
        return with_options(f"The {self.what} '{name}'", cls, options, self.section)


CHOICES = (
    Choice("energy", "model", "energy model", ENERGY_MODELS),
    Choice("policy", "name", "policy", POLICIES),
    Choice("data", "name", "dataset", DATASETS, resolve_dataset),
    Choice("data", "partition", "partition", PARTITIONS),
    Choice("model", "name", "model", MODELS, resolve_model),
    Choice("aggregation", "name", "aggregation", AGGREGATIONS),
    Choice("staleness", "name", "staleness", STALENESS),
)


def choices_in(section: str) -> list[Choice]:
    """Returns the choices of a section, the main one first."""
    return [choice for choice in CHOICES if choice.section == section]


def split_options(section: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Parts what is given for a section into its own fields and the options of what they choose, in full.

    Args:
        section: The name of the section.
        given: What the user wrote.
        defaults: The section's own fields.
    """
    own = defaults.keys() - {"options"}
    table = {key: value for key, value in given.items() if key in own}
    names = {choice: table.get(choice.field, defaults[choice.field]) for choice in choices_in(section)}
    if not all(isinstance(name, str) for name in names.values()):
        return table  # the section's own check says so in words
    known = set().union(*(option_names(choice.resolve(name)) for choice, name in names.items())) - own
    for key in given.keys() - own - known:
        raise ConfigError(_unknown(section, key, names, own | known))
    options: dict[str, Any] = {}
    for choice, name in names.items():
        built = choice.build(name, given)
        theirs = {key: getattr(built, key) for key in sorted(option_names(type(built)))}
        for key in options.keys() & theirs.keys():
            raise ConfigError(f"{section}.{key} is an option of two things that {section} chooses; rename one of them.")
        for key, value in theirs.items():
            _check_writable(f"{section}.{key}", value)
        # Where a section has a field of the name of an option, what nobody set is the default of the class.
        table = {key: value for key, value in theirs.items() if key in own} | table
        options |= {key: value for key, value in theirs.items() if key not in own}
    return table | {"options": options}


def _check_writable(setting: str, value: Any) -> None:
    try:
        tomli_w.dumps({"value": thawed(value)} if value is not None else {})
    except TypeError:
        raise ConfigError(
            f"The default of {setting} is a {type(value).__name__}, which no config can hold; make it a number, a "
            "text, a list of them, or None."
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
