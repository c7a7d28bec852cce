"""What a network computes, counted by hand and by PyTorch's own counter."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from fallow.learning.network import Network
from fallow.learning.operations import forward_flops
from fallow.models import MLP, PaperCNN, ResNet18GN, SignalCNN, SmallCNN
from tests.learning.worlds import Given, dropping, named, normalised


class Projected(nn.Module):
    """A matrix of its own before a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = nn.Parameter(torch.ones(12, 5))
        self.last = nn.Linear(5, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        out: Tensor = self.last(inputs @ self.matrix)
        return out


NETWORKS: dict[str, Callable[[], Network]] = {
    "small": lambda: named(SmallCNN()),
    "the paper's": lambda: named(PaperCNN(width=0.125), (3, 32, 32)),
    "vectors": lambda: named(MLP(hidden=(8, 6)), (12,)),
    "signals": lambda: named(SignalCNN(width=0.25), (3, 16)),
    "group normalisation": lambda: named(ResNet18GN(width=0.0625)),
    "dropout": dropping,
    "running statistics": normalised,
    "a matrix of its own": lambda: named(Given(Projected()), (12,)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_operations_are_those_that_pytorch_counts(name: str) -> None:
    network = NETWORKS[name]()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network.module(torch.zeros(1, *network.input_shape))
    assert forward_flops(network) == counter.get_total_flops() > 0


def test_weights_outside_of_layers_count() -> None:
    assert forward_flops(NETWORKS["a matrix of its own"]()) == 2 * (12 * 5 + 5 * 10)


def test_counting_leaves_the_network_as_it_was() -> None:
    network = named(SmallCNN())
    before = network.weights()
    forward_flops(network)
    assert (network.weights() == before).all()
    assert not any(layer._forward_hooks for layer in network.module.modules())
