"""The models by name. A network from outside the project is named ``module:factory``."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fallow.errors import ConfigError
from fallow.models.auto import Auto
from fallow.models.base import Shape
from fallow.models.mlp import MLP
from fallow.models.paper_cnn import PaperCNN
from fallow.models.resnet18_gn import ResNet18GN
from fallow.models.signal_cnn import SignalCNN
from fallow.models.small_cnn import SmallCNN
from fallow.plugins.names import find_outside
from fallow.plugins.options import options_of

if TYPE_CHECKING:
    from torch import nn

MODELS: dict[str, type] = {
    "auto": Auto,
    "paper-cnn": PaperCNN,
    "small-cnn": SmallCNN,
    "mlp": MLP,
    "signal-cnn": SignalCNN,
    "resnet18-gn": ResNet18GN,
}


def resolve_model(name: str) -> type:
    """Returns the class that a name stands for.

    Args:
        name: A key of MODELS, a model of an installed package, or ``module:factory``. A factory is any callable
            ``f(input_shape, classes, …)`` that returns an ``nn.Module``; its other parameters are the options.

    Raises:
        ConfigError: There is no such model, or it is no class and no function.

    Examples:
        >>> resolve_model("small-cnn")
        <class 'fallow.models.small_cnn.SmallCNN'>
    """
    if name in MODELS:
        return MODELS[name]
    found = find_outside(name, MODELS, "model", "fallow.models")
    if isinstance(found, type) and hasattr(found, "build"):
        return found
    if not callable(found):
        raise ConfigError(f"The model '{name}' must be a function or a class; it is a {type(found).__name__}.")
    return options_of(f"The model '{name}'", found, ("input_shape", "classes"), build)


def build(factory: Callable[..., Any], options: Mapping[str, Any], input_shape: Shape, classes: int) -> "nn.Module":
    """Returns the network that a user's factory builds.

    Args:
        factory: The user's function.
        options: Its other parameters, by name.
        input_shape: The shape of one input, without a batch.
        classes: How many classes there are.

    Raises:
        ConfigError: The factory returns no ``nn.Module``.
    """
    from torch import nn

    module = factory(input_shape, classes, **options)
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"The model '{factory.__name__}' must return a torch.nn.Module; it returned a {type(module).__name__}."
        )
    return module
