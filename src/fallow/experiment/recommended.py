"""The combination that Fallow recommends: who trains, what a client minimises, how updates are combined."""

from typing import Any

from fallow.experiment.experiment import Experiment

RECOMMENDED: dict[str, dict[str, Any]] = {
    "policy": {"name": "random-k", "k": 10, "reserve": True},
    "objective": {"name": "balanced-softmax"},
    "aggregation": {"name": "fedopt", "method": "adam", "eta": 0.01},
    "learning": {"mode": "train", "average": 0.95},
}
"""The settings that differ from the paper's; ``configs/recommended.toml`` has the same."""


def recommended(**changes: Any) -> Experiment:
    """Returns an experiment with the combination that scored best at no more energy than VAoI; docs/results.md has why.

    Ten clients at random; each starts only with the energy to send as well, and in time to arrive in the same epoch.
    They minimise a balanced softmax loss, the server takes a step of Adam along the mean change, and a running mean of
    its iterates is handed out.

    Args:
        **changes: Settings to change, as in `Experiment.replace`.

    Raises:
        ConfigError: A setting is unknown or wrong.

    Examples:
        >>> recommended(clients=20, energy__p=0.05).policy.name
        'random-k'
    """
    return Experiment(**RECOMMENDED).replace(**changes)
