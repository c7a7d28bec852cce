"""Running statistics of normalisation layers: the last numbers of a model's weights."""

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase

from fallow.errors import ConfigError
from fallow.models import BATCHES_SEEN
from fallow.models.weights import Weights

Statistics = NDArray[np.float32]
"""The running means and variances of a model in one vector, shape (P − T,), float32."""


def prepare_statistics(module: nn.Module) -> None:
    """Prepares the layers that keep running statistics.

    Their counts of batches are taken out, because they have no use for them and counts can't be averaged. Their inputs
    become float32 under bfloat16: statistics are float32, and PyTorch can't stack the two.

    Args:
        module: The network.
    """
    for layer in module.modules():
        if isinstance(layer, _NormBase) and layer.track_running_stats:
            layer._buffers[BATCHES_SEEN] = None
            layer.register_forward_pre_hook(lambda _layer, inputs: (inputs[0].float(), *inputs[1:]))


def least_batch(module: nn.Module) -> int:
    """Returns the fewest samples of a batch in training: 2 with batch normalisation that tracks statistics, or else 1.

    A single sample has no variance, and PyTorch refuses it.

    Args:
        module: The network.
    """
    tracks = (isinstance(layer, _BatchNorm) and layer.track_running_stats for layer in module.modules())
    return 2 if any(tracks) else 1


def mixes_samples(module: nn.Module, input_shape: tuple[int, ...]) -> bool:
    """Returns whether the samples of a batch change each other's output in training.

    Args:
        module: The network.
        input_shape: The shape of one input, without a batch.
    """
    generator = torch.Generator().manual_seed(0)
    one, other, another = torch.rand(3, 2, *input_shape, generator=generator)
    with torch.no_grad():
        first, second = (
            deepcopy(module).cpu().train()(torch.cat([one, others]))[:2].nan_to_num() for others in (other, another)
        )
    return not torch.equal(first, second)


def with_statistics(weights: Weights, statistics: Statistics | None) -> Weights:
    """Returns weights with other running statistics, shape (P,), float32.

    Args:
        weights: Shape (P,), float32.
        statistics: Shape (P − T,), float32; None keeps those of the weights.

    Examples:
        >>> with_statistics(np.array([1, 2, 3], np.float32), np.array([7], np.float32))
        array([1., 2., 7.], dtype=float32)
    """
    return weights if statistics is None else np.concatenate([weights[: -len(statistics)], statistics])


def check_batches(least: int, sizes: Sequence[int]) -> None:
    """Checks that every client has enough samples for a batch.

    Args:
        least: The fewest samples of a batch in training.
        sizes: |D_i| of each client.

    Raises:
        ConfigError: A client has fewer samples.
    """
    for client, size in enumerate(sizes):
        if size < least:
            raise ConfigError(
                f"Client {client} has {size} of the at least {least} samples that a batch needs with batch "
                "normalisation; give it more, or use a network with group normalisation."
            )


def check_kept(keep_local: bool, statistics: int) -> None:
    """Checks that there are statistics to keep.

    Args:
        keep_local: Whether clients keep their own running statistics.
        statistics: How many running statistics the network has.

    Raises:
        ConfigError: There are none.
    """
    if keep_local and not statistics:
        raise ConfigError(
            "model.keep_local = true leaves running statistics at the clients, and the network has none; set it to "
            "false, or use a network with batch normalisation."
        )
