"""From which distance on a run's version ages count a change. Ages of different thresholds do not compare."""

from collections.abc import Iterable, Mapping
from typing import Any

OWN = "own μ"
"""What a heading says of ages that were counted from different thresholds."""


def age_threshold(settings: Mapping[str, Any], summary: Mapping[str, Any]) -> float | None:
    """Returns μ, from which the recorded ages of a run count a change; None where no distance was measured.

    Args:
        settings: The resolved config, flat.
        summary: The totals of the run.

    Examples:
        >>> age_threshold({"learning.ages": "needed", "policy.mu": 0.3}, {"ages": "features"})
        0.3
    """
    if summary.get("ages") not in ("features", "parameters"):
        return None
    always = settings.get("learning.ages") == "always"
    names = ("learning.mu",) if always else ("policy.mu", "policy.threshold")
    return next((float(settings[name]) for name in names if isinstance(settings.get(name), int | float)), None)


def say_thresholds(thresholds: Iterable[float | None]) -> str | None:
    """Returns a sentence that says that ages do not compare; None where they do.

    Args:
        thresholds: Of runs that stand side by side, as `age_threshold` returns them.

    Examples:
        >>> say_thresholds([0.5, 0.3, 0.5, None])
        "Version ages count from each run's own μ (0.3, 0.5) and do not compare; learning.ages = 'always' gives one μ."
        >>> say_thresholds([0.5, 0.5])
    """
    different = sorted({threshold for threshold in thresholds if threshold is not None})
    if len(different) < 2:
        return None
    own = ", ".join(f"{threshold:g}" for threshold in different)
    return f"Version ages count from each run's own μ ({own}) and do not compare; learning.ages = 'always' gives one μ."
