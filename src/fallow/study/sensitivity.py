"""The study under other readings of the paper, and with other policies in VAoI's place: one change at a time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.study.grid import NAMES, POLICIES, merged, with_policy
from fallow.study.intervals import paired
from fallow.study.outcomes import Outcome, Results, finished_runs, outcome_of
from fallow.study.results import read_series
from fallow.sweeps.grid import PlannedRun, plan

ALPHA = 0.1
"""Skewed data, where the paper's claims differ most from policy to policy."""

HARVESTS = [0.1, 0.01]
"""Energy for a few trainings an epoch, and for one."""

FOLDER = "sensitivity"


@dataclass(frozen=True)
class Variant:
    """One change to the study.

    Attributes:
        name: In its folder and in the table that is kept.
        title: In words, with its entry in docs/reading-the-paper.md.
        policy: The policy whose runs it is compared with.
        settings: What it sets, by section.
    """

    name: str
    title: str
    policy: str
    settings: dict[str, Any] = field(default_factory=dict)


VARIANTS = (
    Variant("vaoi-reset", "age reset when aggregated (reading 7)", "vaoi", {"policy": {"reset": "aggregated"}}),
    Variant("vaoi-sample", "sampling by age (reading 5)", "vaoi", {"policy": {"choice": "sample"}}),
    Variant("vaoi-logits", "logits as the feature (reading 10)", "vaoi", {"model": {"feature": "logits"}}),
    Variant(
        "vaoi-hidden",
        "the last hidden layer as the feature (reading 10)",
        "vaoi",
        {"model": {"feature": "classifier.4"}},
    ),
    *(
        Variant(f"vaoi-mu-{mu:g}", f"μ = {mu:g} in place of 0.5", "vaoi", {"policy": {"mu": mu}})
        for mu in (0.1, 0.3, 1.0)
    ),
    *(Variant(f"vaoi-k-{k}", f"k = {k} in place of 10", "vaoi", {"policy": {"k": k}}) for k in (5, 20, 50)),
    Variant("vaoi-one-start", "one start an epoch (reading 4)", "vaoi", {"starts_per_epoch": 1}),
    Variant("fedavg-one-start", "one start an epoch (reading 4)", "fedavg", {"starts_per_epoch": 1}),
    Variant("vaoi-all", "absent clients stand in (reading 1)", "vaoi", {"aggregation": {"name": "all"}}),
    Variant("vaoi-shrinkage", "shrinkage, m = 5", "vaoi", {"aggregation": {"name": "shrinkage"}}),
    Variant("fedavg-shrinkage", "shrinkage, m = 5", "fedavg", {"aggregation": {"name": "shrinkage"}}),
    Variant("fedavg-discard", "late updates discarded (reading 3)", "fedavg", {"staleness": {"name": "discard"}}),
    Variant("fedbacys-deadline", "one start slot a group (reading 15)", "fedbacys", {"policy": {"turns": "deadline"}}),
    Variant("fedbacys-across", "groups across epochs (reading 15)", "fedbacys", {"policy": {"turns": "across-epochs"}}),
    Variant("fedbacys-fixed", "fixed groups (reading 15)", "fedbacys", {"policy": {"grouping": "fixed"}}),
    Variant("parameters", "the distance between parameters (Eq. 2)", "vaoi", {"policy": {"name": "vaoi-parameters"}}),
    Variant("oldest", "every change significant, no probe", "vaoi", {"policy": {"name": "oldest"}}),
    Variant("round-robin", "the clients in turn", "vaoi", {"policy": {"name": "round-robin"}}),
    Variant("random-k", "as many clients at random", "vaoi", {"policy": {"name": "random-k"}}),
)

BESIDE = (
    ("vaoi-logits", "round-robin"),
    ("vaoi-logits", "oldest"),
    ("vaoi-hidden", "oldest"),
    ("parameters", "oldest"),
)
"""Variants that are compared with each other: is the one more than the other?"""

Varied = dict[tuple[str, float, int], Outcome]
"""What runs came to, by the variant's name, p_bc and seed."""


