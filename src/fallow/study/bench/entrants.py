"""Who takes part in the benchmark: a policy, and what else belongs to a method, by name, as a class or as an object."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fallow.aggregation import AGGREGATIONS
from fallow.errors import ConfigError, PolicyError
from fallow.experiment import Experiment
from fallow.experiment.choices import as_table, choices_in
from fallow.experiment.settings import put
from fallow.plugins.wording import did_you_mean
from fallow.policies import POLICIES, needs_of
from fallow.policies.check import check_policy
from fallow.study.bench.fingerprint import code_fingerprint
from fallow.study.bench.scenarios import Scenario, Suite
from fallow.sweeps.axes import UNSAFE, label_values
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.parts import CHOOSING, is_complete, label

FIRST = next(iter(POLICIES))
"""The policy under which a rule is run that is entered alone: the paper's."""

METHOD = ("policy", "aggregation", "staleness", "objective", "sgd", "learning.average")
"""What an entrant may set: sections, and a setting. The rest is the scenario's."""

OPTIONS = ("suite", "out", "tables", "workers", "progress")
"""What `fallow.bench` takes besides."""

SHOWN = 8
"""Digits of a fingerprint in the name of a folder."""


@dataclass(frozen=True)
class Entrant:
    """A policy, and perhaps a rule and more.

    Attributes:
        policy: A name, a table, a class, or an object.
        method: What else it sets, by section or setting, as in ``{"aggregation": "shrinkage"}``.
        name: How it is shown.
    """

    policy: Any
    method: Mapping[str, Any]
    name: str

    def settings(self, scenario: Scenario) -> dict[str, Any]:
        """Returns the settings of its runs in a scenario.

        Args:
            scenario: What is run. Its k and μ are those of a policy by name or class; an object has its own.
        """
        settings = deepcopy(dict(scenario.settings))
        shared = {} if is_complete(self.policy) else settings.get("policy", {})
        settings["policy"] = {**shared, **as_table("policy", self.policy)}
        for key, value in self.method.items():
            if key in CHOOSING:
                settings[key] = as_table(key, value)
            else:
                put(settings, key, value)
        return settings

    def experiment(self, scenario: Scenario) -> Experiment:
        """Returns the experiment of its runs in a scenario, with the first seed.

        Args:
            scenario: What is run.

        Raises:
            ConfigError: The policy or the rule can't be run there.
        """
        try:
            return Experiment.parse(self.settings(scenario))
        except ConfigError as error:
            raise ConfigError(f"{self.name} in the scenario {scenario.name}: {error}") from None

    def plan(self, scenario: Scenario, seeds: int, folder: Path) -> list[PlannedRun]:
        """Returns its runs in a scenario.

        Args:
            scenario: What is run.
            seeds: How many, from 0.
            folder: Of all runs. Each entrant has a folder whose name changes with its code, so that the runs of a
                policy that was changed are not taken for those of the new one.
        """
        code = code_fingerprint(self.experiment(scenario))[:SHOWN]
        place = folder / scenario.name / f"{self.name.translate(UNSAFE).replace(' ', '')}-v{scenario.version}-{code}"
        runs = plan(self.settings(scenario), {"seed": list(range(seeds))}, place)
        point = {"scenario": scenario.name, "entrant": self.name}
        return [replace(run, point=point | run.point) for run in runs]

    def is_ranked(self, scenario: Scenario) -> bool:
        """Returns whether it competes: a policy for which energy is no limit is a bound, not a competitor.

        Args:
            scenario: Where it is run.
        """
        return not needs_of(self.experiment(scenario).build("policy")).ideal


