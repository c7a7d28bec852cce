"""Where a node finds and puts what belongs to a federation: on its disk, and at hand if it stays in this process.

A node that stays keeps its memory and its battery at hand as long as nobody else writes the memory on disk. What can be
had again, the model and its sight of it, it writes down only when an order comes: from then on it must be found again.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from fallow.flower.batteries import Battery, OpenBattery
from fallow.flower.node.commons import Commons, Seen
from fallow.flower.node.memory import (
    MEMORY,
    Memory,
    Sight,
    load_memory,
    load_model,
    load_sight,
    save_memory,
    save_model,
    save_sight,
)
from fallow.flower.wire.arrays import Named
from fallow.storage.locks import DirectoryLock, lock

Stamp = tuple[int, int, int] | None
"""The file, the time and the length of a memory that is on disk; None if there is none."""


@dataclass
class Opened:
    """A memory in use.

    Attributes:
        memory: What the node remembers.
        battery: What it lives on.
        probes: Whether the policy makes probes, which the battery pays for.
        ideal: Whether time and energy are set aside.
        written: The last epoch that the memory on disk has lived through.
        new: Whether nothing was on disk.
        stamp: Of the memory on disk.
    """

    memory: Memory
    battery: OpenBattery
    probes: bool
    ideal: bool
    written: int
    new: bool
    stamp: Stamp


class Shelf:
    """What a node keeps of one federation.

    Attributes:
        directory: Of its own.
    """

    def __init__(self, directory: Path, commons: Commons | None = None) -> None:
        """Opens nothing yet.

        Args:
            directory: Of the node's own.
            commons: What it has in common with the other nodes of this process, if it stays; None: it does not.
        """
        self.directory, self._commons = directory, commons
        self._path = str(directory / MEMORY)
        self.forget()

    def forget(self) -> None:
        """Drops what is at hand, as if the process had died."""
        self._opened: Opened | None = None
        self._sight: Sight | None = None
        self._sight_written, self._received, self._model_written = "", "", ""

    def lock(self) -> DirectoryLock:
        """Returns the lock of the node's directory, which is made if it is missing."""
        try:
            return lock(self.directory)
        except FileNotFoundError:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return lock(self.directory)

    def open(self, battery: Battery, *, probes: bool, ideal: bool) -> Opened:
        """Returns the memory and the battery: those at hand if nobody else has written since, or those on disk.

        Args:
            battery: What the node lives on.
            probes: Whether the policy makes probes.
            ideal: Whether time and energy are set aside.
        """
        stamp, kept = self._stamp(), self._opened
        if kept is not None and (kept.stamp, kept.probes, kept.ideal) == (stamp, probes, ideal):
            return kept
        self.forget()
        first = battery.open(probes=probes, ideal=ideal)
        memory = load_memory(self.directory, first.state)
        new = memory.energy is None
        opened = first if new else battery.open(memory.energy, probes=probes, ideal=ideal)
        found = Opened(memory, opened, probes, ideal, opened.lived, new, stamp)
        if self._commons is not None:
            self._opened = found
        return found

    def write(self, opened: Opened) -> None:
        """Writes a memory down, in one step.

        Args:
            opened: Its stamp is changed in place.
        """
        save_memory(self.directory, opened.memory)
        opened.written, opened.new, opened.stamp = opened.battery.lived, False, self._stamp()

    def sight(self) -> Sight:
        """Returns what the node last saw; an empty one if that is lost."""
        if self._sight is not None:
            return self._sight
        sight = load_sight(self.directory)
        if self._commons is not None:
            self._sight, self._sight_written = sight, sight.version
        return sight

    def put_sight(self, sight: Sight) -> None:
        """Keeps what the node saw and told. It is written down at once unless what it saw is kept with that of others.

        Args:
            sight: What to keep.
        """
        found_again = sight.features is None or sight.version == self._sight_written
        if self._commons is None or not (found_again or self._commons.seen(sight.version, self.directory.name)):
            save_sight(self.directory, sight)
            self._sight_written = sight.version
        if self._commons is not None:
            self._sight = sight

    def model(self, version: str) -> Named | None:
        """Returns the global model of a version; None if the node does not have it.

        Args:
            version: Of the model.
        """
        if self._commons is not None and version == self._received and version in self._commons.models:
            return self._commons.models[version]
        return load_model(self.directory, version)

    def has_checked(self, version: str, model: Named) -> bool:
        """Returns whether another node of this process received and checked the very same model; keeps it then.

        Args:
            version: Of the model.
            model: As it came.
        """
        if self._commons is None or self._commons.models.get(version) is not model:
            return False
        self._received = version
        return True

    def put_model(self, version: str, model: Named) -> None:
        """Keeps a global model that was checked, in place of the one before.

        Args:
            version: Of the model.
            model: By parameter, each float32 in its own shape.
        """
        if self._commons is None:
            save_model(self.directory, version, model)
        else:
            self._commons.keep(version, model)
            self._received = version

    def settle(self, version: str) -> None:
        """Writes down what is only at hand: the sight, and the model of a version if it came.

        Args:
            version: Of the model that the next training begins with; empty if there is none.
        """
        if self._sight is not None:
            save_sight(self.directory, self._sight)
            self._sight_written = self._sight.version
        if self._commons is not None and version == self._received != self._model_written:
            save_model(self.directory, version, self._commons.models[version])
            self._model_written = version

    def seen(self, version: str) -> Seen | None:
        """Returns what a forward pass for all nodes of this process says of a model; None if there was none.

        Args:
            version: Of the model.
        """
        return self._commons.seen(version, self.directory.name) if self._commons is not None else None

    def _stamp(self) -> Stamp:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size
