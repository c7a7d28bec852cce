"""Who takes part in the benchmark: a policy and perhaps a rule, by name, as a class or as an object."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fallow.aggregation import AGGREGATIONS
from fallow.errors import ConfigError, PolicyError
from fallow.experiment import Experiment
from fallow.experiment.choices import as_table, choices_in
from fallow.plugins.wording import did_you_mean
from fallow.policies import POLICIES, needs_of
from fallow.policies.check import check_policy
from fallow.study.bench.fingerprint import code_fingerprint
from fallow.study.bench.scenarios import Scenario, Suite
from fallow.sweeps.axes import UNSAFE, label_values
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.parts import is_complete, label

FIRST = next(iter(POLICIES))
"""The policy under which a rule is run that is entered alone: the paper's."""

SHOWN = 8
"""Digits of a fingerprint in the name of a folder."""


@dataclass(frozen=True)
class Entrant:
    """A policy under a rule.

    Attributes:
        policy: A name, a class, or an object.
        aggregation: Likewise, the rule; None is the scenario's own.
        name: How it is shown.
    """

    policy: Any
    aggregation: Any
    name: str

    def settings(self, scenario: Scenario) -> dict[str, Any]:
        """Returns the settings of its runs in a scenario.

        Args:
            scenario: What is run. Its k and μ are those of a policy by name or class; an object has its own.
        """
        shared = scenario.settings.get("policy", {})
        policy = self.policy if is_complete(self.policy) else {**shared, **as_table("policy", self.policy)}
        rule = {} if self.aggregation is None else {"aggregation": as_table("aggregation", self.aggregation)}
        return {**scenario.settings, "policy": policy, **rule}

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


def make_entrants(policies: Sequence[Any], aggregation: Any, suite: Suite) -> list[Entrant]:
    """Returns the entrants that a user gives, each checked.

    Args:
        policies: Names, classes or objects; without any, the rule is entered under the paper's policy.
        aggregation: The rule of all of them; None for the scenario's own.
        suite: Where they are entered.

    Raises:
        ConfigError: There is none, one is given twice, or one can't be run.
        PolicyError: A policy does not keep its contract.
    """
    if not policies and aggregation is None:
        raise ConfigError("A benchmark needs an entrant: a policy, as in my_policy:Mine, or an aggregation rule.")
    given = list(policies) or [FIRST]
    for section, thing in (*(("policy", policy) for policy in given), ("aggregation", aggregation)):
        if isinstance(thing, str):
            choices_in(section)[0].resolve(thing)  # a wrong name is wrong in every scenario
    shown = label_values("policy", given)
    for name in shown:
        if shown.count(name) > 1:
            raise ConfigError(f"The entrant {name} is given twice.")
    rule = "" if aggregation is None else f" + {label('aggregation', aggregation)}"
    entrants = [Entrant(policy, aggregation, f"{name}{rule}") for policy, name in zip(given, shown, strict=True)]
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
    return [Entrant(name, None, name) for name in chosen] + [
        Entrant(FIRST, rule, f"{FIRST} + {rule}") for rule in combined
    ]


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
