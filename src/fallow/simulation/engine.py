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
from fallow.errors import FallowError, PolicyError
from fallow.experiment import Experiment
from fallow.paper import next_version_age
from fallow.policies import EpochView, Mask, Starter, needs_of
from fallow.rng import Purpose, bernoulli, stream
from fallow.simulation.ages import Ages, recorded_ages
from fallow.simulation.events import Happenings
from fallow.simulation.records import EpochRecord, with_ages
from fallow.simulation.world import World
from fallow.state import check_parts, from_arrays, to_arrays


class Engine:
    """A run: iterate over it for its epochs. Everything that could be wrong is checked before the first.

    Attributes:
        experiment: What is run, with what was measured at the start filled in.
        epoch: The next epoch, t.
        world: Batteries and what their owners do.
        learner: The global model and the clients' memories; None in an energy-only run.
        ages: What the recorded version ages are counted by.
        policy_state: The memory of the policy.
        age_selected: Version ages, reset when selected, shape (N,), int32.
        age_delivered: Version ages, reset when an update is received, shape (N,), int32.
        delivered: Clients whose update was received in the epoch before, shape (N,), bool.
        energy_total: Units consumed so far.
    """

    STATE = ("age_selected", "age_delivered", "delivered")

    def __init__(self, experiment: Experiment, *, workers: int | None = None) -> None:
        """Builds everything; `workers` stands in for compute.workers, and changes no result."""
        self.experiment = experiment
        self.policy = experiment.build("policy")
        self.needs = needs_of(self.policy)
        self.ages: Ages
        self.ages, self._mu = recorded_ages(experiment.learning, self.needs)
        self.world = World(experiment.build_physics(self.policy))
        self._harvest = experiment.build("energy", "model").prepare(
            experiment.seed, experiment.clients, experiment.slots_per_epoch
        )
        self.learner = None
        if experiment.learning.mode == "train":
            from fallow.simulation.task import build_learner  # PyTorch takes seconds to load: only for those who train

            self.learner = build_learner(
                experiment,
                self.world.physics.train_cost,
                probes=self.ages == "features",
                keeps_local=self.needs.distance == "parameters",
                workers=workers,
            )
            measured = experiment.compute.model_copy(update={"strategy": self.learner.strategy})
            self.experiment = experiment.model_copy(update={"compute": measured})
        self.epoch = 0
        self.policy_state: Any = self._guard("init", self.policy.init, experiment.clients)
        self._first_state = self.policy_state
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
        now = world.advance(  # Alg. 1, lines 2-18, for the slots of epoch t
            self.epoch,
            self._harvest(self.epoch),
            select=self._select,
            start=partial(self._ask, "start", policy.start) if isinstance(policy, Starter) else None,
            record_events=self.experiment.output.events or self.learner is not None,
            watch=watch,
        )
        learnt, dropped = self._learn(now) if self.learner else ({}, {})
        kept = np.zeros(0, dtype=np.intp)
        mean_ages: dict[str, Any] = {}
        if self.ages != "none":
            if self.experiment.output.events:
                kept = np.flatnonzero(~(self._distance >= self._mu))
            self.age_selected = next_version_age(self.age_selected, self._distance, self._mu, now.selected)
            self.age_delivered = next_version_age(self.age_delivered, self._distance, self._mu, now.delivered)
            mean_ages["mean_age_selected"] = float(self.age_selected.mean())
            mean_ages["mean_age_delivered"] = float(self.age_delivered.mean())
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
            events=with_ages(now.events, kept, dropped) if self.experiment.output.events else [],
            **mean_ages,
            **learnt,
        )
        self.epoch += 1
        return record

    @property
    def classes(self) -> int | None:
        """How many classes are learnt; None in an energy-only run."""
        return self.learner.task.network.classes if self.learner else None

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Returns the whole state of the run as named arrays: restored, it goes on to the same bytes."""
        check_parts("policy", self.policy_state, self._first_state)
        parts = {
            "run": {name: getattr(self, name) for name in self.STATE},
            "world": {name: getattr(self.world, name) for name in self.world.STATE},
            "policy": to_arrays(self.policy_state),
            "learner": self.learner.snapshot() if self.learner else {},
        }
        arrays = {f"{part}.{name}": array for part, own in parts.items() for name, array in own.items()}
        return arrays | {"run.counters": np.array([self.epoch, self.energy_total], dtype=np.int64)}

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Takes up what `snapshot` left."""

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)}

        for owner, prefix in ((self, "run."), (self.world, "world.")):
            for name, array in part(prefix).items():
                if name in owner.STATE:
                    setattr(owner, name, array.copy())
        self.epoch, self.energy_total = arrays["run.counters"].tolist()
        self.policy_state = from_arrays(self._first_state, part("policy."))
        if self.learner:
            self.learner.restore(part("learner."))

    def _learn(self, now: Happenings) -> tuple[dict[str, Any], dict[int, list[int]]]:
        """The learning of epoch t: train what started, aggregate what arrived (Alg. 1, lines 7, 18, 20-21).

        Returns:
            What the record says of it, and the clients whose updates were not used, by slot.
        """
        learner = self.learner
        assert learner is not None  # noqa: S101
        train_loss = learner.train([(slot, who) for kind, slot, who, _ in now.events if kind == "start"], self.epoch)
        used = []
        dropped: dict[int, list[int]] = {}
        for kind, slot, who, staleness in now.events:
            for place, client in enumerate(who.tolist() if kind != "select" else ()):
                if kind == "start":
                    learner.start(client, slot)
                elif kind == "finish":
                    learner.finish(client)
                elif staleness is not None:
                    update = learner.send(client, int(staleness[place]))
                    if update is None:
                        dropped.setdefault(slot, []).append(client)
                    else:
                        used.append(update)
        learner.aggregate(used)
        # q_i(t) = 1 takes an update in the aggregation (Eq. 2): one that was dropped leaves the age to grow.
        now.delivered[:] = False
        now.delivered[[update.client for update in used]] = True
        learnt: dict[str, Any] = {
            "train_loss": None if np.isnan(train_loss) else train_loss,
            "aggregated": len(used),
            "dropped": sum(len(clients) for clients in dropped.values()),
        }
        last = self.epoch + 1 == self.experiment.epochs
        if last or (self.epoch + 1) % self.experiment.learning.eval_every == 0:
            scores = learner.evaluate()
            learnt |= {"f1": scores.f1, "accuracy": scores.accuracy, "loss": scores.loss}
            learnt["recall"] = tuple(scores.recall.tolist())
        return learnt, dropped

    def _distances(self, slot: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns the distances that ages are counted by, and those that the policy needs, each of shape (N,).

        NaN where there are none. Without learning M_i is beyond or below every threshold, by chance.
        """
        if self.learner:
            # Whose last batch ran in this very slot has a new h_i: line 7 comes before the probe of line 13.
            for client in np.flatnonzero(self.world.committed & (self.world.free_at == slot + 1)).tolist():
                self.learner.finish(client)
            measured = {"none": np.broadcast_to(np.float32(np.nan), self.experiment.clients)}
            if self.learner.task.probes:
                measured["features"] = self.learner.distances(self.epoch)
            if self.learner.task.keeps_local:
                measured["parameters"] = self.learner.parameter_distances()
            return measured[self.ages], measured[self.needs.distance]
        significance, clients = self.experiment.learning.significance, self.experiment.clients
        if significance == 1:
            always = np.broadcast_to(np.float32(np.inf), clients)
            return always, always
        rng = stream(self.experiment.seed, Purpose.SIGNIFICANCE, self.epoch)
        significant = bernoulli(rng, significance, (1, clients))[0]
        by_chance = np.where(significant, np.float32(np.inf), np.float32(-np.inf))
        return by_chance, by_chance

    def _select(self, paid: Mask) -> Mask:
        """Alg. 1, line 13: ClientSelect."""
        world, physics = self.world, self.world.physics
        slot = self.epoch * physics.slots_per_epoch
        self._distance, distance = self._distances(slot)
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
            distance=frozen_copy(np.where(paid & (self.needs.distance != "none"), distance, np.float32(np.nan))),
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
        except (Exception, SystemExit) as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            # The call itself can fail too, if a hook takes other arguments: then the place says nothing to its author.
            place = f" ({frame.filename}, line {frame.lineno})" if frame.filename != __file__ else ""
            raise PolicyError(
                f"The policy '{self.experiment.policy.name}' failed in {hook}, epoch {self.epoch}: "
                f"{type(error).__name__}: {error}{place}."
            ) from error
