"""Dropout whose masks are drawn from a training's own stream, not from PyTorch's one generator of all threads.

PyTorch's dropout layers are replaced by `SeededDropout`. All those of a network share a `MaskTape`: the masks of one
forward pass, in the order in which the layers ask for them. Probes and evaluations load no masks: nothing is dropped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from fallow.errors import ConfigError
from fallow.rng import bernoulli

SEEDED: dict[type, bool] = {nn.Dropout: False, nn.Dropout1d: True, nn.Dropout2d: True, nn.Dropout3d: True}
"""The layers that are replaced, and whether they drop whole channels."""


@dataclass(frozen=True)
class DropoutCall:
    """One call of a dropout layer in a forward pass.

    Attributes:
        p: The probability that a number is dropped.
        channels: Whether whole channels are dropped.
        shape: The shape of the input in a pass of one sample.
        growth: What each further sample adds to that shape.
    """

    p: float
    channels: bool
    shape: tuple[int, ...]
    growth: tuple[int, ...] = ()

    @property
    def kind(self) -> tuple[float, bool, int]:
        """What stays the same in passes of other sizes: p, whole channels, and how many sizes the shape has."""
        return self.p, self.channels, len(self.shape)

    def draw(self, rng: np.random.Generator, batch: int) -> Tensor:
        """Returns what the input is multiplied by: 0 with probability p, and 1 / (1 − p) otherwise, float32.

        Args:
            rng: The stream of the training.
            batch: The number of samples.

        Returns:
            The shape of the input; with 1 in place of all but the first two sizes where whole channels are dropped.
        """
        shape = tuple(first + (batch - 1) * more for first, more in zip(self.shape, self.growth, strict=True))
        if self.channels:
            shape = (*shape[:2], *[1] * (len(shape) - 2))
        kept = bernoulli(rng, 1 - self.p, (1, int(np.prod(shape)))).reshape(shape)
        return torch.from_numpy(kept.astype(np.float32) * np.float32(1 / (1 - self.p) if self.p < 1 else 0))


@dataclass(eq=False)
class MaskTape:
    """The masks of one forward pass.

    Attributes:
        calls: The calls of dropout layers in a forward pass, in order; empty for a network without dropout.
        masks: The masks of the pass that comes next, one for each call; empty where nothing is dropped.
        used: How many of them were used in this pass.
    """

    calls: list[DropoutCall] = field(default_factory=list)
    masks: Sequence[Tensor] = ()
    used: int = 0
    _seen: list[DropoutCall] | None = None

    def measure(self, forward: Callable[[int], object]) -> None:
        """Finds the calls, by a pass of one sample and one of two.

        Args:
            forward: Makes a pass of so many samples.

        Raises:
            ConfigError: The two passes called dropout layers in different ways.
        """
        seen: list[list[DropoutCall]] = []
        for batch in (1, 2):
            self._seen = []
            forward(batch)
            seen.append(self._seen)
        self._seen = None
        if [call.kind for call in seen[0]] != [call.kind for call in seen[1]]:
            raise ConfigError(
                "The network calls other dropout layers for two inputs than for one; let it call the same for all."
            )
        self.calls = [
            replace(one, growth=tuple(b - a for a, b in zip(one.shape, two.shape, strict=True)))
            for one, two in zip(*seen, strict=True)
        ]

    def draw(self, rng: np.random.Generator, batch: int) -> list[Tensor]:
        """Returns the masks of a forward pass, one for each call, float32.

        Args:
            rng: The stream of the training; the draws of its passes follow each other.
            batch: The number of samples.
        """
        return [call.draw(rng, batch) for call in self.calls]

    def load(self, masks: Sequence[Tensor]) -> None:
        """Sets the masks of the pass that comes next.

        Args:
            masks: As `draw` returns them; without masks, nothing is dropped.
        """
        self.masks, self.used = masks, 0

    def apply(self, layer: "SeededDropout", x: Tensor) -> Tensor:
        """Returns the input of a layer, with what the next mask drops set to 0.

        Args:
            layer: The layer that asks.
            x: Its input.

        Raises:
            ConfigError: The network calls dropout layers more often than it did when it was measured.
        """
        if self._seen is not None:
            self._seen.append(DropoutCall(layer.p, layer.channels, tuple(x.shape)))
        if not self.masks:
            return x
        if self.used == len(self.masks):
            raise ConfigError(
                f"The network calls dropout layers more often than the {len(self.masks)} times that it called them "
                "before the run; let it call them as often for every input."
            )
        self.used += 1
        return x * self.masks[self.used - 1].to(device=x.device, dtype=x.dtype)


class SeededDropout(nn.Module):
    """A dropout layer that takes its masks from a tape."""

    def __init__(self, p: float, channels: bool, tape: MaskTape) -> None:
        """Makes the layer.

        Args:
            p: The probability that a number is dropped.
            channels: Whether whole channels are dropped.
            tape: Where the masks come from.
        """
        super().__init__()
        self.p, self.channels, self.tape = p, channels, tape

    def forward(self, x: Tensor) -> Tensor:
        """Returns the input times the next mask; the input itself if no masks are loaded."""
        return self.tape.apply(self, x)


def seed_dropouts(module: nn.Module) -> MaskTape:
    """Replaces the dropout layers inside a module, and returns the tape that they share.

    Args:
        module: The network. Layers that were replaced before, as in a copy of a network, keep their tape.
    """
    tapes = [layer.tape for layer in module.modules() if isinstance(layer, SeededDropout)]
    tape = tapes[0] if tapes else MaskTape()
    replaced: dict[nn.Module, SeededDropout] = {}
    for parent in list(module.modules()):
        for name, layer in parent._modules.items():
            if isinstance(layer, _DropoutNd) and type(layer) in SEEDED:
                parent._modules[name] = replaced.setdefault(layer, SeededDropout(layer.p, SEEDED[type(layer)], tape))
    return tape
