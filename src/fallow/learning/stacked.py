"""Many clients at once: the trainings of a cohort together, step by step, with their weights stacked.

A small network spends its time on calling operations, not in them. Here each operation serves a whole stack of
clients, whose weights differ but whose batches have the same size.
"""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from fallow.learning.layer_chain import ChainStack, chain_layers
from fallow.learning.local import squared_losses
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.passes import Passes
from fallow.learning.samples import Samples
from fallow.learning.state import Trained
from fallow.learning.training import Training, sgd_step
from fallow.models.weights import Weights

STACKS_KEPT = 8
"""Stacks whose buffers a thread keeps: enough for the usual sizes of a cohort's parts and batches."""


class Stack(Protocol):
    """Forward and backward passes of C clients with batches of one size."""

    def gradient(self, weights: Tensor, inputs: Tensor, labels: Tensor, offset: Tensor | None) -> Passes:
        """Returns each client's gradient, losses and summed features.

        Args:
            weights: Shape (C, P), float32.
            inputs: Shape (C, batch, *input_shape), float32.
            labels: Shape (C, batch), int64.
            offset: What the loss adds to the logits, shape (C, K), float32; None adds nothing.
        """
        ...


class VmapStack:
    """A stack for any network, by ``torch.func.vmap``."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._gradient = vmap(grad(self._loss, has_aux=True))

    def gradient(self, weights: Tensor, inputs: Tensor, labels: Tensor, offset: Tensor | None) -> Passes:
        """See ``Stack``."""
        if offset is None:
            offset = weights.new_zeros(len(weights), self.network.classes)
        gradients, (loss, squares, features) = self._gradient(self.network.views(weights), inputs, labels, offset)
        return Passes(torch.cat([g.flatten(1) for g in gradients.values()], dim=1), loss, squares, features)

    def _loss(
        self, parameters: dict[str, Tensor], inputs: Tensor, labels: Tensor, offset: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        network = self.network
        with torch.autocast(network.device.type, torch.bfloat16, enabled=network.precision == "bf16"):
            logits, seen = functional_call(_Call(network), {f"module.{k}": v for k, v in parameters.items()}, inputs)
        logits = logits.float()
        shifted = logits + offset
        loss = cross_entropy(shifted, labels)
        return loss, (loss.detach(), squared_losses(shifted, labels), network.features(logits, seen).sum(0))


class _Call(torch.nn.Module):
    """Lets ``functional_call`` reach a network's hooks."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.module = network.module
        self._network = network

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor | None]:
        return self._network.call(inputs)


def train_stacked(
    network: Network, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD
) -> list[Trained]:
    """Returns the results of trainings that are done together, step by step.

    If a client diverges, only its weights are affected; the others continue.

    Args:
        network: Computes the passes.
        weights: w(t), shape (P,), float32.
        trainings: Trainings with the same number of samples and the same batch size.
        samples: The training set.
        sgd: The options of a step.
    """
    clients, start = len(trainings), torch.tensor(weights, device=network.device)
    order = np.stack([training.order for training in trainings])
    size = trainings[0].batch_size
    stacked = start.expand(clients, -1).clone()
    feature_sum = torch.zeros(clients, network.feature_size, dtype=torch.float64, device=network.device)
    velocity: Tensor | None = None
    losses, squares, counts = [], [], []
    shifts = [training.logit_offset for training in trainings if training.logit_offset is not None]
    offset = torch.tensor(np.stack(shifts), device=network.device) if shifts else None
    with torch.no_grad():
        for first in range(0, order.shape[1], size):
            batch = order[:, first : first + size]
            inputs, labels = samples.batch(batch)
            gradient, loss, square, features = _stack(network, *batch.shape).gradient(stacked, inputs, labels, offset)
            feature_sum += features
            losses.append(loss)
            squares.append(square)
            counts.append(batch.shape[1])
            velocity = sgd_step(sgd, stacked, gradient, velocity, start)
    rms_losses = (torch.stack(squares, 1).sum(1) / sum(counts)).sqrt().tolist()
    return _results(trainings, stacked.cpu(), feature_sum.cpu(), torch.stack(losses, 1).cpu(), rms_losses, counts)


def _stack(network: Network, clients: int, batch: int) -> Stack:
    """Returns the stack for so many clients and samples: the one kept from last time, if there is one."""
    key = (clients, batch)
    if key not in network.scratch:
        while len(network.scratch) >= STACKS_KEPT:
            network.scratch.pop(next(iter(network.scratch)))
        layers = chain_layers(network)
        network.scratch[key] = VmapStack(network) if layers is None else ChainStack(network, layers, *key)
    stack: Stack = network.scratch[key]
    return stack


def _results(
    trainings: list[Training],
    weights: Tensor,
    feature_sum: Tensor,
    losses: Tensor,
    rms_losses: list[float],
    counts: list[int],
) -> list[Trained]:
    """Returns the result of each training in a stack; `losses` has shape (C, steps)."""
    samples = sum(counts)
    moments = (feature_sum / samples).numpy().astype(np.float32)
    mean_losses = (losses.double() @ torch.tensor(counts, dtype=torch.float64) / samples).tolist()
    finite = torch.isfinite(losses).numpy()
    finite[:, -1] &= torch.isfinite(weights.sum(1, dtype=torch.float64)).numpy()
    results = []
    for k, training in enumerate(trainings):
        trained_weights = weights[k].numpy().copy()  # so that one result does not keep the whole stack in memory
        diverged_at = None if finite[k].all() else int(np.argmin(finite[k]))
        results.append(
            Trained(
                training.client,
                training.slot,
                trained_weights,
                moments[k],
                mean_losses[k],
                diverged_at,
                rms_losses[k],
            )
        )
    return results
