"""What a node remembers on its disk, so that a restart costs it nothing.

Three files for each federation: the *memory*, which must not be lost; and the global *model* and the node's *sight* of
it, which can be had again and so need not survive a loss of power.
"""

import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import CheckpointError
from fallow.flower.wire.messages import MessageError, Named, Order, Standing
from fallow.models.weights import Weights
from fallow.storage.checkpoints import Arrays, read_checkpoint, write_checkpoint

MEMORY = "memory.fallow"
MODEL = "model.fallow"
SIGHT = "sight.fallow"
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
        fault: Why it is of no use; empty if it is.
    """

    slot: int
    epoch: int
    weights: Weights
    moment: NDArray[np.float32]
    loss: float
    fault: str = ""


@dataclass
class Memory:
    """What a node remembers of one federation.

    Attributes:
        energy: The battery's state; empty before its first epoch.
        order: The order that it is carrying out; None when it is done.
        attempts: How often that was begun.
        moment: h_i, shape (F,), float32; None before the first training.
        local: Its last model, where the policy compares parameters.
        held: The training that is under way, or finished and not sent.
        outbox: Updates that are paid for and that the server may not have.
        epoch: The last epoch that an order was carried out for; what follows is told again if the order is repeated.
        trained: Trainings started in that epoch.
        declined: Why it did not train then.
        policy: The policy's memory of this client after it.
    """

    energy: Arrays = field(default_factory=dict)
    order: Order | None = None
    attempts: int = 0
    moment: NDArray[np.float32] | None = None
    local: Weights | None = None
    held: Work | None = None
    outbox: list[Work] = field(default_factory=list)
    epoch: int = -1
    trained: int = 0
    declined: str = ""
    policy: bytes = b""


@dataclass
class Sight:
    """What a node saw of a global model, and told of itself.

    Attributes:
        version: Of the model that was probed.
        features: v_i, shape (F,), float32, under it; None before the first probe.
        told: The version and epoch of the last query that was answered, and the answer.
    """

    version: str = ""
    features: NDArray[np.float32] | None = None
    told: tuple[str, int, Standing] | None = None


SIMPLE = ("attempts", "epoch", "trained", "declined")


def directory_of(root: Path, federation: str, identity: str) -> Path:
    """Returns where a node keeps what belongs to a federation. A federation's name comes over the network."""
    if not FEDERATION.fullmatch(federation):
        raise MessageError(f"'{federation[:60]}' is no name of a federation: it has 32 hexadecimal digits.")
    return root / federation / _folder(identity)


def forget_oldest(root: Path, identity: str) -> None:
    """Removes what the node keeps of federations, all but the last few that it lived through anything in."""
    found = [path for path in root.glob(f"*/{_folder(identity)}/{MEMORY}") if FEDERATION.fullmatch(path.parts[-3])]
    for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
        shutil.rmtree(path.parent)
        with suppress(OSError):  # others have memories there
            path.parent.parent.rmdir()


def load_memory(directory: Path) -> Memory:
    """Returns what was remembered; a new memory if there is none."""
    path = directory / MEMORY
    if not path.exists():
        return Memory()
    arrays, notes = read_checkpoint(path)
    memory = Memory(moment=arrays.get("moment"), local=arrays.get("local"))
    for name in SIMPLE:
        setattr(memory, name, notes[name])
    memory.energy = {
        name.removeprefix("energy."): array for name, array in arrays.items() if name.startswith("energy.")
    }
    memory.policy = bytes.fromhex(notes["policy"])
    if notes["order"]:
        memory.order = Order(**notes["order"] | {"memory": bytes.fromhex(notes["order"]["memory"])})
    works = [_work(arrays, own, place) for place, own in enumerate(notes["works"])]
    memory.held = works.pop(0) if notes["holds"] else None
    memory.outbox = works
    return memory


def save_memory(directory: Path, memory: Memory) -> None:
    """Replaces what is remembered, in one step."""
    kept = {"moment": memory.moment, "local": memory.local}
    arrays: Arrays = {name: array for name, array in kept.items() if array is not None}
    arrays |= {f"energy.{name}": array for name, array in memory.energy.items()}
    works = ([memory.held] if memory.held else []) + memory.outbox
    for place, work in enumerate(works):
        arrays |= {f"work.{place}.weights": work.weights, f"work.{place}.moment": work.moment}
    notes: dict[str, Any] = {name: getattr(memory, name) for name in SIMPLE}
    notes["policy"] = memory.policy.hex()
    notes["order"] = asdict(memory.order) | {"memory": memory.order.memory.hex()} if memory.order else None
    notes["holds"] = memory.held is not None
    notes["works"] = [
        {"slot": work.slot, "epoch": work.epoch, "loss": work.loss, "fault": work.fault} for work in works
    ]
    write_checkpoint(directory / MEMORY, arrays, notes)


def load_model(directory: Path, version: str) -> Named | None:
    """Returns the global model of a version, if it is the one that the node has."""
    try:
        arrays, notes = read_checkpoint(directory / MODEL)
    except CheckpointError:  # not there, or damaged when the power went: the server sends it again
        return None
    return {name: arrays[name] for name in notes["names"]} if notes["version"] == version else None


def save_model(directory: Path, version: str, model: Named) -> None:
    """Keeps a global model in place of the one before."""
    write_checkpoint(directory / MODEL, dict(model), {"version": version, "names": list(model)}, durable=False)


def load_sight(directory: Path) -> Sight:
    """Returns what the node last saw; nothing if that is lost."""
    try:
        arrays, notes = read_checkpoint(directory / SIGHT)
    except CheckpointError:  # not there, or damaged when the power went: it is seen again
        return Sight()
    told = notes["told"]
    return Sight(notes["version"], arrays.get("features"), (*told[:2], Standing(**told[2])) if told else None)


def save_sight(directory: Path, sight: Sight) -> None:
    """Keeps what the node sees."""
    arrays = {} if sight.features is None else {"features": sight.features}
    told = (*sight.told[:2], asdict(sight.told[2])) if sight.told else None
    write_checkpoint(directory / SIGHT, arrays, {"version": sight.version, "told": told}, durable=False)


def _folder(identity: str) -> str:
    """Returns a name for any file system; a digest keeps two names apart that come out alike."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", identity)
    if plain == identity and plain not in {".", ".."}:
        return plain
    return f"{plain}-{sha256(identity.encode()).hexdigest()[:16]}"


def _work(arrays: Arrays, notes: dict[str, Any], place: int) -> Work:
    weights, moment = arrays[f"work.{place}.weights"], arrays[f"work.{place}.moment"]
    return Work(weights=weights, moment=moment, **notes)
