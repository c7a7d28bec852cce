"""The runs: the four policies under every reading that touches energy, without learning."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.study.grid import HARVESTS, check_unset, merged, with_policy
from fallow.sweeps.grid import PlannedRun, plan

STARTS = [0, 1]
"""Most starts an epoch; 0 is no limit (reading 4)."""

SIGNIFICANCES = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0]
"""How likely a change is significant. With learning, the model decides; here, chance does."""

READINGS: dict[str, dict[str, list[Any]]] = {
    "vaoi": {"policy.choice": ["top-k", "sample"], "policy.reset": ["selected", "aggregated"]},
    "fedavg": {},
    "random-k": {},
    "fedbacys": {"policy.turns": ["window", "deadline", "across-epochs"], "policy.grouping": ["battery", "fixed"]},
    "fedbacys-odd": {"policy.turns": ["window", "deadline", "across-epochs"], "policy.grouping": ["battery", "fixed"]},
}
"""The readings of each policy (5, 7 and 15); `random-k` is FedAvg in another reading (17)."""

ENERGY_ALONE: dict[str, Any] = {"learning": {"mode": "none", "ages": "always"}, "output": {"events": False}}


def plan_readings(seeds: int, out: Path, settings: Mapping[str, Any] | None = None) -> list[PlannedRun]:
    """Returns the runs, each checked.

    Args:
        seeds: How many, from 0.
        out: The folder of the study.
        settings: What to change in all runs, by section.

    Raises:
        ConfigError: If a run is no experiment, or learns.
    """
    shared = merged(ENERGY_ALONE, dict(settings or {}))
    runs: list[PlannedRun] = []
    for policy, readings in READINGS.items():
        grid = readings | {
            "starts_per_epoch": STARTS,
            "learning.significance": SIGNIFICANCES,
            "energy.p": HARVESTS,
            "seed": list(range(seeds)),
        }
        check_unset(settings or {}, dict.fromkeys(("policy.name", *grid), "leave it out") | {"seed": "use --seeds"})
        own = plan(with_policy(shared, policy, READINGS), grid, out / "readings" / policy)
        if own[0].experiment.learning.mode != "none":
            raise ConfigError("learning.mode = 'train' is not for the readings; they look at energy and age alone.")
        runs += [replace(run, point={"policy.name": policy, **run.point}) for run in own]
    return runs
