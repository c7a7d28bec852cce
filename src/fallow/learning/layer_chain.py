"""Stacked passes of networks that are a chain of simple layers, several times faster than the general way."""

import torch
from torch import Tensor, nn

from fallow.learning.network import Network
from fallow.learning.passes import Passes
from fallow.learning.stacked_layers import STACKED, Parameters, StackedLayer, by_client, can_stack
from fallow.learning.stacked_memory import Buffers

Layers = list[tuple[str, nn.Module]]


def chain_layers(network: Network) -> Layers | None:
    """Returns the layers of a network in order, each with its path; None if it is no chain of supported layers."""
    layers = _flattened("", network.module)
    if layers is None or len(network.input_shape) not in (1, 3) or not _fits(layers, len(network.input_shape) == 1):
        return None
    held = [name for path, layer in layers for name in _own_parameters(path, layer)]
    # A layer that is used twice holds its parameters once, and its gradient would be written twice.
    return layers if sorted(held) == sorted(network.shapes) else None


class ChainStack:
    """The passes of C clients with batches of one size; see ``stacked.Stack``."""

    def __init__(self, network: Network, layers: Layers, clients: int, batch: int, memory: Buffers) -> None:
        self.network = network
        self.dtype = memory.nothing.dtype
        memory.begin()
        self.paths = [path for path, _ in layers]
        self.layers: list[StackedLayer] = []
        shape = network.input_shape
        self.images = memory.images(batch, clients, shape) if len(shape) == 3 else None
        for _, layer in layers:
            self.layers.append(STACKED[type(layer)](layer, clients, shape, batch, memory))
            shape = self.layers[-1].shape
        # One buffer for each parameter, because batched products into parts of a larger one are slow.
        self.buffers = {name: memory.new(clients, *shape) for name, shape in network.shapes.items()}
        self.gradients = self._by_layer(self.buffers)
        self.flat = memory.new(clients, network.size)
        self.first = next(k for k, gradients in enumerate(self.gradients) if gradients)
        self.feature_after = max((k for k, path in enumerate(self.paths) if _inside(path, network.feature)), default=-1)

    def gradient(
        self, weights: Tensor, inputs: Tensor, labels: Tensor, offset: Tensor | None, share: Tensor | None
    ) -> Passes:
        """See ``stacked.Stack``."""
        parameters = self._by_layer(self.network.views(weights.to(self.dtype)))
        x = inputs.to(self.dtype).contiguous()
        if self.images is not None:
            by_client(self.images, len(weights)).copy_(inputs)
            x = self.images
        features = None
        for k, layer in enumerate(self.layers):
            x = layer.forward(x, parameters[k])
            if k == self.feature_after:
                seen = by_client(x, len(weights)) if x.dim() == 4 else x
                features = _counted(seen.flatten(2), share).sum(1, dtype=torch.float32)
        logits = x.float()
        shifted = logits if offset is None else logits + offset[:, None]
        log_probability = shifted.log_softmax(2)
        target = labels[..., None]
        losses = _counted(-log_probability.gather(2, target), share)
        dy = log_probability.exp()
        if features is None:
            softmax = dy if offset is None else logits.softmax(2)
            features = _counted(softmax if self.network.feature == "softmax" else logits, share).sum(1)
        dy.scatter_add_(2, target, dy.new_full((1, 1, 1), -1.0).expand(target.shape))
        dy = (dy.div_(labels.shape[1]) if share is None else dy.mul_(share[..., None])).to(self.dtype)
        for k in range(len(self.layers) - 1, self.first - 1, -1):
            dy = self.layers[k].backward(dy, parameters[k], self.gradients[k], need_dx=k > self.first)
        torch.cat([buffer.flatten(1) for buffer in self.buffers.values()], dim=1, out=self.flat)
        loss = losses.mean((1, 2)) if share is None else (losses * share[..., None]).sum((1, 2))
        return Passes(self.flat.float(), loss, losses.double().square().sum((1, 2)), features)

    def _by_layer(self, named: Parameters) -> list[Parameters]:
        """Returns the tensors of each layer by their names in the layer, out of tensors by their whole paths."""
        return [
            {name: named[f"{path}.{name}"] for name in ("weight", "bias") if f"{path}.{name}" in named}
            for path in self.paths
        ]


def _counted(values: Tensor, share: Tensor | None) -> Tensor:
    """Returns values of samples, shape (C, batch, …), with zeros for those that only fill up a batch."""
    return values if share is None else values * (share > 0)[..., None]


def _fits(layers: Layers, flat: bool) -> bool:
    """Returns whether each layer gets inputs that it supports: images before they are flattened, numbers after."""
    for _, layer in layers:
        if (isinstance(layer, nn.Linear) and not flat) or (isinstance(layer, nn.Conv2d | nn.MaxPool2d) and flat):
            return False
        flat = flat or isinstance(layer, nn.Flatten)
    return True


def _flattened(path: str, module: nn.Module) -> Layers | None:
    """Returns the layers inside nested ``nn.Sequential``; None if a layer is not supported."""
    if type(module) is not nn.Sequential:
        return [(path, module)] if type(module) in STACKED and can_stack(module) else None
    layers: Layers = []
    for name, child in module._modules.items():
        inner = _flattened(f"{path}.{name}" if path else name, child) if child is not None else None
        if inner is None:
            return None
        layers += inner
    return layers


def _own_parameters(path: str, layer: nn.Module) -> list[str]:
    return [f"{path}.{name}" if path else name for name, _ in layer.named_parameters()]


def _inside(path: str, feature: str) -> bool:
    return path == feature or path.startswith(f"{feature}.")
