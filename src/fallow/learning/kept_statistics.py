"""Clients that keep their own running statistics from one training to the next (model.keep_local)."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from fallow.learning.network import Network
from fallow.learning.state import Trained
from fallow.learning.statistics import Statistics
from fallow.learning.training import Training


class KeptStatistics:
    """The running statistics that clients keep.

    Attributes:
        by_client: The statistics after each client's last training, shape (P − T,), float32, by client. Clients that
            finished none have none; where statistics are not kept, nobody has any.
    """

    def __init__(self, network: Network, *, keeps: bool) -> None:
        """Begins with none.

        Args:
            network: The network that is trained.
            keeps: Whether clients keep their own statistics.
        """
        self.by_client: dict[int, Statistics] = {}
        self._first, self._keeps = network.trained, keeps

    def keep(self, trained: Trained) -> None:
        """Keeps the statistics of a training that ended; not of one that diverged.

        Args:
            trained: The result of the training.
        """
        if self._keeps:
            self.by_client |= self._after(trained)

    def train(
        self,
        train: Callable[[list[Training]], list[Trained]],
        trainings: list[Training],
        held: Mapping[int, Trained],
    ) -> list[Trained]:
        """Returns the results of an epoch's trainings, each begun with the statistics that its client has by then.

        A client may start twice in an epoch. Then its second training begins where the first left its statistics, so
        the trainings are done in turns: the first of every client, then the second, and so on.

        Args:
            train: Does trainings that do not depend on each other, and returns their results in the same order.
            trainings: By slot.
            held: Trainings of earlier epochs that are not sent yet, by client. They end before the client starts again.

        Returns:
            The results in the order of `trainings`.
        """
        if not self._keeps:
            return train(trainings)
        own = dict(self.by_client)
        for trained in held.values():
            own |= self._after(trained)
        results: dict[int, Trained] = {}
        waiting = list(enumerate(trainings))
        while waiting:
            turn: dict[int, tuple[int, Training]] = {}
            for place, training in waiting:
                turn.setdefault(training.client, (place, training))
            done = train([replace(training, statistics=own.get(client)) for client, (_, training) in turn.items()])
            for (place, _), trained in zip(turn.values(), done, strict=True):
                results[place] = trained
                own |= self._after(trained)
            waiting = [(place, training) for place, training in waiting if place not in results]
        return [results[place] for place in range(len(trainings))]

    def _after(self, trained: Trained) -> dict[int, Statistics]:
        """Returns the statistics of a client after a training, by client; nothing if it diverged."""
        return {} if trained.diverged_at is not None else {trained.client: trained.weights[self._first :].copy()}
