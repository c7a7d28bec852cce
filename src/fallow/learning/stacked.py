"""Many clients at once: the trainings of a cohort together, step by step, with their weights stacked.

A small network spends its time on calling operations, not in them. Here each operation serves a whole stack of
clients, whose weights differ. Where their batches differ in size, they are cut into lanes of one size (``ragged``), and
filled up with samples that count for nothing.
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
from fallow.learning.stacked_memory import Buffers
from fallow.learning.stacked_steps import StackedStep, Sums, results, stacked_steps
from fallow.learning.state import Trained
from fallow.learning.training import Training, sgd_step
from fallow.models.weights import Weights

STACKS_KEPT = 64
"""Stacks that a thread keeps. They share their buffers, so each is small."""


class Stack(Protocol):
    """Forward and backward passes of C clients with batches of one size."""

    def gradient(
        self, weights: Tensor, inputs: Tensor, labels: Tensor, offset: Tensor | None, share: Tensor | None
    ) -> Passes:
        """Returns each client's gradient, losses and summed features.

        Args:
            weights: Shape (C, P), float32.
            inputs: Shape (C, batch, *input_shape), float32.
            labels: Shape (C, batch), int64.
            offset: What the loss adds to the logits, shape (C, K), float32; None adds nothing.
            share: The share of each sample in its client's mean loss, shape (C, batch), float32; 0 for a sample that
                only fills up a batch, which adds to no sum either. None: all samples of a client have the same.
        """
        ...


class VmapStack:
    """A stack for any network, by ``torch.func.vmap``."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._gradient = vmap(grad(self._loss, has_aux=True))
        self._shared_gradient = vmap(grad(self._shared_loss, has_aux=True))

    def gradient(
        self, weights: Tensor, inputs: Tensor, labels: Tensor, offset: Tensor | None, share: Tensor | None
    ) -> Passes:
        """See ``Stack``."""
        if offset is None:
            offset = weights.new_zeros(len(weights), self.network.classes)
        given = (self.network.views(weights), inputs, labels, offset)
        gradients, sums = self._gradient(*given) if share is None else self._shared_gradient(*given, share)
        return Passes(torch.cat([g.flatten(1) for g in gradients.values()], dim=1), *sums)

    def _loss(
        self, parameters: dict[str, Tensor], inputs: Tensor, labels: Tensor, offset: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        logits, features = self._pass(parameters, inputs)
        shifted = logits + offset
        loss = cross_entropy(shifted, labels)
        return loss, (loss.detach(), squared_losses(shifted, labels), features.sum(0))

    def _shared_loss(
        self, parameters: dict[str, Tensor], inputs: Tensor, labels: Tensor, offset: Tensor, share: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        logits, features = self._pass(parameters, inputs)
        counts = share > 0
        losses = cross_entropy(logits + offset, labels, reduction="none")
        loss = (losses * share).sum()
        squares = (losses.detach() * counts).double().square().sum()
        return loss, (loss.detach(), squares, (features * counts[:, None]).sum(0))

    def _pass(self, parameters: dict[str, Tensor], inputs: Tensor) -> tuple[Tensor, Tensor]:
        network = self.network
        with torch.autocast(network.device.type, torch.bfloat16, enabled=network.precision == "bf16"):
            loaded = {f"module.{name}": tensor for name, tensor in parameters.items()}
            logits, seen = functional_call(NetworkCall(network), loaded, inputs)
        logits = logits.float()
        return logits, network.features(logits, seen)


class NetworkCall(torch.nn.Module):
    """Lets ``functional_call`` reach a network's hooks."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.module = network.module
        self._network = network

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor | None]:
        """See ``Network.call``."""
        return self._network.call(inputs)


def train_stacked(
    network: Network, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD
) -> list[Trained]:
    """Returns the results of trainings that are done together, step by step.

    If a client diverges, only its weights are affected; the others continue.

    Args:
        network: Computes the passes.
        weights: w(t), shape (P,), float32.
        trainings: None has more steps than the one before it.
        samples: The training set.
        sgd: The options of a step.
    """
    active, start = len(trainings), torch.tensor(weights, device=network.device)
    steps = list(stacked_steps(trainings))
    lanes = start.expand(max(len(step.batch) for step in steps), -1).clone()
    finished: list[Tensor] = []
    velocity: Tensor | None = None
    sums = Sums.zeros(active, len(steps), network.feature_size, network.device)
    shifts = [training.logit_offset for training in trainings if training.logit_offset is not None]
    offset = torch.tensor(np.stack(shifts), device=network.device) if shifts else None
    with torch.no_grad():
        for number, step in enumerate(steps):
            if len(step.counts) < active:
                finished.insert(0, lanes[len(step.counts) : active].clone())
                active = len(step.counts)
            passes = _passes(network, samples, step, lanes[: len(step.batch)], offset)
            sums.add(number, passes, step.counts)
            velocity = None if velocity is None else velocity[:active]
            velocity = sgd_step(sgd, lanes[:active], passes.gradient, velocity, start)
    ended = torch.cat([lanes[:active], *finished]) if finished else lanes[:active]
    return results(trainings, ended.cpu(), sums)


def _passes(network: Network, samples: Samples, step: StackedStep, lanes: Tensor, offset: Tensor | None) -> Passes:
    """Returns what a step gives for each of its clients, whose weights are the first in `lanes`, shape (lanes, P)."""
    active = len(step.counts)
    offset = None if offset is None else offset[:active]
    if len(lanes) > active:
        owners = torch.from_numpy(step.owners).to(network.device)
        torch.index_select(lanes[:active], 0, owners, out=lanes[active:])
        offset = None if offset is None else torch.cat([offset, offset[owners]])
    inputs, labels = samples.batch(step.batch)
    share = None if step.share is None else torch.from_numpy(step.share).to(network.device)
    passes = _stack(network, *step.batch.shape).gradient(lanes, inputs, labels, offset, share)
    return passes.of_clients(active, step.further) if len(lanes) > active else passes


def _stack(network: Network, clients: int, batch: int) -> Stack:
    """Returns the stack for so many clients and samples: the one kept from last time, if there is one."""
    if not network.scratch:
        dtype = torch.bfloat16 if network.precision == "bf16" else torch.float32
        network.scratch |= {"layers": chain_layers(network), "memory": Buffers(dtype, network.device), "stacks": {}}
    layers, memory, stacks = (network.scratch[name] for name in ("layers", "memory", "stacks"))
    key = (clients, batch)
    if key not in stacks:
        grown = memory.grown
        stack = VmapStack(network) if layers is None else ChainStack(network, layers, *key, memory)
        if memory.grown > grown or len(stacks) >= STACKS_KEPT:
            stacks.clear()  # those that hold a buffer from before it grew, at any rate
        stacks[key] = stack
    kept: Stack = stacks[key]
    return kept
