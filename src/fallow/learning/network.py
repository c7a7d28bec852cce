"""A network whose weights are read and written as one flat vector, and the layer that its features come from."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fallow.errors import ConfigError
from fallow.learning.dropout import SeededDropout, seed_dropouts
from fallow.learning.options import Precision
from fallow.learning.statistics import least_batch, mixes_samples, prepare_statistics
from fallow.models import OUTPUT_FEATURES, Model, Shape, build_module, check_layers, check_repeatable, find_layer
from fallow.models.weights import Weights


class Network:
    """A module with its weights in a flat vector of P numbers: its T parameters, then its running statistics.

    It takes the module over: dropout layers are replaced by seeded ones. Outside of `training`, nothing is dropped, and
    normalisation layers use their running statistics.

    Attributes:
        module: The layers. Its parameters and statistics hold the weights that were loaded last.
        input_shape: The shape of one input, without a batch.
        classes: K, the number of classes.
        feature: "softmax", "logits" or the path of a layer (reading 10).
        feature_size: F, the numbers in the feature of one sample.
        precision: "bf16" computes in bfloat16; weights, losses and features stay float32.
        shapes: The shape of each parameter and statistic, by name, in the order of the flat vector.
        size: P, the numbers in the flat vector.
        trained: T, how many of them are parameters; the others are running statistics.
        least_batch: The fewest samples of a batch in training: 2 with batch normalisation, or else 1.
        statistics: The names of the running statistics.
        dropout: The masks of dropout layers.
        whole_batches: Whether a batch has to be as it is, without samples that fill it up: because of statistics or
            dropout, or because the samples of a batch change each other's output.
        samples_at_once: Most samples of one forward pass, few enough for the processor's cache. It depends on the shape
            of an input alone, because another number could change the last bits of results.
        scratch: Buffers that fast code keeps between calls. A network belongs to one thread; others use a replica.
    """

    def __init__(
        self,
        module: nn.Module,
        input_shape: Shape,
        classes: int,
        feature: str = "softmax",
        precision: Precision = "fp32",
        device: str = "cpu",
    ) -> None:
        if feature not in OUTPUT_FEATURES:
            find_layer(module, feature)
        check_layers(module)
        self.dropout = seed_dropouts(module)
        prepare_statistics(module)
        # Channels last is the order in which convolutions and pools run fastest on processors.
        self.module = module.to(device).to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
        self.input_shape = input_shape
        self.classes = classes
        self.feature = feature
        self.precision: Precision = precision
        self.device = torch.device(device)
        self.statistics = [name for name, _ in module.named_buffers()]
        tensors = dict(module.named_parameters()) | dict(module.named_buffers())
        self.shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        self.size = sum(tensor.numel() for tensor in tensors.values())
        self.trained = sum(parameter.numel() for parameter in module.parameters())
        self.least_batch = least_batch(module)
        self.samples_at_once = min(1024, max(16, 2**18 // math.prod(input_shape)))
        self.scratch: dict[Any, Any] = {}
        self.feature_size = self._measure_features()
        self.whole_batches = bool(self.statistics or self.dropout.calls) or mixes_samples(self.module, input_shape)

    def replica(self) -> "Network":
        """Returns an independent network of the same layers, for another thread."""
        return Network(
            deepcopy(self.module), self.input_shape, self.classes, self.feature, self.precision, str(self.device)
        )

    def weights(self) -> Weights:
        """Returns a copy of the module's weights, shape (P,), float32."""
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in self._tensors()])
        return np.asarray(flat.cpu().numpy())

    def load(self, weights: Weights) -> Tensor:
        """Copies weights into the module and returns a second copy, as `tensor` does.

        Args:
            weights: Shape (P,), float32.

        Returns:
            Shape (P,), float32.
        """
        flat = self.tensor(weights)
        with torch.no_grad():
            for tensor, values in zip(self._tensors(), self.views(flat).values(), strict=True):
                tensor.copy_(values)
        return flat

    @contextmanager
    def training(self) -> Iterator[None]:
        """Lets normalisation layers use and track the statistics of batches; masks may be loaded meanwhile."""
        self.module.train()
        try:
            yield
        finally:
            self.module.eval()
            self.dropout.load(())

    def tensor(self, weights: Weights) -> Tensor:
        """Returns a copy of weights on the network's device, shape (P,), float32.

        A running variance below 0 becomes 0: a rule that adds changes can lead there, and it has no root.

        Args:
            weights: Shape (P,), float32.
        """
        flat = torch.tensor(weights, device=self.device)
        views = self.views(flat) if self.statistics else {}
        for name in self.statistics:
            if name.endswith("running_var"):
                views[name].clamp_(min=0)
        return flat

    def views(self, weights: Tensor) -> dict[str, Tensor]:
        """Returns a view of each parameter's part of the weights, by name.

        Args:
            weights: Shape (…, P), float32.

        Returns:
            Views of shape (…, *shape of the parameter).
        """
        stacked = weights.shape[:-1]
        sizes = [torch.Size(shape).numel() for shape in self.shapes.values()]
        parts = torch.split(weights, sizes, dim=-1)
        return {
            name: part.view(*stacked, *shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)
        }

    def named_arrays(self, weights: Weights) -> dict[str, NDArray[np.float32]]:
        """Returns the weights of each parameter, in the parameter's shape, float32, by name.

        Args:
            weights: Shape (P,), float32.
        """
        parts = np.split(weights, np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])[:-1])
        return {name: part.reshape(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the logits and the features of inputs, under the weights loaded last.

        Args:
            inputs: Shape (batch, *input_shape), float32.

        Returns:
            Logits, shape (batch, K), float32, and features, shape (batch, F), float32, outside of the gradient.
        """
        if inputs.dim() == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            logits, seen = self.call(inputs)
        logits = logits.float()
        return logits, self.features(logits, seen)

    def call(self, inputs: Tensor) -> tuple[Tensor, Tensor | None]:
        """Returns the module's output for inputs, and the output of the feature's layer; None if it is no layer."""
        if self.feature in OUTPUT_FEATURES:
            return self.module(inputs), None
        seen: list[Tensor] = []
        layer = find_layer(self.module, self.feature)
        # A copy, because a layer that follows may work in place.
        handle = layer.register_forward_hook(lambda _layer, _inputs, output: seen.append(output.detach().clone()))
        try:
            logits = self.module(inputs)
        finally:
            handle.remove()
        return logits, seen[-1]

    def features(self, logits: Tensor, seen: Tensor | None) -> Tensor:
        """Returns z, shape (batch, F), float32: the softmax, the logits, or the layer's output flattened.

        Args:
            logits: Shape (batch, K), float32.
            seen: The output of the feature's layer, shape (batch, …); None if the feature is no layer.
        """
        if seen is not None:
            return seen.flatten(1).float()
        return logits.detach().softmax(1) if self.feature == "softmax" else logits.detach()

    def _tensors(self) -> list[Tensor]:
        return [*self.module.parameters(), *self.module.buffers()]

    def _measure_features(self) -> int:
        logits, features = self._pass(1)
        if logits.shape != (1, self.classes):
            raise ConfigError(
                f"The network returns shape {tuple(logits.shape)} for one input; it must be (1, {self.classes}), a "
                "number for each class."
            )
        if any(isinstance(layer, SeededDropout) for layer in self.module.modules()):
            self.dropout.measure(self._pass)
        return features.shape[1]

    def _pass(self, batch: int) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            return self.forward(torch.zeros(batch, *self.input_shape, device=self.device))


def build_network(
    model: Model,
    input_shape: Shape,
    classes: int,
    seed: int,
    feature: str = "softmax",
    precision: Precision = "fp32",
    device: str = "cpu",
) -> Network:
    """Returns a network with its first weights, w(0).

    Args:
        model: The recipe.
        input_shape: The shape of one input, without a batch.
        classes: K, the number of classes.
        seed: The seed of the weights.
        feature: "softmax", "logits" or the path of a layer (reading 10).
        precision: "fp32" or "bf16".
        device: "cpu" or "cuda".

    Raises:
        ConfigError: The network can't be averaged or repeated, or has no such layer.

    Examples:
        >>> from fallow.models import SmallCNN
        >>> network = build_network(SmallCNN(), input_shape=(1, 8, 8), classes=10, seed=0)
        >>> network.weights().shape, network.feature_size
        ((3658,), 10)
    """
    module = build_module(model, input_shape, classes, seed)
    network = Network(module, input_shape, classes, feature, precision, device)
    check_repeatable(network.module, input_shape)
    return network
