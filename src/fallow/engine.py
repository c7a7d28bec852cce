"""Algorithm 1: an iterator of one record an epoch.

for record in Engine(Experiment(epochs=10)):
    print(record.epoch, record.uploads, record.energy_total)
"""

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.config import Experiment
from fallow.errors import FallowError, PolicyError
from fallow.paper import next_version_age
from fallow.policies import EpochView, Mask, Starter
from fallow.records import EpochRecord
from fallow.rng import Purpose, bernoulli, stream
from fallow.world import World


class Engine:
    """A run: iterate over it for its epochs. Everything that could be wrong is checked before the first.

    Attributes:
        epoch: The next epoch, t.
        world: Batteries and what their owners do.
        policy_state: The memory of the policy.
        age_selected: Version ages, reset when selected, shape (N,), int32.
        age_delivered: Version ages, reset when an update is received, shape (N,), int32.
        delivered: Clients whose update was received in the epoch before, shape (N,), bool.
        energy_total: Units consumed so far.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.policy = experiment.build_policy()
        self.world = World(experiment.build_physics(self.policy))
        self._harvest = experiment.build_energy().prepare(
            experiment.seed, experiment.clients, experiment.slots_per_epoch
        )
        self.epoch = 0
        self.policy_state: Any = self._guard("init", self.policy.init, experiment.clients)
        self.age_selected = np.zeros(experiment.clients, dtype=np.int32)
        self.age_delivered = np.zeros(experiment.clients, dtype=np.int32)
        self.delivered = np.zeros(experiment.clients, dtype=np.bool_)
        self.energy_total = 0

    def __iter__(self) -> Iterator[EpochRecord]:
        while self.epoch < self.experiment.epochs:
            yield self.step()

    def step(self, watch: Callable[[int, World], None] | None = None) -> EpochRecord:
        """Lives through the next epoch; `watch` is called at the end of every slot."""
        policy, world, physics = self.policy, self.world, self.world.physics
        distance = self._distance()
        now = world.advance(  # Alg. 1, lines 2-18, for the slots of epoch t
            self.epoch,
            self._harvest(self.epoch),
            select=lambda paid: self._select(distance, paid),
            start=partial(self._ask, "start", policy.start) if isinstance(policy, Starter) else None,
            record_events=self.experiment.output.events,
            watch=watch,
        )
        mu = self.experiment.policy.mu
        self.age_selected = next_version_age(self.age_selected, distance, mu, now.selected)
        self.age_delivered = next_version_age(self.age_delivered, distance, mu, now.delivered)
        self.delivered = now.delivered
        consumed_tx = 0 if physics.ideal else now.uploads * physics.transmit_cost
        consumed_probe = now.probes * physics.probe_cost
        self.energy_total += now.consumed_train + consumed_tx + consumed_probe
        record = EpochRecord(
            epoch=self.epoch,
            harvested=now.harvested,
            consumed_train=now.consumed_train,
            consumed_tx=consumed_tx,
            consumed_probe=consumed_probe,
            overflow=now.overflow,
            stored=int(world.battery.sum(dtype=np.int64)),
            energy_total=self.energy_total,
            selected=int(np.count_nonzero(now.selected)),
            starts=now.starts,
            finishes=now.finishes,
            uploads=now.uploads,
            stale_uploads=now.stale_uploads,
            mean_age_selected=float(self.age_selected.mean()),
            mean_age_delivered=float(self.age_delivered.mean()),
            events=now.events,
        )
        self.epoch += 1
        return record

    def _distance(self) -> NDArray[np.float32]:
        """Returns M_i of this epoch: without learning, beyond or below every threshold, by chance."""
        significance, clients = self.experiment.learning.significance, self.experiment.clients
        if significance == 1:
            return np.broadcast_to(np.float32(np.inf), clients)
        rng = stream(self.experiment.seed, Purpose.SIGNIFICANCE, self.epoch)
        significant = bernoulli(rng, significance, (1, clients))[0]
        return np.where(significant, np.float32(np.inf), np.float32(-np.inf))

    def _select(self, distance: NDArray[np.float32], paid: Mask) -> Mask:
        """Alg. 1, line 13: ClientSelect."""
        world, physics = self.world, self.world.physics
        slot = self.epoch * physics.slots_per_epoch
        view = EpochView(
            epoch=self.epoch,
            clients=physics.clients,
            slots_per_epoch=physics.slots_per_epoch,
            battery=frozen_copy(world.battery),
            capacity=physics.capacity,
            train_cost=physics.train_cost,
            transmit_cost=physics.transmit_cost,
            training=frozen_copy(world.training(slot)),
            unsent=frozen_copy(world.unsent(slot)),
            distance=distance if paid.all() else np.where(paid, distance, np.float32(np.nan)),
            delivered=frozen_copy(self.delivered),
        )
        rng = stream(self.experiment.seed, Purpose.SELECT, self.epoch)
        return self._ask("select", self.policy.select, view, rng)

    def _ask(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Mask:
        """Calls a hook of the policy, keeps the memory it returns, and returns its mask (the world checks it)."""
        answer = self._guard(hook, function, self.policy_state, *arguments)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise PolicyError(f"The policy's {hook} must return (state, mask), and returned a {type(answer).__name__}.")
        self.policy_state, mask = answer
        return mask  # type: ignore[no-any-return]

    def _guard(self, hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a method of the policy, which may be anyone's code: if it raises, says what, and where."""
        try:
            return function(*arguments)
        except FallowError:
            raise
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            raise PolicyError(
                f"The policy '{self.experiment.policy.name}' failed in {hook}, epoch {self.epoch}: "
                f"{type(error).__name__}: {error} ({frame.filename}, line {frame.lineno})."
            ) from error
