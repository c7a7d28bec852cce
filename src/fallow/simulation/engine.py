"""Algorithm 1: an iterator of one record an epoch.

for record in Engine(Experiment(epochs=10)):
    print(record.epoch, record.uploads, record.energy_total)
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy.devices import training_steps
from fallow.experiment import Experiment, check_experiment
from fallow.paper import next_version_age
from fallow.policies import AnyPolicy, EpochView, Mask, needs_of
from fallow.rng import Purpose, bernoulli, stream
from fallow.simulation.ages import recorded_ages
from fallow.simulation.asking import AskedPolicy
from fallow.simulation.device_rows import DeviceBooks
from fallow.simulation.epochs import LivedEpoch, OpenEpoch
from fallow.simulation.knowledge import Knowledge
from fallow.simulation.lessons import Learnt, blame_model, learn
from fallow.simulation.records import EpochRecord, with_ages
from fallow.simulation.run_state import RunState
from fallow.simulation.world import World
from fallow.state import Notes, check_parts, unpack


class Distances(NamedTuple):
    """The distances of an epoch, each of shape (N,), float32; NaN where there is none.

    Attributes:
        ages: What recorded ages are counted by, shape (N,), float32.
        policy: What the policy needs, shape (N,), float32.
    """

    ages: NDArray[np.float32]
    policy: NDArray[np.float32]


class Engine:
    """A run: iterate over it for its epochs. Everything that could be wrong is checked before the first.

    Attributes:
        experiment: What is run, with what was measured at the start filled in.
        epoch: The next epoch, t.
        world: Batteries and what their owners do.
        learner: The global model and the clients' memories; None in an energy-only run.
        asked: Who trains, and the policy's memory.
        needs: What the policy needs.
        ages: What the recorded version ages are counted by.
        age_selected: Version ages, reset when selected, shape (N,), int32.
        age_delivered: Version ages, reset when an update is received, shape (N,), int32.
        delivered: Clients whose update was received in the epoch before, shape (N,), bool.
        energy_total: Units consumed so far.
        knowledge: What is gathered for the policy beyond batteries.
        device_books: What is summed over each class of devices; None where there are no classes.
    """

    def __init__(self, experiment: Experiment, *, workers: int | None = None) -> None:
        """Builds everything that the run needs.

        Args:
            experiment: What to run.
            workers: Threads, in place of compute.workers; changes no result.
        """
        check_experiment(experiment)
        self.experiment = experiment
        policy = experiment.build("policy")
        self.needs = needs_of(policy)
        self.ages, self._mu = recorded_ages(experiment.learning, self.needs)
        self.world = World(experiment.build_physics(policy))
        self._harvest = experiment.build_harvest()
        self.learner = None
        if experiment.learning.mode == "train":
            # PyTorch takes seconds to load: only for those who train.
            from fallow.simulation.learner_setup import build_learner

            self.learner = build_learner(
                experiment,
                training_steps(experiment.table(), self.world.physics.train_slots),
                probes=self.ages == "features",
                probes_losses=self.needs.probe_loss,
                keeps_local=self.needs.distance == "parameters",
                workers=workers,
            )
            chosen = experiment.compute.model_copy(update={"strategy": self.learner.strategy})
            self.experiment = experiment.model_copy(update={"compute": chosen})
        self.device_books = DeviceBooks.of(experiment, self.world.physics)
        self.epoch = 0
        self.asked = AskedPolicy(policy, experiment.policy.name, experiment.clients)
        self.age_selected = np.zeros(experiment.clients, dtype=np.int32)
        self.age_delivered = np.zeros(experiment.clients, dtype=np.int32)
        self.delivered = np.zeros(experiment.clients, dtype=np.bool_)
        self.energy_total = 0
        self.knowledge = Knowledge(self.needs, experiment, self._harvest)
        self._unknown = np.broadcast_to(np.float32(np.nan), experiment.clients)
        self._significant = np.broadcast_to(np.float32(np.inf), experiment.clients)

    def __iter__(self) -> Iterator[EpochRecord]:
        while self.epoch < self.experiment.epochs:
            yield self.step()

    def step(self, watch: Callable[[int, World], None] | None = None) -> EpochRecord:
        """Lives through the next epoch (Algorithm 1) and returns its record.

        Args:
            watch: Called at the end of every slot, with the slot and the world.
        """
        self.knowledge.before(self.epoch, self.world.state.harvested)
        before = self.device_books.sums(self.world) if self.device_books else None
        opened = self.world.open_epoch(  # lines 2-12, in the epoch's first slot
            self.epoch,
            self._harvest(self.epoch),
            record_events=self.experiment.output.events or self.learner is not None or self.needs.participation,
            slot_by_slot=watch is not None,
        )
        distances = self._probe(opened)  # Alg. 2, lines 7-8: M_i
        selected = self._select(opened, distances.policy)  # line 13
        lived = self.world.run_slots(opened, selected, self.asked.start, watch)  # lines 3-9 and 14-18, in every slot
        learnt = learn(self.learner, lived, self.epoch, self.asked, self.experiment)  # lines 7, 18 and 20-21
        self.knowledge.after(self.epoch, lived.selected, learnt.delivered, lived.events)
        self._grow_older(lived.selected, learnt.delivered, distances.ages)
        record = self._record(lived, learnt, distances.ages)
        if self.device_books and before is not None:
            record = replace(record, devices=self.device_books.rows(self.world, before))
        self.epoch += 1
        return record

    @property
    def policy(self) -> AnyPolicy:
        """Who trains."""
        return self.asked.policy

    @property
    def policy_state(self) -> Any:
        """The memory of the policy."""
        return self.asked.memory

    @property
    def classes(self) -> int | None:
        """How many classes are learnt; None in an energy-only run."""
        return self.learner.task.network.classes if self.learner else None

    @property
    def state(self) -> RunState:
        """The whole state of the run; its arrays are the run's own, so write it down before the next epoch."""
        check_parts("policy", self.asked.memory, self.asked.first)
        return RunState(
            epoch=self.epoch,
            energy_total=self.energy_total,
            age_selected=self.age_selected,
            age_delivered=self.age_delivered,
            delivered=self.delivered,
            world=self.world.state,
            policy=self.asked.memory,
            participation=self.knowledge.participation,
            learning=self.learner.state if self.learner else None,
        )

    def restore(self, state: RunState) -> None:
        """Goes on from a state. The run continues to the same bytes.

        Args:
            state: The state of a run of this experiment. Its arrays belong to this run from now on.
        """
        self.epoch, self.energy_total = state.epoch, state.energy_total
        self.age_selected, self.age_delivered = state.age_selected, state.age_delivered
        self.delivered = state.delivered
        self.world = World(self.world.physics, state.world)
        self.asked.memory = state.policy
        self.knowledge.participation = state.participation
        if self.learner and state.learning:
            self.learner.restore(state.learning)

    def unpack(self, arrays: Mapping[str, NDArray[Any]], notes: Notes) -> RunState:
        """Returns the state of a run of this experiment that `fallow.state.pack` took apart.

        Args:
            arrays: Arrays by name, as `pack` returns them.
            notes: Everything else, as `pack` returns it.
        """
        return unpack(RunState, arrays, notes, like=self.state)

    def _probe(self, opened: OpenEpoch) -> Distances:
        """Returns M_i of the epoch, as far as anybody needs it.

        Without learning M_i is beyond or below every threshold, by chance.
        """
        learner, clients = self.learner, self.experiment.clients
        if learner:
            # Whose last batch runs in this very slot has a new h_i: line 7 comes before the probe of line 13.
            for client in opened.finishing.tolist():
                learner.finish(client)
            measured = {"none": self._unknown}
            with blame_model(self.experiment, self.epoch):
                if learner.task.probes:
                    measured["features"] = learner.distances(self.epoch)
                if learner.task.keeps_local:
                    measured["parameters"] = learner.parameter_distances()
            return Distances(measured[self.ages], measured[self.needs.distance])
        significance = self.experiment.learning.significance
        by_chance = self._significant
        if significance < 1:
            rng = stream(self.experiment.seed, Purpose.SIGNIFICANCE, self.epoch)
            significant = bernoulli(rng, significance, (1, clients))[0]
            by_chance = np.where(significant, np.float32(np.inf), np.float32(-np.inf))
        return Distances(by_chance, self._unknown if self.needs.distance == "none" else by_chance)

    def _select(self, opened: OpenEpoch, distance: NDArray[np.float32]) -> Mask:
        """Alg. 1, line 13: ClientSelect. A distance that was not paid for is not known."""
        world, physics = self.world, self.world.physics
        known = np.where(opened.paid, distance, np.float32(np.nan)) if world.pays_probes else distance
        view = EpochView(
            epoch=self.epoch,
            clients=physics.clients,
            slots_per_epoch=physics.slots_per_epoch,
            battery=world.spendable(opened.reached),
            capacity=world.capacity,
            train_cost=world.start_cost(opened),
            transmit_cost=physics.transmit_cost,
            train_slots=physics.train_slots,
            transmit_slots=physics.transmit_slots,
            training=frozen_copy(world.training(opened.slot)),
            unsent=frozen_copy(world.unsent(opened.slot)),
            distance=frozen_copy(known),
            delivered=frozen_copy(self.delivered),
            known=self.knowledge.gather(self.epoch, opened.paid, self.learner),
        )
        return self.asked.select(view, stream(self.experiment.seed, Purpose.SELECT, self.epoch))

    def _grow_older(self, selected: Mask, delivered: Mask, distance: NDArray[np.float32]) -> None:
        """Eq. (7): the recorded ages X_i(t+1), under both readings of what resets them (reading 7)."""
        if self.ages != "none":
            self.age_selected = next_version_age(self.age_selected, distance, self._mu, selected)
            self.age_delivered = next_version_age(self.age_delivered, distance, self._mu, delivered)
        self.delivered = delivered

    def _record(self, lived: LivedEpoch, learnt: Learnt, distance: NDArray[np.float32]) -> EpochRecord:
        self.energy_total += lived.counters.consumed
        means: dict[str, Any] = {}
        if self.ages != "none":
            for name, age in (("mean_age_selected", self.age_selected), ("mean_age_delivered", self.age_delivered)):
                means[name] = int(age.sum(dtype=np.int64)) / age.size
        events = []
        if self.experiment.output.events:
            kept = (~(distance >= self._mu)).nonzero()[0] if self.ages != "none" else np.zeros(0, dtype=np.intp)
            events = with_ages(lived.events, kept, learnt.dropped)
        counters = vars(lived.counters) | {"energy_total": self.energy_total}
        extended = self.world.physics.extended
        return EpochRecord(epoch=self.epoch, events=events, extended=extended, **counters, **means, **learnt.columns)
