"""One client on a node of its own: it answers queries, carries out orders, and remembers everything on its disk.

Nothing here speaks Flower; ``client.py`` does.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fallow.errors import NodeError
from fallow.flower.batteries import Battery, Event, OpenBattery
from fallow.flower.node.client_task import ClientTask
from fallow.flower.node.memory import (
    Memory,
    Sight,
    Work,
    directory_of,
    forget_oldest,
    load_memory,
    load_model,
    load_sight,
    save_memory,
    save_model,
    save_sight,
)
from fallow.flower.node.report import check_query, distance_of, tell
from fallow.flower.node.start_hook import check_order, policy_hook, why_not
from fallow.flower.wire.arrays import MessageError, Named, flattened, named, version_of
from fallow.flower.wire.messages import Order, Outcome, Query, Standing
from fallow.policies import AnyPolicy
from fallow.storage.locks import lock

ATTEMPTS = 2
"""How often an order is begun whose carrying out killed the process, before the client lets it pass."""

EPOCHS_UNWRITTEN = 20
"""Most epochs without orders that a node would live through again after a restart; more are written down."""


class Node:
    """A client and its memory.

    Attributes:
        identity: Its own name.
        task: What it learns.
        battery: What it lives on.
        policy: The policy, if it decides slot by slot who starts: it is asked here, about this client alone.
        root: Where memories are kept.
        share_labels: Whether its owner lets it tell the mix of its labels to a policy that asks.
    """

    def __init__(
        self,
        identity: str,
        task: ClientTask,
        battery: Battery,
        root: Path,
        policy: AnyPolicy | None = None,
        *,
        share_labels: bool = False,
    ) -> None:
        self.identity, self.task, self.battery, self.root, self.policy = identity, task, battery, root, policy
        self.share_labels = share_labels

    def answer(self, query: Query, model: Named | None = None) -> Standing:
        """Returns how the node stands as an epoch begins. The same query gets the same answer.

        Args:
            query: From the server.
            model: The global model, if the server sent it along.
        """
        check_query(query, share_labels=self.share_labels)
        with self._visit(query) as (directory, memory, battery):
            if model is not None:
                self._keep(directory, query.version, model)
            sight = load_sight(directory)
            if query.probes and not self._probe(directory, memory, battery, sight, query):
                return Standing(self.identity, lacks_model=True)
            paid_for = [work.slot for work in memory.outbox]
            if sight.told and query.epoch <= max(memory.epoch, battery.lived):
                # This epoch is over here, and time does not run backwards: the server asks again after a fault.
                version, _, standing = sight.told
                distance, probe_loss = standing.distance, standing.probe_loss
                if version != query.version:
                    distance = distance_of(self.task, directory, memory.moment, memory.local, sight, query)
                    probe_loss = [loss if math.isnan(loss) else sight.loss for loss in probe_loss]
                return replace(standing, paid_for=paid_for, distance=distance, probe_loss=probe_loss)
            reading = battery.look(query.epoch)
            if reading.sending and memory.held:
                paid_for.append(memory.held.slot)
            moment, local, training_loss = memory.moment, memory.local, memory.training_loss
            if reading.finishing and memory.held and not memory.held.fault:
                work = memory.held
                moment, local, training_loss = work.moment, work.weights, work.rms_loss
            known = tell(
                query,
                self.task,
                battery,
                moment=moment,
                training_loss=training_loss,
                probe_loss=sight.loss if reading.paid else math.nan,
            )
            standing = Standing(
                identity=self.identity,
                data_size=len(self.task.shard),
                battery=reading.units,
                capacity=self.battery.capacity,
                train_cost=self.battery.train_cost if reading.start_cost is None else reading.start_cost,
                transmit_cost=self.battery.transmit_cost,
                train_slots=reading.train_slots,
                transmit_slots=reading.transmit_slots,
                training=reading.training,
                unsent=reading.unsent,
                paid_for=paid_for,
                distance=distance_of(self.task, directory, moment, local, sight, query) if reading.paid else math.nan,
                **known,  # type: ignore[arg-type]
            )
            sight.told = (query.version, query.epoch, standing)
            save_sight(directory, sight)
            return standing

    def obey(self, order: Order, model: Named | None = None) -> tuple[Outcome, list[Named]]:
        """Lives through an epoch as ordered. Returns the outcome, and the updates that are paid for.

        Args:
            order: From the server.
            model: The global model, if the server sent it along.
        """
        with self._visit(order) as (directory, memory, battery):
            if model is not None:
                self._keep(directory, order.version, model)
            memory.outbox = [work for work in memory.outbox if work.slot > order.received]
            if order.epoch > max(memory.epoch, battery.lived):
                if order.selected and load_model(directory, order.version) is None:
                    return Outcome(self.identity, order.epoch, lacks_model=True), []
                check_order(self.policy, self.battery.slots_per_epoch, order)
                memory.order, memory.attempts = order, 0
                self._carry_out(directory, memory, battery)
            outcome = Outcome(
                identity=self.identity,
                epoch=order.epoch,
                trained=memory.trained,
                declined=memory.declined,
                slots=[work.slot for work in memory.outbox],
                epochs=[work.epoch for work in memory.outbox],
                losses=[work.loss for work in memory.outbox],
                memory=memory.policy if order.policy else b"",
            )
            layout = self.task.layout
            return outcome, [named(work.weights, layout) for work in memory.outbox]

    @contextmanager
    def _visit(self, said: Query | Order) -> Iterator[tuple[Path, Memory, OpenBattery]]:
        """Opens the memory and brings it up to the epoch; saves it if it could not be brought there again."""
        directory = directory_of(self.root, said.federation, self.identity)
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = lock(directory)
        try:
            battery = self.battery.open(probes=said.probes, ideal=said.ideal)
            memory = load_memory(directory, battery.state)
            new, ignorant = memory.energy is None, memory.moment is None
            if not new:
                battery = self.battery.open(memory.energy, probes=said.probes, ideal=said.ideal)
            lived, resumes = battery.lived, memory.order is not None
            if resumes:  # the process died over it
                self._carry_out(directory, memory, battery)
            for event in battery.catch_up(said.epoch):
                self._happen(event, directory, memory, said)
            yield directory, memory, battery
            learnt = ignorant and memory.moment is not None
            if isinstance(said, Order) or new or resumes or learnt or battery.lived - lived > EPOCHS_UNWRITTEN:
                memory.energy = battery.state
                save_memory(directory, memory)
            if new:
                forget_oldest(self.root, self.identity)
        finally:
            held.close()

    def _carry_out(self, directory: Path, memory: Memory, battery: OpenBattery) -> None:
        order = memory.order
        assert order is not None  # noqa: S101
        memory.attempts += 1
        if (not battery.replays and memory.attempts > 1) or memory.attempts > ATTEMPTS:
            # Whatever was begun is lost with the process; a real battery has paid for it.
            order = replace(order, selected=False)
        save_memory(directory, memory)
        memory.epoch, memory.trained, memory.declined = order.epoch, 0, ""
        hook = policy_hook(self.policy, order)
        for event in battery.live(order.epoch, hook, selected=order.selected):
            self._happen(event, directory, memory, order)
            if event.kind == "finish" and not battery.replays:
                memory.energy = battery.state
                save_memory(directory, memory)
        if order.selected and not memory.trained and not memory.declined:
            told = load_sight(directory).told
            level = f", of {told[2].battery} at the beginning of the round" if told else ""
            memory.declined = why_not(self.battery.train_cost, level, hook, held=memory.held is not None)
        memory.policy = hook.memory() if hook else b""
        memory.order, memory.energy = None, battery.state

    def _happen(self, event: Event, directory: Path, memory: Memory, said: Query | Order) -> None:
        if event.kind == "start":
            model = load_model(directory, said.version)
            if model is None:
                raise NodeError(f"The model of epoch {said.epoch} is gone from {directory}.")
            trained = self.task.train(flattened(model, self.task.layout), event.slot, memory.statistics)
            memory.held = Work.of(trained, said.epoch, self.identity)
            memory.trained += 1
        elif memory.held is None:
            raise NodeError(f"{event.kind} in slot {event.slot} without a training: a bug in Fallow.")
        elif event.kind == "finish":
            if not memory.held.fault:
                memory.moment, memory.training_loss = memory.held.moment, memory.held.rms_loss
                memory.statistics = self.task.statistics(memory.held.weights)
                if said.distance == "parameters":
                    memory.local = memory.held.weights
        else:
            if memory.held.fault:
                memory.declined = memory.held.fault
            else:
                memory.outbox.append(memory.held)
            memory.held = None

    def _keep(self, directory: Path, version: str, model: Named) -> None:
        flattened(model, self.task.layout)
        if version_of(model) != version:
            raise MessageError(f"The model that came with version {version} is another.")
        save_model(directory, version, model)

    def _probe(self, directory: Path, memory: Memory, battery: OpenBattery, sight: Sight, query: Query) -> bool:
        """Makes the forward pass of a new model. Returns whether the model was there."""
        compares, losses = query.distance == "features", "probe_loss" in query.asks
        if sight.version == query.version and (memory.moment is not None or not compares):
            return True
        model = load_model(directory, query.version)
        if model is None:
            return False
        weights = flattened(model, self.task.layout)
        if memory.moment is None and compares:
            memory.moment = self.task.moment(weights)
        own, held = memory.statistics, memory.held
        lives = query.epoch > max(memory.epoch, battery.lived)
        if held and not held.fault and lives and battery.look(query.epoch).finishing:  # it ends before the probe
            own = self.task.statistics(held.weights)
        if compares or losses:
            sight.features, sight.loss = self.task.probe(weights, query.epoch, own, losses=losses)
        sight.version = query.version
        return True
