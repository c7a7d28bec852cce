"""What a node remembers on its disk, so that a restart costs it nothing.

Three files for each federation: the *memory*, which must not be lost; and the global *model* and the node's *sight* of
it, which can be had again and so need not survive a loss of power.
"""

import math
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import CheckpointError, StateError
from fallow.flower.node.facts import Facts
from fallow.flower.wire.arrays import MessageError, Named
from fallow.flower.wire.messages import Order, Standing
from fallow.learning.state import Trained
from fallow.models.weights import Weights
from fallow.state import pack, unpack
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint

MEMORY = "memory.fallow"
MODEL = "model.fallow"
SIGHT = "sight.fallow"
SEEN = "seen.fallow"
"""What nodes of one process saw together, beside their folders."""
FEDERATION = re.compile(r"[0-9a-f]{32}")

KEPT = 8
"""The federations that a node remembers: a small device has no room for all it ever took part in."""


@dataclass(frozen=True, eq=False)
class Work:
    """A training and what came of it.

    Attributes:
        slot: The slot it started in.
        epoch: The epoch it started in.
        weights: w_i, shape (P,), float32.
        moment: h_i, shape (F,), float32.
        loss: The mean loss.
        rms_loss: The root mean square of the samples' losses.
        fault: Why it is of no use; empty if it is.
    """

    slot: int
    epoch: int
    weights: Weights
    moment: NDArray[np.float32]
    loss: float
    rms_loss: float
    fault: str = ""

    @classmethod
    def of(cls, trained: Trained, epoch: int, name: str) -> "Work":
        """Returns a training as it is remembered.

        Args:
            trained: What came of it.
            epoch: The epoch it started in.
            name: Of the client.
        """
        fault = trained.fault(name) or ""
        return cls(trained.slot, epoch, trained.weights, trained.moment, trained.loss, trained.rms_loss, fault)


@dataclass
class Memory:
    """What a node remembers of one federation.

    Attributes:
        energy: The battery's state; None before its first epoch.
        order: The order that it is carrying out; None when it is done.
        attempts: How often that order was begun.
        moment: h_i, shape (F,), float32; None before the first training.
        training_loss: The root mean square of the samples' losses in the last training that finished; NaN before it.
        local: Its last model, shape (P,), float32, where the policy compares parameters; else None.
        statistics: Its own running statistics, shape (P − T,), float32; None before its first training, and where the
            client keeps none.
        held: The training that is under way, or finished and not sent.
        outbox: Updates that are paid for and that the server may not have.
        epoch: The last epoch that an order was carried out for; what follows is told again if the order is repeated.
        trained: Trainings started in that epoch.
        declined: Why it did not train in that epoch; empty if it did.
        policy: The policy's memory of this client after that epoch, as safetensors.
    """

    energy: Any = None
    order: Order | None = None
    attempts: int = 0
    moment: NDArray[np.float32] | None = None
    training_loss: float = math.nan
    local: Weights | None = None
    statistics: Weights | None = None
    held: Work | None = None
    outbox: list[Work] = field(default_factory=list)
    epoch: int = -1
    trained: int = 0
    declined: str = ""
    policy: bytes = b""


@dataclass
class Sight:
    """What a node saw of a global model and of itself, and told.

    Attributes:
        version: Of the model that was probed.
        features: v_i, shape (F,), float32, under it; None before the first probe.
        loss: The mean loss of the probe batch under it; NaN where nobody asked.
        told: The version and epoch of the last query that was answered, and the answer.
        facts: What it knows of its own data and network; None before it looked.
    """

    version: str = ""
    features: NDArray[np.float32] | None = None
    loss: float = math.nan
    told: tuple[str, int, Standing] | None = None
    facts: Facts | None = None


@dataclass(frozen=True, eq=False)
class KeptModel:
    """A global model on a node's disk.

    Attributes:
        version: Which one.
        model: Its parameters.
    """

    version: str
    model: Named


def directory_of(root: Path, federation: str, identity: str) -> Path:
    """Returns where a node keeps what belongs to a federation.

    Args:
        root: Of all memories.
        federation: Its name, which comes over the network.
        identity: The node's own name.

    Raises:
        MessageError: The federation's name is not valid.
    """
    if not FEDERATION.fullmatch(federation):
        raise MessageError(f"'{federation[:60]}' is no name of a federation: it has 32 hexadecimal digits.")
    return root / federation / _folder(identity)


def forget_oldest(root: Path, identity: str) -> None:
    """Removes what a node keeps of all federations but those that it took part in last.

    Args:
        root: Of all memories.
        identity: The node's own name.
    """
    found = [path for path in root.glob(f"*/{_folder(identity)}/{MEMORY}") if FEDERATION.fullmatch(path.parts[-3])]
    for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
        shutil.rmtree(path.parent)
        with suppress(OSError):  # others have memories there
            federation = path.parent.parent
            if [left.name for left in federation.iterdir()] == [SEEN]:
                (federation / SEEN).unlink()
            federation.rmdir()


def load_memory(directory: Path, energy: Any) -> Memory:
    """Returns what was remembered; a new memory if there is none.

    Args:
        directory: Where it is kept.
        energy: A state of the node's battery, which shows what a kept one looks like.
    """
    path = directory / MEMORY
    if not path.exists():
        return Memory()
    return unpack(Memory, *read_checkpoint(path), like=Memory(energy=energy))


def save_memory(directory: Path, memory: Memory) -> None:
    """Writes what a node remembers, in one step.

    Args:
        directory: Where it is kept.
        memory: What to write.
    """
    write_checkpoint(directory / MEMORY, *pack(memory))


def load_model(directory: Path, version: str) -> Named | None:
    """Returns the global model of a version; None if the node does not have it.

    Args:
        directory: Where the node keeps it.
        version: Of the model.
    """
    try:
        kept = unpack(KeptModel, *read_checkpoint(directory / MODEL))
    except CheckpointError:  # not there, or damaged when the power went: the server sends it again
        return None
    return kept.model if kept.version == version else None


def save_model(directory: Path, version: str, model: Named) -> None:
    """Writes a global model in place of the one before.

    Args:
        directory: Where the node keeps it.
        version: Of the model.
        model: By parameter, each float32 in its own shape.
    """
    write_checkpoint(directory / MODEL, *pack(KeptModel(version, model)), durable=False)


def load_sight(directory: Path) -> Sight:
    """Returns what the node last saw; an empty one if that is lost.

    Args:
        directory: Where it is kept.
    """
    try:
        return unpack(Sight, *read_checkpoint(directory / SIGHT))
    except (CheckpointError, StateError):  # not there, damaged when the power went, or an older version's
        return Sight()


def save_sight(directory: Path, sight: Sight) -> None:
    """Writes what the node last saw.

    Args:
        directory: Where it is kept.
        sight: What to write.
    """
    write_checkpoint(directory / SIGHT, *pack(sight), durable=False)


def _folder(identity: str) -> str:
    """Returns a name for any file system; a digest keeps two names apart that come out alike."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", identity)
    if plain == identity and plain not in {".", ".."}:
        return plain
    return f"{plain}-{sha256(identity.encode()).hexdigest()[:16]}"
