"""The learning of Algorithm 1, batch by batch and slot by slot, one client at a time, with nothing but plain PyTorch.

Who starts, trains and uploads when is given: the battery side is transcribed in ``algorithms.py``.
"""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn


@dataclass
class Client:
    """What one client holds: its model, its place in the pass, its message and its memory."""

    images: torch.Tensor
    labels: torch.Tensor
    model: nn.Module | None = None
    batches: list[np.ndarray] = field(default_factory=list)
    step: int = 0
    feature_sum: torch.Tensor | None = None
    message: nn.Module | None = None
    begun: int = 0
    h: torch.Tensor | None = None
    draw_masks: Callable[[int], list[torch.Tensor]] | None = None
    statistics: dict[str, torch.Tensor] = field(default_factory=dict)


def softmax_features(model: nn.Module, images: torch.Tensor) -> torch.Tensor:
    model.eval()
    with torch.no_grad():
        return torch.softmax(model(images), dim=1)


def statistics_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """Running means and variances, by name."""
    return {name: buffer.clone() for name, buffer in model.named_buffers() if name.endswith(("_mean", "_var"))}


def with_own_statistics(model: nn.Module, client: Client) -> nn.Module:
    """A copy of the model, with the statistics that the client kept from its last training."""
    copied = copy.deepcopy(model)
    for name, buffer in copied.named_buffers():
        if name in client.statistics:
            buffer.copy_(client.statistics[name])
    return copied


def batch_train(client: Client, kappa: int, lr: float, keep_local: bool) -> None:
    """BatchTrain (Alg. 1, lines 23-29): one step; after the last, save the message and the moment."""
    if client.step < len(client.batches):  # rounding up can use the samples up before the last slots
        batch = torch.from_numpy(client.batches[client.step])
        client.model.train()
        if client.draw_masks is not None:
            client.model.masks = client.draw_masks(len(batch))
        logits = client.model(client.images[batch])
        client.feature_sum = client.feature_sum + torch.softmax(logits.detach(), dim=1).sum(0)
        loss = nn.functional.cross_entropy(logits, client.labels[batch])
        client.model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in client.model.parameters():
                parameter -= lr * parameter.grad
    if client.step == kappa - 1:
        client.message = client.model
        client.h = client.feature_sum / len(client.labels)
        if keep_local:
            client.statistics = statistics_of(client.model)
    client.step += 1


def client_scores(model: nn.Module, clients: list[Client]) -> tuple[list[float], list[float]]:
    """Mean loss −log p(label) and share of right guesses over each client's samples, one sample after the other."""
    losses, accuracies = [], []
    for client in clients:
        loss, right = 0.0, 0
        for image, label in zip(client.images, client.labels, strict=True):
            scores = softmax_features(model, image[None])[0].double().tolist()
            loss -= math.log(scores[int(label)])
            right += scores.index(max(scores)) == int(label)
        losses.append(loss / len(client.labels))
        accuracies.append(right / len(client.labels))
    return losses, accuracies


def learn(
    model: nn.Module,
    clients: list[Client],
    actions: list[list[str]],
    slots_per_epoch: int,
    kappa: list[int],
    lr: float,
    draw_batches,
    draw_probe,
    draw_masks=None,
    keep_local: bool = False,
) -> tuple[list[list[float]], nn.Module]:
    """Returns M_i of every epoch and the last global model.

    Args:
        model: w(0).
        clients: Their samples.
        actions: [slot][client]: 'start', 'train', 'upload' or 'idle'.
        slots_per_epoch: S.
        kappa: κ_i.
        lr: γ.
        draw_batches: (client, slot) -> the batches of a training that starts there.
        draw_probe: epoch -> the probe batch of every client.
        draw_masks: (client, slot) -> a function from the size of a batch to the masks of its dropout, batch by batch.
        keep_local: Whether clients train and probe with their own running statistics.
    """
    distances: list[list[float]] = []
    probe_means: list[torch.Tensor] = []
    new_model = True
    received: list[tuple[int, int, nn.Module]] = []
    for slot, row in enumerate(actions):
        epoch = slot // slots_per_epoch
        for i, client in enumerate(clients):
            if row[i] == "train":  # line 6-7
                batch_train(client, kappa[i], lr, keep_local)
            elif row[i] == "upload":  # line 8-9
                received.append((i, client.begun, client.message))
                client.message = None
        if slot % slots_per_epoch == 0:  # line 10-13
            if new_model:
                probes = draw_probe(epoch)
                probe_means = [
                    softmax_features(with_own_statistics(model, c), c.images[torch.from_numpy(b)]).mean(0)
                    for c, b in zip(clients, probes, strict=True)
                ]
                new_model = False
            distances.append(
                [
                    float("inf") if c.h is None else float(torch.linalg.norm(v - c.h))
                    for c, v in zip(clients, probe_means, strict=True)
                ]
            )
        for i, client in enumerate(clients):
            if row[i] == "start":  # line 14-18
                client.model = with_own_statistics(model, client)
                client.draw_masks = draw_masks(i, slot) if draw_masks else None
                client.batches, client.step, client.begun = draw_batches(i, slot), 0, slot
                client.feature_sum = torch.zeros(10)
                batch_train(client, kappa[i], lr, keep_local)
        if slot % slots_per_epoch == slots_per_epoch - 1 and received:  # line 19-21, reading 1
            total = sum(len(clients[i].labels) for i, _, _ in received)
            after = copy.deepcopy(model)
            with torch.no_grad():
                for name, number in after.state_dict().items():  # parameters and running statistics
                    if number.is_floating_point():
                        number.copy_(sum(len(clients[i].labels) / total * w.state_dict()[name] for i, _, w in received))
            model, received, new_model = after, [], True
    return distances, model
