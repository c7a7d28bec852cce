"""What nodes of one federation have in common in one process: models, and what one forward pass for all said."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fallow.errors import CheckpointError, StateError
from fallow.flower.node.memory import SEEN
from fallow.flower.wire.arrays import Named
from fallow.state import pack, unpack
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint

MODELS_KEPT = 4
"""Global models that are at hand: a node that missed a query is a version or two behind."""


class Seen(NamedTuple):
    """What a node's probe batch says of a model.

    Attributes:
        features: v_i, shape (F,), float32.
        loss: The mean loss; NaN where nobody asked.
    """

    features: NDArray[np.float32]
    loss: float


@dataclass(frozen=True, eq=False)
class SeenTogether:
    """What the probe batches of many nodes say of a model, as it is on disk.

    Attributes:
        version: Of the model.
        names: Of the nodes' folders.
        features: v_i, shape (n, F), float32.
        losses: Shape (n,), float64; NaN where nobody asked.
    """

    version: str
    names: list[str]
    features: NDArray[np.float32]
    losses: NDArray[np.float64]


class Commons:
    """Models and sights that nodes of one process share. What was seen is on disk, so that nobody looks twice.

    Attributes:
        directory: Of the federation; the nodes have their folders in it.
        models: Global models that were received and checked, by version.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.models: dict[str, Named] = {}
        self._version, self._seen = "", dict[str, Seen]()
        self._read()

    def keep(self, version: str, model: Named) -> None:
        """Keeps a model at hand, and forgets the oldest.

        Args:
            version: Of the model.
            model: By parameter, each float32 in its own shape; nobody changes it.
        """
        others = {other: kept for other, kept in self.models.items() if other != version}
        self.models = {**dict(list(others.items())[1 - MODELS_KEPT :]), version: model}

    def seen(self, version: str, name: str) -> Seen | None:
        """Returns what a node saw of a model; None if it did not look together with others.

        Args:
            version: Of the model.
            name: Of the node's folder.
        """
        return self._seen.get(name) if version == self._version else None

    def put_seen(self, version: str, names: Sequence[str], each: Sequence[Seen]) -> None:
        """Keeps and writes down what nodes saw of a model. What one of them saw of it before stays.

        Args:
            version: Of the model.
            names: Of the nodes' folders.
            each: What each of them saw.
        """
        before = self._seen if version == self._version else {}
        self._version, self._seen = version, {**dict(zip(names, each, strict=True)), **before}
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        together = SeenTogether(
            version,
            list(self._seen),
            np.stack([seen.features for seen in self._seen.values()]),
            np.array([seen.loss for seen in self._seen.values()], dtype=np.float64),
        )
        write_checkpoint(self.directory / SEEN, *pack(together), durable=False)

    def _read(self) -> None:
        try:
            found = unpack(SeenTogether, *read_checkpoint(self.directory / SEEN))
        except (CheckpointError, StateError):  # not there, damaged when the power went, or an older version's
            return
        pairs = zip(found.features, found.losses.tolist(), strict=True)
        self._version = found.version
        self._seen = {name: Seen(*pair) for name, pair in zip(found.names, pairs, strict=True)}
