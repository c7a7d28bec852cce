"""The study under other readings of the paper: one cell, one change at a time."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fallow.runs.layout import is_finished
from fallow.study.grid import POLICIES, merged, with_policy
from fallow.study.intervals import paired
from fallow.study.results import Series, read_series
from fallow.sweeps.grid import PlannedRun, plan

CELL = {"data": {"alpha": 0.1}, "energy": {"p": 0.1}}
"""Skewed data, and energy for a few trainings an epoch."""


@dataclass(frozen=True)
class Variant:
    """Another reading of the paper.

    Attributes:
        title: Its entry in docs/reading-the-paper.md.
        policy: The policy that it is tried with.
        settings: What it sets, by section.
    """

    title: str
    policy: str
    settings: dict[str, Any]


VARIANTS = (
    Variant("age reset when aggregated (reading 7)", "vaoi", {"policy": {"reset": "aggregated"}}),
    Variant("sampling by age (reading 5)", "vaoi", {"policy": {"choice": "sample"}}),
    Variant("logits as the feature (reading 10)", "vaoi", {"model": {"feature": "logits"}}),
    Variant("one start an epoch (reading 4)", "vaoi", {"starts_per_epoch": 1}),
    Variant("one start an epoch (reading 4)", "fedavg", {"starts_per_epoch": 1}),
    Variant("absent clients stand in (reading 1)", "vaoi", {"aggregation": {"name": "all"}}),
    Variant("shrinkage, m = 5", "vaoi", {"aggregation": {"name": "shrinkage"}}),
    Variant("shrinkage, m = 5", "fedavg", {"aggregation": {"name": "shrinkage"}}),
    Variant("late updates discarded (reading 3)", "fedavg", {"staleness": {"name": "discard"}}),
    Variant("one start slot a group (reading 15)", "fedbacys", {"policy": {"turns": "deadline"}}),
    Variant("groups across epochs (reading 15)", "fedbacys", {"policy": {"turns": "across-epochs"}}),
    Variant("fixed groups (reading 15)", "fedbacys", {"policy": {"grouping": "fixed"}}),
)


def plan_variants(shared: dict[str, Any], seeds: int, folder: Path) -> list[tuple[Variant, list[PlannedRun]]]:
    """Returns the runs of every variant, one for each seed.

    Args:
        shared: Settings of all runs, by section.
        seeds: How many, from 0.
        folder: Where the runs go.
    """
    planned = []
    for number, variant in enumerate(VARIANTS):
        settings = merged(_cell(shared, variant.policy), variant.settings)
        planned.append((variant, plan(settings, {"seed": list(range(seeds))}, folder / f"variant-{number}")))
    return planned


def plan_defaults(shared: dict[str, Any], seeds: int, folder: Path) -> dict[str, list[PlannedRun]]:
    """Returns the runs that the variants are compared with, by policy.

    Args:
        shared: Settings of all runs, by section.
        seeds: How many, from 0.
        folder: Where the runs go.
    """
    policies = dict.fromkeys(variant.policy for variant in VARIANTS)
    return {policy: plan(_cell(shared, policy), {"seed": list(range(seeds))}, folder / policy) for policy in policies}


def compare_variant(variant: list[PlannedRun], default: list[PlannedRun]) -> list[str]:
    """Returns what a reading changes: F1, units and mean age, as differences paired over the seeds that finished.

    Args:
        variant: The runs of the variant.
        default: The runs that they are compared with.
    """
    ones, others = (
        {run.point["seed"]: read_series(run.directory) for run in runs if is_finished(run.directory)}
        for runs in (variant, default)
    )
    if not ones.keys() & others.keys():
        return ["–", "–", "–"]
    return [
        str(paired(*({seed: measure(series) for seed, series in side.items()} for side in (ones, others))))
        for measure in (Series.late_f1, Series.energy, Series.age)
    ]


def _cell(shared: dict[str, Any], policy: str) -> dict[str, Any]:
    return merged(with_policy(shared, policy, POLICIES), CELL)
