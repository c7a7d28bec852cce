"""How much arithmetic a network does."""

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from fallow.learning.network import Network

LAYERS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear)
"""Layers in which each number of the output is the product of a row of weights with as many inputs."""


def forward_flops(network: Network) -> int:
    """Returns the floating-point operations of the forward pass of one sample; a multiply-add is two.

    Convolutions and linear layers are counted, beside which the rest is little. A network with weights elsewhere is
    followed by PyTorch's own counter, which gives the same numbers and takes more than a second to load.

    Args:
        network: The network; its weights stay as they are.

    Examples:
        >>> from fallow.learning.network import build_network
        >>> from fallow.models import MLP
        >>> forward_flops(build_network(MLP(hidden=(10,)), (64,), classes=3, seed=0))  # 2 × (64 × 10 + 10 × 3)
        1340
    """
    layers = [layer for layer in network.module.modules() if isinstance(layer, LAYERS)]
    own = {id(layer.weight) for layer in layers}
    if any(weight.dim() > 1 and id(weight) not in own for weight in network.module.parameters()):
        with FlopCounterMode(display=False) as counter:
            _pass_one(network)
        return int(counter.get_total_flops())
    counted: list[int] = []

    def count(layer: nn.Module, _inputs: tuple[Tensor, ...], output: Tensor) -> None:
        counted.append(2 * output.numel() * layer.get_parameter("weight")[0].numel())

    hooks = [layer.register_forward_hook(count) for layer in layers]
    try:
        _pass_one(network)
    finally:
        for hook in hooks:
            hook.remove()
    return sum(counted)


def _pass_one(network: Network) -> None:
    with torch.no_grad():
        network.module(torch.zeros(1, *network.input_shape, device=network.device))
