"""How much arithmetic a network does."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from fallow.learning.network import Network


def forward_flops(network: Network) -> int:
    """Returns the floating-point operations of the forward pass of one sample; a multiply-add is two.

    Convolutions and linear layers are counted, beside which the rest is little.

    Args:
        network: The network; its weights stay as they are.

    Examples:
        >>> from fallow.learning.network import build_network
        >>> from fallow.models import MLP
        >>> forward_flops(build_network(MLP(hidden=(10,)), (64,), classes=3, seed=0))  # 2 × (64 × 10 + 10 × 3)
        1340
    """
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network.module(torch.zeros(1, *network.input_shape, device=network.device))
    return int(counter.get_total_flops())
