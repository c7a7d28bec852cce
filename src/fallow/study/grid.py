"""The runs of the paper's study, at three scales."""

from collections.abc import Mapping
from typing import Any, Literal

from fallow.errors import ConfigError
from fallow.plugins.nested import flatten
from fallow.sweeps.axes import Grid

Scale = Literal["smoke", "half", "full"]

ALPHAS = [0.1, 1.0, 10.0]
HARVESTS = [0.01, 0.1, 1.0]
POLICIES = ["vaoi", "fedavg", "fedbacys", "fedbacys-odd"]
NAMES = {"vaoi": "VAoI", "fedavg": "FedAvg", "fedbacys": "FedBacys", "fedbacys-odd": "FedBacys-Odd"}

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


def build_grid(scale: Scale, seeds: int, settings: dict[str, Any] | None = None) -> tuple[dict[str, Any], Grid]:
    """Returns the settings that all runs of the study share, and its grid.

    Args:
        scale: "full" is the paper's; "half" has half the channels; "smoke" only shows that it works.
        seeds: How many, from 0.
        settings: What to change in all runs.
    """
    shared = merged(merged(COMMON, SCALES[scale]), settings or {})
    grid: Grid = {
        "data.alpha": list(ALPHAS),
        "energy.p": list(HARVESTS),
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
