"""The check of models: a network that can be averaged, repeated and trained, and that leaves its input alone."""

from fallow.conformance.sentences import first_problem, unchanged
from fallow.errors import ConfigError, PluginError
from fallow.models import Model, Shape

SHAPES: tuple[Shape, ...] = ((1, 8, 8), (3, 32, 32), (3, 64), (12,))
"""Inputs that a model is tried with: small and larger images, a signal, a vector. One of them has to do."""
CLASSES = 5


def check_model(model: Model) -> list[str]:
    """Returns what is wrong with a model, in a sentence; an empty list if nothing is.

    Args:
        model: The recipe, made with its options.

    Examples:
        >>> from fallow.models import SmallCNN
        >>> check_model(SmallCNN())
        []
    """
    return first_problem(lambda: _check(model))


def _check(model: Model) -> None:
    from fallow.learning.network_check import check_network  # PyTorch takes seconds to load

    part = f"The model '{type(model).__name__}'"
    refused: list[Exception] = []
    with unchanged(part, model):
        for shape in SHAPES:
            try:
                check_network(part, model, shape, CLASSES)
            except (ConfigError, PluginError) as error:  # a network may be for other inputs
                refused.append(error)
            else:
                return
    raise refused[0]
