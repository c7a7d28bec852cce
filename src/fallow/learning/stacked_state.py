"""Many clients at once, for networks with dropout or running statistics.

Each client has its own masks and statistics, which go into ``torch.func.vmap`` beside its weights. No sample can fill
up a batch here, because the statistics of the batch would see it: the batches of a stack have the same size.
"""

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from fallow.learning.local import squared_losses
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.passes import Passes
from fallow.learning.samples import Samples
from fallow.learning.stacked import NetworkCall
from fallow.learning.stacked_steps import Sums, results
from fallow.learning.state import Trained
from fallow.learning.statistics import with_statistics
from fallow.learning.training import Training, sgd_step
from fallow.models.weights import Weights

Named = dict[str, Tensor]


def train_with_state(
    network: Network, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD
) -> list[Trained]:
    """Returns the results of trainings that are done together, step by step; as ``train_stacked``.

    Args:
        network: Computes the passes.
        weights: w(t), shape (P,), float32.
        trainings: Trainings with the same number of samples and the same batch size.
        samples: The training set.
        sgd: The options of a step.
    """
    stacked = _first_weights(network, weights, trainings)
    parameters, statistics = stacked[:, : network.trained], stacked[:, network.trained :]
    start = parameters[0].clone()
    order, cuts = np.stack([training.order for training in trainings]), trainings[0].cuts()
    streams = [training.dropout_stream() for training in trainings]
    offset = _offset(network, trainings)
    gradient = vmap(grad(_Loss(network), has_aux=True))
    velocity: Tensor | None = None
    sums = Sums.zeros(len(trainings), len(cuts), network.feature_size, network.device)
    with network.training(), torch.no_grad():
        for step, (first, last) in enumerate(cuts):
            inputs, labels = samples.batch(order[:, first:last])
            drawn = [network.dropout.draw(rng, last - first) for rng in streams]
            masks = [torch.stack(of_clients) for of_clients in zip(*drawn, strict=True)]
            views = network.views(stacked)
            # Copies, because normalisation layers overwrite them.
            before = {name: views.pop(name).clone() for name in network.statistics}
            gradients, (loss, squares, features, after) = gradient(views, before, inputs, labels, offset, masks)
            passes = Passes(_joined(gradients), loss, squares, features)
            sums.add(step, passes, np.full(len(trainings), last - first))
            velocity = sgd_step(sgd, parameters, passes.gradient, velocity, start)
            if after:
                statistics.copy_(_joined(after))
    return results(trainings, stacked.cpu(), sums)


class _Loss:
    """The loss of one client's batch, and what else its pass gives."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(
        self, parameters: Named, statistics: Named, inputs: Tensor, labels: Tensor, offset: Tensor, masks: list[Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor, Named]]:
        network = self.network
        network.dropout.load(masks)
        loaded = {f"module.{name}": tensor for name, tensor in (parameters | statistics).items()}
        with torch.autocast(network.device.type, torch.bfloat16, enabled=network.precision == "bf16"):
            logits, seen = functional_call(NetworkCall(network), loaded, inputs)
        logits = logits.float()
        shifted = logits + offset
        loss = cross_entropy(shifted, labels)
        features = network.features(logits, seen).sum(0)
        return loss, (loss.detach(), squared_losses(shifted, labels), features, statistics)


def _first_weights(network: Network, weights: Weights, trainings: list[Training]) -> Tensor:
    """Returns what each training begins with, shape (C, P), float32: w(t), with the client's own statistics."""
    return torch.stack([network.tensor(with_statistics(weights, training.statistics)) for training in trainings])


def _offset(network: Network, trainings: list[Training]) -> Tensor:
    """Returns what each client's loss adds to the logits, shape (C, K), float32."""
    nothing = np.zeros(network.classes, dtype=np.float32)
    offsets = [nothing if training.logit_offset is None else training.logit_offset for training in trainings]
    return torch.tensor(np.stack(offsets), device=network.device)


def _joined(tensors: Named) -> Tensor:
    """Returns tensors of shapes (C, …) side by side, shape (C, numbers of each client)."""
    return torch.cat([tensor.flatten(1) for tensor in tensors.values()], dim=1)
