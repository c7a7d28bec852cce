"""Networks: their first weights, checks that they can be averaged and repeated, and their layers by path."""

import math
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from fallow.errors import ConfigError
from fallow.memory import check_memory
from fallow.models.base import OUTPUT_FEATURES, Model, Shape
from fallow.models.names import MODELS
from fallow.plugins.wording import did_you_mean
from fallow.rng import Purpose, stream

if TYPE_CHECKING:
    from torch import nn

COPIES = 4
"""A model in float32 is held at least so often: the global one, and a client's with its gradient and its update."""

BATCHES_SEEN = "num_batches_tracked"
"""What a normalisation layer counts beside its statistics; it has no use unless its momentum is None."""


def build_module(model: Model, input_shape: Shape, classes: int, seed: int) -> "nn.Module":
    """Returns a network with its first weights, w(0), which depend on the seed alone.

    Convolutions and linear layers get He's weights (normal, variance 2 / fan-in) and zero biases (reading 14).
    Other layers keep the parameters that their code draws under the same seed.

    Args:
        model: The recipe.
        input_shape: The shape of one input, without a batch.
        classes: How many classes there are.
        seed: The seed of the weights.

    Raises:
        ConfigError: The network keeps numbers that are neither trained nor running statistics, so clients' weights
            can't be averaged; or no memory of this machine can hold it.

    Examples:
        >>> from fallow.models import SmallCNN
        >>> module = build_module(SmallCNN(), input_shape=(1, 8, 8), classes=10, seed=0)
        >>> sum(parameter.numel() for parameter in module.parameters())
        3658
    """
    import torch
    from torch import nn

    check_size(model, input_shape, classes)
    rng = stream(seed, Purpose.WEIGHTS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        module = model.build(input_shape, classes)
    check_layers(module)
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.Linear):
                fan_in = math.prod(layer.weight.shape[1:])
                draws = rng.standard_normal(tuple(layer.weight.shape), dtype=np.float32)
                layer.weight.copy_(torch.from_numpy(draws * np.float32(math.sqrt(2 / fan_in))))
                if layer.bias is not None:
                    layer.bias.zero_()
    return module


def check_size(model: Model, input_shape: Shape, classes: int) -> None:
    """Checks that a network of Fallow's can be held in memory; it is laid out without its numbers first.

    Args:
        model: The recipe; one from outside may do more than lay out layers, and is left alone.
        input_shape: The shape of one input, without a batch.
        classes: How many classes there are.

    Raises:
        ConfigError: It can't.
    """
    import torch

    if type(model) not in MODELS.values():
        return
    what, advice = f"The network {model}", "lower its width or its units, or take smaller inputs or fewer classes"
    try:
        with torch.device("meta"):
            numbers = sum(part.numel() for part in model.build(input_shape, classes).parameters())
    except (RuntimeError, TypeError, OverflowError):  # sizes that PyTorch can't even count
        raise ConfigError(f"{what} is larger than any memory; {advice}.") from None
    check_memory(COPIES * 4 * numbers, f"{what} of {numbers} parameters", advice)


def find_layer(module: "nn.Module", path: str) -> "nn.Module":
    """Returns the layer at a path.

    Args:
        module: The network.
        path: As in ``features.3``.

    Raises:
        ConfigError: There is no such layer; the error names the most similar path.
    """
    layers: dict[str, nn.Module] = dict(module.named_modules())
    layers.pop("", None)
    if path not in layers:
        names = [*OUTPUT_FEATURES, *layers]
        raise ConfigError(f"The network has no layer '{path}' to take features from{did_you_mean(path, names)}")
    return layers[path]


def check_repeatable(module: "nn.Module", input_shape: Shape) -> None:
    """Checks that a network in training always gives the same output for the same input, and leaves the input alone.

    Args:
        module: The network, without dropout layers: they drop by chance.
        input_shape: The shape of one input, without a batch.

    Raises:
        ConfigError: The output is random, or the network writes into its input.
    """
    import torch

    answers = []
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        inputs = torch.rand(4, *input_shape, generator=torch.Generator().manual_seed(0))
        for seed in (1, 2):
            torch.manual_seed(seed)
            # A copy, because a pass in training changes running statistics.
            answers.append(torch.nan_to_num(deepcopy(module).cpu().train()(inputs)))
            if inputs._version:  # PyTorch counts what is written into a tensor
                raise ConfigError(
                    "The network changes the inputs that it is given, so that the data would not be what it was; let "
                    "its first layer work on a copy, without inplace=True."
                )
    if not torch.equal(*answers):
        raise ConfigError(
            "The network gives other numbers for the same input the next time, in a way that no seed here repeats; "
            "take out what is random. The layers Dropout, Dropout1d, Dropout2d and Dropout3d of torch.nn may stay."
        )


def check_layers(module: "nn.Module") -> None:
    """Checks that a network's parameters are trained, and that it keeps nothing else but running statistics.

    Args:
        module: The network.

    Raises:
        ConfigError: It keeps something else, or a parameter is not trained.
    """
    from torch.nn.modules.batchnorm import _NormBase

    for path, layer in module.named_modules():
        for name, buffer in layer.named_buffers(recurse=False):
            if not isinstance(layer, _NormBase) or not (buffer.is_floating_point() or name == BATCHES_SEEN):
                raise ConfigError(
                    f"The network keeps '{f'{path}.{name}'.strip('.')}' beside its weights, no running mean or variance"
                    " of a normalisation layer, and averaging the clients' weights would lose it; make it a parameter, "
                    "or compute it in forward."
                )
        if isinstance(layer, _NormBase) and layer.track_running_stats and layer.momentum is None:
            raise ConfigError(
                f"The layer '{path}' has momentum = None, so that its statistics hang on how many batches it has ever "
                "seen, which no average of clients tells; set a momentum, such as 0.1."
            )
    frozen = [name for name, parameter in module.named_parameters() if not parameter.requires_grad]
    if frozen:
        raise ConfigError(
            f"The network's '{frozen[0]}' does not require a gradient; every parameter is trained and averaged here, "
            "so make what is fixed a part of the data."
        )