def plan_variants(
    shared: dict[str, Any], seeds: int, folder: Path, harvests: Sequence[float] = HARVESTS
) -> list[PlannedRun]:
    """Returns the runs of every variant.

    Args:
        shared: Settings of all runs, by section.
        seeds: How many, from 0.
        folder: Where the runs go.
        harvests: The p_bc of the cells.

    Raises:
        ConfigError: A p_bc is none of those that variants are tried with.
    """
    for p in harvests:
        if p not in HARVESTS:
            raise ConfigError(f"--sensitivity is for p_bc {' and '.join(f'{one:g}' for one in HARVESTS)}, not {p:g}.")
    planned = []
    for variant in VARIANTS:
        settings = merged(merged(shared, {"data": {"alpha": ALPHA}}), variant.settings)
        policy = variant.settings.get("policy", {}).get("name", variant.policy)
        chosen = with_policy(settings, policy, [*POLICIES, policy])
        chosen["policy"] = chosen["policy"] | {"name": policy}
        if "k" in variant.settings.get("policy", {}):
            chosen["policy"]["k"] = min(chosen["policy"]["k"], chosen.get("clients", 100))  # smoke has fewer
        planned += plan(chosen, {"energy.p": list(harvests), "seed": list(range(seeds))}, folder / variant.name)
    return planned


def read_varied(folder: Path) -> Varied:
    """Returns what the finished runs of the variants came to; a folder of another name is left out.

    Args:
        folder: With a folder for each variant; it need not exist.
    """
    return {
        (variant.name, flat["energy.p"], flat["seed"]): outcome_of(read_series(directory))
        for variant in VARIANTS
        for flat, directory in finished_runs(folder / variant.name)
    }


def variants_page(varied: Varied, results: Results) -> list[str]:
    """Returns what each variant changes, as tables in Markdown, one for each p_bc; nothing without runs.

    Args:
        varied: What the variants' runs came to.
        results: The runs under the paper's rule, which they are compared with.
    """
    lines = []
    for p in HARVESTS:
        rows = [row for variant in VARIANTS if (row := _row(variant, varied, results, p))]
        rows += [row for one, other in BESIDE if (row := _beside(one, other, varied, p))]
        if rows:
            lines += ["", f"α = {ALPHA:g}, p_bc = {p:g}:", "", "| change | beside | seeds | F1 | F1, difference |"]
            lines[-1] += " units, difference | age, difference |"
            lines += ["|---|---|---|---|---|---|---|", *rows]
    if not lines:
        return []
    return [
        "## Under other readings",
        "",
        "One change at a time, paired over seeds with the same policy without it. Square brackets hold 95 % intervals, "
        "not corrected for their number. The age is that by updates received, by the feature of the run itself.",
        *lines,
    ]


def _row(variant: Variant, varied: Varied, results: Results, p: float) -> str:
    own = {seed: one for (name, harvest, seed), one in varied.items() if (name, harvest) == (variant.name, p)}
    default = {
        seed: one for (cell, policy, seed), one in results.items() if cell == (ALPHA, p) and policy == variant.policy
    }
    return _line(variant.title, NAMES[variant.policy], own, default)


def _beside(one: str, other: str, varied: Varied, p: float) -> str:
    titles = {variant.name: variant.title for variant in VARIANTS}
    ours, theirs = (
        {seed: run for (name, harvest, seed), run in varied.items() if (name, harvest) == (own, p)}
        for own in (one, other)
    )
    return _line(titles[one], titles[other], ours, theirs)


def _line(title: str, beside: str, own: Mapping[int, Outcome], others: Mapping[int, Outcome]) -> str:
    """Returns a row of the table; nothing where no seed has both."""
    common = sorted(own.keys() & others.keys())
    if not common:
        return ""
    measures: tuple[Callable[[Outcome], float], ...] = (
        lambda run: run.late_f1,
        lambda run: run.energy,
        lambda run: run.age_delivered,
    )
    differences = [
        str(paired(*({seed: measure(side[seed]) for seed in common} for side in (own, others)))) for measure in measures
    ]
    mean = sum(own[seed].late_f1 for seed in common) / len(common)
    return f"| {title} | {beside} | {len(common)} | {mean:.3f} | {' | '.join(differences)} |"
