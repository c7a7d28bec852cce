"""The runs of the paper's study, at three scales and under two rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fallow.errors import ConfigError
from fallow.experiment.recommended import RECOMMENDED
from fallow.plugins.nested import flatten
from fallow.sweeps.axes import Grid
from fallow.sweeps.sharing import fit_section, known_to_any

Scale = Literal["smoke", "half", "full"]

ALPHAS = [0.1, 1.0, 10.0]
HARVESTS = [0.01, 0.1, 1.0]
POLICIES = ["vaoi", "fedavg", "fedbacys", "fedbacys-odd"]
NAMES = {"vaoi": "VAoI", "fedavg": "FedAvg", "fedbacys": "FedBacys", "fedbacys-odd": "FedBacys-Odd"}


@dataclass(frozen=True)
class Rule:
    """How clients' updates become a model, and what clients minimise.

    Attributes:
        title: In words.
        folder: Of its runs.
        settings: What it sets, by section.
    """

    title: str
    folder: str
    settings: dict[str, Any] = field(default_factory=dict)


RULES = {
    "paper": Rule("with the paper's aggregation", "runs"),
    "recommended": Rule(
        "with the recommended rule",
        "recommended",
        {
            "objective": RECOMMENDED["objective"],
            "aggregation": RECOMMENDED["aggregation"],
            "learning": {"average": RECOMMENDED["learning"]["average"]},
        },
    ),
}
"""The paper's, and the one of docs/results.md that scored best; who trains is left to the policies."""

COMMON: dict[str, Any] = {
    "data": {"name": "cifar10", "samples_per_client": 300},
    "model": {"name": "paper-cnn"},
    "learning": {"mode": "train", "eval_every": 10, "ages": "always"},
    "compute": {"strategy": "spread"},
    "output": {"events": False},
}

SCALES: dict[Scale, dict[str, Any]] = {
    # Every part of the study in minutes: for tests, not for conclusions.
    "smoke": {
        "clients": 20,
        "epochs": 12,
        "policy": {"k": 2},
        "data": {"samples_per_client": 40},
        "model": {"width": 0.125},
        "learning": {"eval_every": 4},
        "battery": {"initial": 20},
    },
    "half": {"model": {"width": 0.5}},
    "full": {},
}


def build_grid(
    scale: Scale,
    seeds: int,
    settings: dict[str, Any] | None = None,
    alphas: Sequence[float] = ALPHAS,
    harvests: Sequence[float] = HARVESTS,
) -> tuple[dict[str, Any], Grid]:
    """Returns the settings that all runs of the study share, and its grid.

    Args:
        scale: "full" is the paper's; "half" has half the channels; "smoke" only shows that it works.
        seeds: How many, from 0.
        settings: What to change in all runs.
        alphas: The α of the cells.
        harvests: The p_bc of the cells.
    """
    shared = merged(merged(COMMON, SCALES[scale]), settings or {})
    grid: Grid = {
        "data.alpha": list(alphas),
        "energy.p": list(harvests),
        "policy.name": list(POLICIES),
        "seed": list(range(seeds)),
    }
    return shared, grid


def check_unset(settings: Mapping[str, Any], axes: Mapping[str, str]) -> None:
    """Checks that no setting is given for all runs that a study gives each run itself.

    Args:
        settings: What to change in all runs, by section.
        axes: What to do instead, by the full name of each setting that the study gives.

    Raises:
        ConfigError: One is.

    Examples:
        >>> check_unset({"policy": {"name": "vaoi"}}, {"policy.name": "use --policies"})
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: policy.name can't be set for all runs: it differs from run to run; use --policies.
    """
    given = flatten(settings)
    for key, instead in axes.items():
        if key in given or key.rpartition(".")[0] in given:  # the second is the section as a whole
            raise ConfigError(f"{key} can't be set for all runs: it differs from run to run; {instead}.")


def with_policy(shared: dict[str, Any], policy: str, policies: Iterable[str]) -> dict[str, Any]:
    """Returns the settings of all runs under one policy, with those of the policies' options that it has.

    Args:
        shared: Settings, by section.
        policy: Its name.
        policies: The names of all policies that `shared` is meant for.
    """
    given = shared.get("policy", {})
    return shared | {"policy": fit_section("policy", given, policy, known_to_any("policy", given, policies))}


def merged(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of both tables; where both have a setting, that of the second.

    Args:
        one: Settings, by section.
        two: Settings, by section.
    """
    both = dict(one)
    for key, value in two.items():
        both[key] = merged(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both
