"""Does a model make networks that can be repeated and trained, and that leave their input alone?"""

import numpy as np
import torch

from fallow.errors import PluginError
from fallow.learning.network import build_network
from fallow.models import Model, Shape
from fallow.plugins.calls import blamed

BATCH = 4


def check_network(part: str, model: Model, shape: Shape, classes: int) -> None:
    """Builds the network of a model for inputs of a shape, and uses it as a run would.

    Args:
        part: The model, in words.
        model: The recipe.
        shape: The shape of one input, without a batch.
        classes: K.

    Raises:
        ConfigError: The network can't be averaged or repeated.
        PluginError: It failed, changes its inputs, or has a memory of its own.
    """
    with blamed(part, f"its network for inputs of shape {shape}"):
        first, again = (build_network(model, shape, classes, seed=1) for _ in range(2))
        if not np.array_equal(first.weights(), again.weights()):
            raise PluginError(f"{part} has other first weights when it is built again with the same seed.")
        inputs = torch.rand(BATCH, *shape, generator=torch.Generator().manual_seed(0))
        kept, version = inputs.clone(), inputs._version
        with torch.no_grad():
            answers = [first.forward(inputs)[0].nan_to_num() for _ in range(2)]
        if inputs._version != version or not torch.equal(inputs, kept):
            raise PluginError(f"{part} changes the inputs that its network is given; let the first layer copy them.")
        if not torch.equal(*answers):
            raise PluginError(
                f"{part} has a network with a memory: for the same input it gave other numbers next time."
            )
        if answers[0].shape != (BATCH, classes):
            raise PluginError(
                f"{part} returns shape {tuple(answers[0].shape)} for {BATCH} inputs; it must be ({BATCH}, {classes})."
            )
        with first.training():
            torch.autograd.backward(first.forward(kept)[0].sum())
