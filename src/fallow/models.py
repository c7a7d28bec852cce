"""The networks by name, their first weights, and how a feature layer is named.

A network from outside the project is named ``module:factory``: any callable that takes the shape of one input and
the number of classes and returns an ``nn.Module``. PyTorch is imported when a network is built, not before: to read
an experiment nobody should have to wait for it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from pydantic import Field

from fallow.errors import ConfigError
from fallow.names import did_you_mean, import_attribute, resolve
from fallow.options import options_of
from fallow.rng import Purpose, stream

if TYPE_CHECKING:
    from torch import nn

Shape = tuple[int, ...]

OUTPUT_FEATURES = ("softmax", "logits")
"""The features that are taken from the network's output; every other name is the path of a layer."""


class Model(Protocol):
    """A recipe for networks. A frozen dataclass whose fields are its options."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns a network from (batch, *input_shape), float32, to logits, (batch, classes)."""
        ...


@dataclass(frozen=True)
class PaperCNN:
    """Six convolutions, three max pools, three fully connected layers (reading 14)."""

    width: Annotated[float, Field(gt=0, description="factor on every number of channels and hidden units")] = 1.0

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network; images need at least 8×8 pixels, because three pools halve them."""
        channels, height, width = _image_shape("paper-cnn", input_shape, least=8)
        from torch import nn

        layers: list[nn.Module] = []
        for block in (32, 64, 128):
            out = self._scaled(block)
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.ReLU()]
            layers += [nn.Conv2d(out, out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            channels = out
        flat = channels * (height // 8) * (width // 8)
        return _two_parts(layers, [flat, self._scaled(256), self._scaled(128), classes])

    def _scaled(self, units: int) -> int:
        return max(1, round(units * self.width))


@dataclass(frozen=True)
class SmallCNN:
    """Two convolutions, a max pool and one hidden layer: enough for digits of 8×8 pixels."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network; images need at least 6×6 pixels, because its convolutions have no padding."""
        channels, height, width = _image_shape("small-cnn", input_shape, least=6)
        from torch import nn

        layers = [nn.Conv2d(channels, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2)]
        return _two_parts(layers, [16 * ((height - 4) // 2) * ((width - 4) // 2), 32, classes])


@dataclass(frozen=True)
class Auto:
    """The paper's network for images of at least 16×16 pixels, the small one below."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network that suits the images."""
        suits = PaperCNN() if min(input_shape[1:], default=0) >= 16 else SmallCNN()
        return suits.build(input_shape, classes)


MODELS: dict[str, type] = {
    "auto": Auto,
    "paper-cnn": PaperCNN,
    "small-cnn": SmallCNN,
}


def resolve_model(name: str) -> type:
    """Returns the class that `name` stands for: of the table, or from outside as ``module:factory``.

    A factory is any callable ``f(input_shape, classes, …)`` that returns an ``nn.Module``; its other parameters are the
    options of the model.
    """
    if ":" not in name:
        return resolve(name, MODELS, "model")
    found = import_attribute(name, "model")
    if isinstance(found, type) and hasattr(found, "build"):
        return found
    if not callable(found):
        raise ConfigError(f"The model '{name}' must be a function or a class; it is a {type(found).__name__}.")
    return options_of(f"The model '{name}'", found, ["input_shape", "classes"], build)


def build(factory: Callable[..., Any], options: Mapping[str, Any], input_shape: Shape, classes: int) -> "nn.Module":
    """Calls somebody's factory with the options of the model."""
    from torch import nn

    module = factory(input_shape, classes, **options)
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"The model '{factory.__name__}' must return a torch.nn.Module; it returned a {type(module).__name__}."
        )
    return module


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


def _two_parts(features: "list[nn.Module]", sizes: list[int]) -> "nn.Module":
    """Joins convolutions and a perceptron of the given sizes, with names that feature paths can use."""
    from torch import nn

    classifier: list[nn.Module] = [nn.Flatten()]
    for units_in, units_out in pairwise(sizes):
        classifier += [nn.Linear(units_in, units_out), nn.ReLU()]
    module = nn.Sequential()
    module.add_module("features", nn.Sequential(*features))
    module.add_module("classifier", nn.Sequential(*classifier[:-1]))
    return module


def _image_shape(name: str, input_shape: Shape, least: int) -> tuple[int, int, int]:
    if len(input_shape) != 3 or min(input_shape[1:]) < least:
        raise ConfigError(
            f"The model '{name}' takes images of shape (channels, height, width), at least {least}×{least} pixels; "
            f"the data has inputs of shape {input_shape}."
        )
    channels, height, width = input_shape
    return channels, height, width


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
