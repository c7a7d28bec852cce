"""A network with its first weights, what it must be to be averaged and repeated, and its layers by path."""

import math
from typing import TYPE_CHECKING

import numpy as np

from fallow.errors import ConfigError
from fallow.models.base import OUTPUT_FEATURES, Model, Shape
from fallow.plugins.wording import did_you_mean
from fallow.rng import Purpose, stream

if TYPE_CHECKING:
    from torch import nn


def build_module(model: Model, input_shape: Shape, classes: int, seed: int) -> "nn.Module":
    """Builds a network and gives it its first weights, w(0), which depend on the seed alone.

    Convolutions and linear layers get He's weights (normal, variance 2 / fan-in) and zero biases (reading 14).
    Parameters of other layers keep what their own code gives them, drawn under the same seed.
    """
    import torch
    from torch import nn

    rng = stream(seed, Purpose.WEIGHTS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        module = model.build(input_shape, classes)
    _check_layers(module)
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Conv3d | nn.Linear):
                fan_in = math.prod(layer.weight.shape[1:])
                draws = rng.standard_normal(tuple(layer.weight.shape), dtype=np.float32)
                layer.weight.copy_(torch.from_numpy(draws * np.float32(math.sqrt(2 / fan_in))))
                if layer.bias is not None:
                    layer.bias.zero_()
    return module


def find_layer(module: "nn.Module", path: str) -> "nn.Module":
    """Returns the layer at a path such as ``features.3``; a wrong path is an error that names the nearest one."""
    layers: dict[str, nn.Module] = dict(module.named_modules())
    layers.pop("", None)
    if path not in layers:
        names = [*OUTPUT_FEATURES, *layers]
        raise ConfigError(f"The network has no layer '{path}' to take features from{did_you_mean(path, names)}")
    return layers[path]


def check_repeatable(module: "nn.Module", input_shape: Shape) -> None:
    """Refuses a network that answers the same input otherwise the next time, as dropout does: no seed repeats it."""
    import torch

    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        inputs = torch.rand(4, *input_shape, generator=torch.Generator().manual_seed(0))
        answers = []
        for seed in (1, 2):
            torch.manual_seed(seed)
            answers.append(torch.nan_to_num(module(inputs)))
    if not torch.equal(*answers):
        raise ConfigError(
            "The network gives other numbers for the same input the next time, as dropout does, which no seed here "
            "repeats; take out what is random."
        )


def _check_layers(module: "nn.Module") -> None:
    """Refuses what a weight vector can't carry."""
    buffers = [name for name, _ in module.named_buffers()]
    if buffers:
        raise ConfigError(
            f"The network keeps '{buffers[0]}' beside its weights, as batch normalisation does, and averaging the "
            "clients' weights would lose it; use a layer without running statistics, such as GroupNorm."
        )
    frozen = [name for name, parameter in module.named_parameters() if not parameter.requires_grad]
    if frozen:
        raise ConfigError(
            f"The network's '{frozen[0]}' does not require a gradient; every parameter is trained and averaged here, "
            "so make what is fixed a part of the data."
        )