def make_entrants(policies: Sequence[Any], method: Mapping[str, Any], suite: Suite) -> list[Entrant]:
    """Returns the entrants that a user gives, each checked.

    Args:
        policies: Names, tables, classes or objects; without any, the rest is entered under the paper's policy.
        method: What else all of them set, by section or setting; `METHOD` lists what they may.
        suite: Where they are entered.

    Raises:
        ConfigError: There is none, one is given twice, one sets what is the scenario's, or can't be run.
        PolicyError: A policy does not keep its contract.
    """
    if not policies and not method:
        raise ConfigError("A benchmark needs an entrant: a policy, as in my_policy:Mine, or an aggregation rule.")
    given = list(policies) or [FIRST]
    _check_settings(given, method)
    shown = label_values("policy", given)
    for name in shown:
        if shown.count(name) > 1:
            raise ConfigError(f"The entrant {name} is given twice.")
    more = "".join(f" + {_say(key, value)}" for key, value in method.items())
    entrants = [Entrant(policy, method, f"{name}{more}") for policy, name in zip(given, shown, strict=True)]
    entrants = [_told_apart(entrant, suite) for entrant in entrants]
    for entrant in entrants:
        _check(entrant, suite)
    return entrants


def built_ins(policies: Sequence[str] | None = None, rules: Sequence[str] | None = None) -> list[Entrant]:
    """Returns the built-ins whose results come with the project: every policy, and every rule under the paper's policy.

    Args:
        policies: Names of some; None for all, or for none if rules are named.
        rules: Names of some; None for all, or for none if policies are named.

    Raises:
        ConfigError: There is no such name.

    Examples:
        >>> [entrant.name for entrant in built_ins(["fedavg"], ["shrinkage"])]
        ['fedavg', 'vaoi + shrinkage']
    """
    everything = policies is None and rules is None
    for kind, table, names in (("policy", POLICIES, policies), ("aggregation", AGGREGATIONS, rules)):
        for name in names or ():
            if name not in table:
                raise ConfigError(f"There is no built-in {kind} '{name}'{did_you_mean(name, table)}")
    chosen = list(POLICIES) if everything else list(dict.fromkeys(policies or ()))
    combined = list(AGGREGATIONS) if everything else list(dict.fromkeys(rules or ()))
    return [Entrant(name, {}, name) for name in chosen] + [
        Entrant(FIRST, {"aggregation": rule}, f"{FIRST} + {rule}") for rule in combined
    ]


def _check_settings(policies: Sequence[Any], method: Mapping[str, Any]) -> None:
    """Raises an error for a setting that is not the entrant's, and for a name that is wrong in every scenario."""
    for key in method:
        if key.partition(".")[0] not in Experiment.model_fields:
            raise ConfigError(f"There is no setting '{key}'{did_you_mean(key, [*METHOD, *OPTIONS])}")
        if key == "policy":
            raise ConfigError("An entrant's policy is given first, without policy=, as in fallow.bench(MyPolicy()).")
        if key not in METHOD and key.partition(".")[0] not in METHOD:
            raise ConfigError(f"{key} is the scenario's; an entrant may set {', '.join(METHOD[:-1])} and {METHOD[-1]}.")
    for section, thing in (*(("policy", policy) for policy in policies), *method.items()):
        if section in CHOOSING and isinstance(thing, str):
            choices_in(section)[0].resolve(thing)


def _say(key: str, value: object) -> str:
    """Returns what an entrant sets, in a few letters."""
    section, _, setting = key.partition(".")
    if section in CHOOSING and setting in ("", choices_in(section)[0].field):
        return label(section, value)
    return f"{setting or section}={value}"


def _told_apart(entrant: Entrant, suite: Suite) -> Entrant:
    """Returns an entrant whose name is that of a built-in only if it is that built-in."""
    same = {known.name: known for known in built_ins()}.get(entrant.name)
    if same is None or all(entrant.experiment(one) == same.experiment(one) for one in suite.scenarios):
        return entrant
    return replace(entrant, name=f"{entrant.name} (entered)")


def _check(entrant: Entrant, suite: Suite) -> None:
    """Raises an error of one sentence if an entrant can't be run in every scenario."""
    for scenario in suite.scenarios:
        policy = entrant.experiment(scenario).build("policy")
    problems = check_policy(policy)
    if problems:
        raise PolicyError(f"{entrant.name} can't be entered: {problems[0]}")
