"""One client on a node of its own: it answers queries, carries out orders, and remembers everything on its disk.

Nothing here speaks Flower; ``client.py`` does.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fallow.errors import NodeError
from fallow.flower.batteries import Battery, Event
from fallow.flower.node.commons import Commons
from fallow.flower.node.facts import Facts, TaskOnDemand
from fallow.flower.node.looking import keep_model, probe_model
from fallow.flower.node.memory import Memory, Work, directory_of, forget_oldest
from fallow.flower.node.report import check_query, distance_of, tell
from fallow.flower.node.shelf import Opened, Shelf
from fallow.flower.node.start_hook import check_order, policy_hook, why_not
from fallow.flower.wire.arrays import Named, flattened, named
from fallow.flower.wire.messages import Order, Outcome, Query, Standing
from fallow.policies import AnyPolicy

if TYPE_CHECKING:  # PyTorch comes with it, which a node that is only asked does without
    from fallow.flower.node.client_task import ClientTask

ATTEMPTS = 2
"""How often an order is begun whose carrying out killed the process, before the client lets it pass."""

EPOCHS_UNWRITTEN = 20
"""Most epochs without orders that a node would live through again after a restart; more are written down."""


class Node:
    """A client and its memory.

    Attributes:
        identity: Its own name.
        battery: What it lives on.
        policy: The policy, if it decides slot by slot who starts: it is asked here, about this client alone.
        root: Where memories are kept.
        share_labels: Whether its owner lets it tell the mix of its labels to a policy that asks.
    """

    def __init__(
        self,
        identity: str,
        task: "ClientTask | Callable[[], ClientTask]",
        battery: Battery,
        root: Path,
        policy: AnyPolicy | None = None,
        *,
        run: int = 0,
        share_labels: bool = False,
    ) -> None:
        self.identity, self.battery, self.root, self.policy = identity, battery, root, policy
        self.share_labels = share_labels
        self._learns = TaskOnDemand(task, run)
        self._commons: Callable[[Path], Commons] | None = None
        self._shelves: dict[str, Shelf] = {}

    @property
    def task(self) -> "ClientTask":
        """What it learns; its data and network are built when they are first needed."""
        return self._learns.task

    def stay(self, commons: Callable[[Path], Commons]) -> None:
        """Keeps memory and battery at hand from now on, because the next message comes to this process too.

        Args:
            commons: From a federation's directory to what the nodes of this process have in common there.
        """
        self._commons = commons

    def shelf(self, federation: str) -> Shelf:
        """Returns where the node keeps what belongs to a federation.

        Args:
            federation: Its name.
        """
        if federation in self._shelves:
            return self._shelves[federation]
        directory = directory_of(self.root, federation, self.identity)
        if self._commons is None:
            return Shelf(directory)
        self._shelves = {federation: Shelf(directory, self._commons(directory.parent))}  # nodes live in one at a time
        return self._shelves[federation]

    def answer(self, query: Query, model: Named | None = None) -> Standing:
        """Returns how the node stands as an epoch begins. The same query gets the same answer.

        Args:
            query: From the server.
            model: The global model, if the server sent it along.
        """
        check_query(query, share_labels=self.share_labels)
        with self._visit(query) as (shelf, opened):
            memory, battery, sight = opened.memory, opened.battery, shelf.sight()
            if model is not None:
                keep_model(shelf, query.version, model, self._learns.facts(lambda: sight.facts))
            if query.probes and not probe_model(self._learns, shelf, opened, sight, query):
                return Standing(self.identity, lacks_model=True)
            facts = sight.facts = self._learns.facts(lambda: sight.facts)
            paid_for = [work.slot for work in memory.outbox]
            if sight.told and query.epoch <= max(memory.epoch, battery.lived):
                # This epoch is over here, and time does not run backwards: the server asks again after a fault.
                version, _, standing = sight.told
                distance, probe_loss = standing.distance, standing.probe_loss
                if version != query.version:
                    distance = distance_of(facts, shelf, memory.moment, memory.local, sight, query)
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
                facts,
                battery,
                moment=moment,
                training_loss=training_loss,
                probe_loss=sight.loss if reading.paid else math.nan,
            )
            standing = Standing(
                identity=self.identity,
                data_size=facts.data_size,
                battery=reading.units,
                capacity=self.battery.capacity,
                train_cost=self.battery.train_cost if reading.start_cost is None else reading.start_cost,
                transmit_cost=self.battery.transmit_cost,
                train_slots=reading.train_slots,
                transmit_slots=reading.transmit_slots,
                training=reading.training,
                unsent=reading.unsent,
                paid_for=paid_for,
                distance=distance_of(facts, shelf, moment, local, sight, query) if reading.paid else math.nan,
                **known,  # type: ignore[arg-type]
            )
            sight.told = (query.version, query.epoch, standing)
            shelf.put_sight(sight)
            return standing

    def obey(self, order: Order, model: Named | None = None) -> tuple[Outcome, list[Named]]:
        """Lives through an epoch as ordered. Returns the outcome, and the updates that are paid for.

        Args:
            order: From the server.
            model: The global model, if the server sent it along.
        """
        with self._visit(order) as (shelf, opened):
            memory = opened.memory
            if model is not None:
                keep_model(shelf, order.version, model, self._facts(shelf))
            memory.outbox = [work for work in memory.outbox if work.slot > order.received]
            if order.epoch > max(memory.epoch, opened.battery.lived):
                if order.selected and shelf.model(order.version) is None:
                    return Outcome(self.identity, order.epoch, lacks_model=True), []
                check_order(self.policy, self.battery.slots_per_epoch, order)
                memory.order, memory.attempts = order, 0
                shelf.settle(order.version if order.selected else "")
                self._carry_out(shelf, opened)
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
            if self._learns.was_built:
                shelf.put_sight(replace(shelf.sight(), facts=self._facts(shelf)))
            layout = self._facts(shelf).layout if memory.outbox else {}
            return outcome, [named(work.weights, layout) for work in memory.outbox]

    @contextmanager
    def _visit(self, said: Query | Order) -> Iterator[tuple[Shelf, Opened]]:
        """Opens the memory and brings it up to the epoch; saves it if it could not be brought there again."""
        shelf = self.shelf(said.federation)
        held = shelf.lock()
        try:
            opened = shelf.open(self.battery, probes=said.probes, ideal=said.ideal)
            memory, battery, new = opened.memory, opened.battery, opened.new
            ignorant, resumes = memory.moment is None, memory.order is not None
            if resumes:  # the process died over it
                self._carry_out(shelf, opened)
            for event in battery.catch_up(said.epoch):
                self._happen(event, shelf, memory, said)
            yield shelf, opened
            learnt = ignorant and memory.moment is not None
            unwritten = battery.lived - opened.written > EPOCHS_UNWRITTEN
            if isinstance(said, Order) or new or resumes or learnt or unwritten:
                memory.energy = battery.state
                shelf.write(opened)
            if new:
                forget_oldest(self.root, self.identity)
        except BaseException:
            shelf.forget()  # it may be half way: what is on disk holds
            raise
        finally:
            held.close()

    def _carry_out(self, shelf: Shelf, opened: Opened) -> None:
        memory, battery, order = opened.memory, opened.battery, opened.memory.order
        assert order is not None  # noqa: S101
        memory.attempts += 1
        if (not battery.replays and memory.attempts > 1) or memory.attempts > ATTEMPTS:
            # Whatever was begun is lost with the process; a real battery has paid for it.
            order = replace(order, selected=False)
        memory.energy = battery.state  # of the epochs before the order; what happened in them is remembered already
        shelf.write(opened)
        memory.epoch, memory.trained, memory.declined = order.epoch, 0, ""
        hook = policy_hook(self.policy, order)
        for event in battery.live(order.epoch, hook, selected=order.selected):
            self._happen(event, shelf, memory, order)
            if event.kind == "finish" and not battery.replays:
                memory.energy = battery.state
                shelf.write(opened)
        if order.selected and not memory.trained and not memory.declined:
            told = shelf.sight().told
            level = f", of {told[2].battery} at the beginning of the round" if told else ""
            memory.declined = why_not(self.battery.train_cost, level, hook, held=memory.held is not None)
        memory.policy = hook.memory() if hook else b""
        memory.order, memory.energy = None, battery.state

    def _happen(self, event: Event, shelf: Shelf, memory: Memory, said: Query | Order) -> None:
        if event.kind == "start":
            model = shelf.model(said.version)
            if model is None:
                raise NodeError(f"The model of epoch {said.epoch} is gone from {shelf.directory}.")
            trained = self.task.train(flattened(model, self._facts(shelf).layout), event.slot, memory.statistics)
            memory.held = Work.of(trained, said.epoch, self.identity)
            memory.trained += 1
        elif memory.held is None:
            raise NodeError(f"{event.kind} in slot {event.slot} without a training: a bug in Fallow.")
        elif event.kind == "finish":
            if not memory.held.fault:
                memory.moment, memory.training_loss = memory.held.moment, memory.held.rms_loss
                memory.statistics = self._facts(shelf).statistics(memory.held.weights)
                if said.distance == "parameters":
                    memory.local = memory.held.weights
        else:
            if memory.held.fault:
                memory.declined = memory.held.fault
            else:
                memory.outbox.append(memory.held)
            memory.held = None

    def _facts(self, shelf: Shelf) -> Facts:
        return self._learns.facts(lambda: shelf.sight().facts)
