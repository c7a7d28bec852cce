"""What the version ages that a run records are counted by."""

from typing import Literal

from fallow.experiment.sections import Learning
from fallow.policies import Needs

Ages = Literal["features", "parameters", "by chance", "none"]
"""The distance that ages are counted by; "by chance" in an energy-only run, "none" where no ages are recorded."""


def recorded_ages(learning: Learning, needs: Needs) -> tuple[Ages, float]:
    """Returns what a run's recorded ages are counted by, and the distance from which an age grows.

    Args:
        learning: The section of the experiment.
        needs: What the policy needs.
    """
    if learning.mode == "none":
        return "by chance", needs.threshold
    if learning.ages == "always":
        return "features", learning.mu
    return needs.distance, needs.threshold
