"""The training of one client, step by step: BatchTrain of Algorithm 1."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.samples import Samples
from fallow.learning.state import Trained
from fallow.learning.statistics import with_statistics
from fallow.learning.training import Training, sgd_step
from fallow.models.weights import Weights, all_finite


def train(network: Network, weights: Weights, training: Training, samples: Samples, sgd: SGD) -> Trained:
    """Returns the result of one client's training from the global weights; stops at the step that diverges.

    Args:
        network: Computes the passes; afterwards it holds the weights of the client.
        weights: w(t), shape (P,), float32.
        training: The client's samples, in order.
        samples: The training set.
        sgd: The options of a step.
    """
    with network.training():
        return _train(network, with_statistics(weights, training.statistics), training, samples, sgd)


def _train(network: Network, weights: Weights, training: Training, samples: Samples, sgd: SGD) -> Trained:
    start = list(network.views(network.load(weights)).values())
    parameters = list(network.module.parameters())
    velocity: list[Tensor | None] = [None] * len(parameters)
    feature_sum = torch.zeros(network.feature_size, dtype=torch.float64, device=network.device)
    loss_sum, square_sum, seen, diverged_at = 0.0, 0.0, 0, None
    masks = training.dropout_stream() if network.dropout.calls else None
    offset = None if training.logit_offset is None else torch.tensor(training.logit_offset, device=network.device)
    for step, batch in enumerate(training.batches()):
        inputs, labels = samples.batch(batch)
        if masks is not None:
            network.dropout.load(network.dropout.draw(masks, len(batch)))
        logits, features = network.forward(inputs)
        if offset is not None:
            logits = logits + offset
        loss = cross_entropy(logits, labels)
        feature_sum += features.sum(0, dtype=torch.float64)  # Eq. (6): the step makes this forward pass anyway
        loss_sum, seen = loss_sum + loss.item() * len(batch), seen + len(batch)
        square_sum += squared_losses(logits, labels).item()
        if not math.isfinite(loss_sum):
            diverged_at = step
            break
        gradients = torch.autograd.grad(loss, parameters, materialize_grads=True)
        with torch.no_grad():
            for k, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
                velocity[k] = sgd_step(sgd, parameter, gradient, velocity[k], start[k])
    result = network.weights()
    if diverged_at is None and not all_finite(result):
        diverged_at = len(training.batches()) - 1
    moment = (feature_sum / seen).cpu().numpy().astype(np.float32)
    return Trained(
        training.client, training.slot, result, moment, loss_sum / seen, diverged_at, math.sqrt(square_sum / seen)
    )


def squared_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Returns the sum of the samples' squared losses, outside of the gradient, shape ().

    Args:
        logits: Shape (batch, K), float32.
        labels: Shape (batch,), int64.
    """
    return cross_entropy(logits.detach(), labels, reduction="none").double().square().sum()
