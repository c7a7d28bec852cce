"""The server's memory of a federation, and its checkpoint: a new Flower run goes on where the last one was."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation import AnyAggregation, Resizing
from fallow.aggregation.base import first_memory
from fallow.errors import CheckpointError
from fallow.flower.server.roster import Roster
from fallow.flower.server.sent import SentModels
from fallow.flower.wire.arrays import Named, flattened, named
from fallow.flower.wire.messages import Standing
from fallow.models.weights import Weights
from fallow.plugins.calls import call
from fallow.policies import AnyPolicy
from fallow.simulation.participation import Participation
from fallow.state import from_arrays, grown, pack, to_arrays, unpack
from fallow.storage.checkpoints import CheckpointFile
from fallow.sweeps.table import write_table

CHECKPOINT = "federation.fallow"
ROUNDS, ROWS = "rounds.csv", "rows"

Row = dict[str, int | float | list[int] | list[float] | None]
"""A round in numbers, by column."""


@dataclass
class Federation:
    """What the next rounds depend on.

    Attributes:
        model: The global model, w(t), by parameter, each float32 in its own shape.
        name: Random; nodes keep a memory for each federation.
        epoch: t, the next round, from 0.
        roster: The clients.
        policy_state: The policy's memory, over the roster; None while nobody is known.
        aggregation_state: The aggregation rule's memory.
        age: Version ages, reset when an update is received, shape (N,), int32.
        delivered: Clients whose update was received in the round before, shape (N,), bool.
        sizes: |D_i| as the aggregation rule knows them.
        rounds: A row for each round so far.
        sent: The models that trainings on their way began with.
        participation: How often and when each client took part and delivered.
        mean: The running mean of the iterates, shape (P,), float32; None where none is kept.
        widths: How many numbers each node tells of what the server can't know, as `label_mix`, by name.
        seen: How far the updates before moved the model, for the guard, shape (n,), float64.
        fruitless: How many rounds in a row had trainings that ended, and none of use.
    """

    model: Named
    policy_state: Any
    aggregation_state: Any
    name: str = field(default_factory=lambda: secrets.token_hex(16))
    epoch: int = 0
    roster: Roster = field(default_factory=Roster)
    age: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    delivered: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    sizes: list[int] = field(default_factory=list)
    rounds: list[Row] = field(default_factory=list)
    sent: SentModels = field(default_factory=SentModels)
    participation: Participation = field(default_factory=lambda: Participation.first(0))
    mean: Weights | None = None
    widths: dict[str, int] = field(default_factory=dict)
    seen: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    fruitless: int = 0

    @property
    def size(self) -> int:
        """P, how many numbers the model has."""
        return sum(array.size for array in self.model.values())

    @property
    def weights(self) -> Weights:
        """The global model as one vector, a copy, shape (P,), float32."""
        return flattened(self.model, self.model)

    @property
    def handed_out(self) -> Named:
        """The model that is evaluated and given to the owner: w(t), or the running mean of the iterates."""
        return self.model if self.mean is None else named(self.mean, self.model)

    def grow(self, policy: AnyPolicy, aggregation: AnyAggregation) -> None:
        """Makes room for clients that are new in the roster, and tells the rule which data came or went.

        Args:
            policy: Who trains.
            aggregation: How updates make the next model.
        """
        if self.sizes == self.roster.sizes:
            return
        before, clients = self.age.size, len(self.roster.names)
        fresh = first_policy_memory(policy, clients)
        self.policy_state = grown(self.policy_state, before, fresh) if before else fresh
        self.aggregation_state = self._resized(aggregation)
        self.sizes = list(self.roster.sizes)
        self.participation = grown(self.participation, before, Participation.first(clients))
        self.age = np.concatenate([self.age, np.zeros(clients - before, dtype=np.int32)])
        self.delivered = np.concatenate([self.delivered, np.zeros(clients - before, dtype=np.bool_)])

    def waits_for(self, client: int, standing: Standing) -> bool:
        """Returns whether something of a client is on its way; if not, forgets which models it may have begun with.

        Args:
            client: Its number.
            standing: How it stands in this round.
        """
        waits = standing.waits(self.roster.received[client])
        if not waits:
            self.sent.idle(client)
        return waits

    def _resized(self, aggregation: AnyAggregation) -> Any:
        """Returns the rule's memory for the roster: what it remembers of data is brought up to date, the rest kept."""
        if isinstance(aggregation, Resizing):
            return aggregation.resize(self.aggregation_state, np.array(self.roster.sizes, dtype=np.int64))
        old, new = (
            to_arrays(first_memory(aggregation, self.size, np.array(sizes, dtype=np.int64)))
            for sizes in (self.sizes, self.roster.sizes)
        )
        gathered = to_arrays(self.aggregation_state)
        kept = {name: gathered[name] if np.array_equal(old[name], new[name]) else new[name] for name in gathered}
        return from_arrays(self.aggregation_state, kept)


def first_policy_memory(policy: AnyPolicy, clients: int) -> Any:
    """Returns a policy's first memory.

    Args:
        policy: The policy.
        clients: How many there are.

    Raises:
        PluginError: A policy that is not Fallow's failed.
    """
    return call(f"The policy '{type(policy).__name__}'", "init", policy.init, clients)


def begin_federation(model: Named, aggregation: AnyAggregation, average: float = 0.0) -> Federation:
    """Returns a new federation.

    Args:
        model: w(0), by parameter, each float32 in its own shape.
        aggregation: How updates make the next model.
        average: The share of a running mean of the iterates that each round keeps; 0 keeps none.
    """
    size = sum(array.size for array in model.values())
    mean = flattened(model, model) if average else None
    return Federation(model, None, first_memory(aggregation, size, np.zeros(0, dtype=np.int64)), mean=mean)


class FederationDirectory:
    """Where a federation is kept, each round in one step.

    Args:
        directory: Of the federation.
        policy: Who trains.
        aggregation: How updates make the next model.
        description: The policy and the rules, in words.
    """

    def __init__(self, directory: Path, policy: AnyPolicy, aggregation: AnyAggregation, description: str) -> None:
        self._directory, self._description = directory, description
        self._policy, self._aggregation = policy, aggregation
        self._checkpoint = CheckpointFile(directory / CHECKPOINT, directory / ROWS)

    def write(self, federation: Federation) -> None:
        """Writes the checkpoint and the table of rounds.

        Args:
            federation: What to write.
        """
        arrays, state = pack(federation)
        self._checkpoint.write(arrays, {"description": self._description, "state": state})
        write_table(self._directory / ROUNDS, federation.rounds)

    def read(self) -> Federation | None:
        """Returns the federation that is kept there; None if there is none yet.

        Raises:
            CheckpointError: It is a federation with another description, or can't be read.
        """
        if not (self._directory / CHECKPOINT).exists():
            return None
        arrays, notes = self._checkpoint.read()
        if notes["description"] != self._description:
            raise CheckpointError(
                f"{self._directory} holds a federation with {notes['description']}, and this one has "
                f"{self._description}; choose another directory, or remove it."
            )
        clients = len(notes["state"]["sizes"])
        like = begin_federation({}, self._aggregation)
        like.policy_state = first_policy_memory(self._policy, clients) if clients else None
        found = unpack(Federation, arrays, notes["state"], like=like)
        for client in range(clients):  # who was ordered in the round that was cut short may have begun with its model
            found.sent.order(client, found.epoch, found.weights)
        return found
