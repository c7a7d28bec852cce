"""Everything that has a name, in Fallow and in installed packages, with one line each."""

from collections.abc import Mapping
from typing import Annotated, get_args, get_origin, get_type_hints

from fallow.energy.devices import describe_profile, describe_radio, list_profiles, list_radios
from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES
from fallow.plugins.installed import installed, package_of
from fallow.plugins.wording import did_you_mean
from fallow.policies import POLICIES, needs_of
from fallow.trackers import TRACKERS


def list_choices(kind: str | None = None) -> dict[str, dict[str, str]]:
    """Returns the names that each setting can hold, with a line about each.

    Args:
        kind: The only kind to list, by the end of its entry points' group: "policies", "energy", "data", "partitions",
            "models", "objectives", "aggregation", "staleness" or "trackers"; or "devices" or "radios", each figure with
            its source; None lists all but these two.

    Returns:
        By setting, as in ``policy.name``: a line for each name; of a policy it also says what the policy needs. Classes
        of installed packages are not imported.

    Raises:
        ConfigError: There is no such kind.

    Examples:
        >>> list_choices("staleness")["staleness.name"]["constant"]
        'A late update counts in full (reading 3).'
        >>> list_choices("policies")["policy.name"]["oldest"].rpartition(". ")[2]
        'Needs: batteries.'
    """
    tables = {choice.group: (f"{choice.section}.{choice.field}", choice.table) for choice in CHOICES}
    tables["fallow.trackers"] = ("output.trackers", TRACKERS)
    kinds = [*(group.removeprefix("fallow.") for group in tables), *PHYSICAL]
    if kind in PHYSICAL:
        return PHYSICAL[kind]()
    if kind is not None and kind not in kinds:
        raise ConfigError(f"There is no kind '{kind}' to list{did_you_mean(kind, kinds)}")
    return {
        setting: _lines(group, table)
        for group, (setting, table) in tables.items()
        if kind is None or group == f"fallow.{kind}"
    }


def _list_devices() -> dict[str, dict[str, str]]:
    return {"device.profile": {name: describe_profile(profile) for name, profile in list_profiles().items()}}


def _list_radios() -> dict[str, dict[str, str]]:
    return {"device.radio": {name: describe_radio(radio) for name, radio in list_radios().items()}}


PHYSICAL = {"devices": _list_devices, "radios": _list_radios}
"""What is no class but figures in joules: the profiles of devices, and radios."""


def _lines(group: str, table: Mapping[str, type]) -> dict[str, str]:
    built_in = {name: (cls.__doc__ or "").strip().split("\n")[0] for name, cls in table.items()}
    if table is POLICIES:
        built_in = {name: f"{line} Needs: {_needs_in_words(POLICIES[name])}." for name, line in built_in.items()}
    offered = {
        name: f"from the package {package_of(point)} ({point.value})" for name, point in installed(group).items()
    }
    return built_in | {name: line for name, line in offered.items() if name not in built_in}


def _needs_in_words(policy: type) -> str:
    """Returns what a policy needs with its default options, and with each choice of an option that changes that."""
    words = needs_of(policy()).in_words()
    found = [words]
    for option, hint in get_type_hints(policy, include_extras=True).items():
        values = get_args(get_args(hint)[0]) if get_origin(hint) is Annotated else ()
        for value in values:
            other = needs_of(policy(**{option: value})).in_words()
            if other != words:
                found.append(f"with {option} = {value}: {other}")
    return "; ".join(found)
