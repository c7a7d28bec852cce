"""Everything that has a name, in Fallow and in installed packages, with one line each."""

from collections.abc import Mapping

from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES
from fallow.plugins.installed import installed, package_of
from fallow.plugins.wording import did_you_mean
from fallow.trackers import TRACKERS


def list_choices(kind: str | None = None) -> dict[str, dict[str, str]]:
    """Returns the names that each setting can hold, with a line about each.

    Args:
        kind: The only kind to list, by the end of its entry points' group: "policies", "energy", "data", "partitions",
            "models", "aggregation", "staleness" or "trackers"; None lists all.

    Returns:
        By setting, as in ``policy.name``: a line for each name. Classes of installed packages are not imported.

    Raises:
        ConfigError: There is no such kind.

    Examples:
        >>> list_choices("staleness")["staleness.name"]["constant"]
        'A late update counts in full (reading 3).'
    """
    tables = {choice.group: (f"{choice.section}.{choice.field}", choice.table) for choice in CHOICES}
    tables["fallow.trackers"] = ("output.trackers", TRACKERS)
    kinds = [group.removeprefix("fallow.") for group in tables]
    if kind is not None and kind not in kinds:
        raise ConfigError(f"There is no kind '{kind}' to list{did_you_mean(kind, kinds)}")
    return {
        setting: _lines(group, table)
        for group, (setting, table) in tables.items()
        if kind is None or group == f"fallow.{kind}"
    }


def _lines(group: str, table: Mapping[str, type]) -> dict[str, str]:
    built_in = {name: (cls.__doc__ or "").strip().split("\n")[0] for name, cls in table.items()}
    offered = {
        name: f"from the package {package_of(point)} ({point.value})" for name, point in installed(group).items()
    }
    return built_in | {name: line for name, line in offered.items() if name not in built_in}
