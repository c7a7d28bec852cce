"""The models that trainings on their way began with, as far as the server can know."""

from dataclasses import dataclass, field

from fallow.models.weights import Weights

MOST = 8
"""Epochs that are kept for one client: one that is ordered and never heard of again must not fill the memory."""


@dataclass
class SentModels:
    """From which epochs each client may have a training on its way, and the models of these epochs.

    Attributes:
        epochs: The epochs, oldest first, by client.
        models: The model of each of them, shape (P,), float32, by epoch.

    Examples:
        >>> import numpy as np
        >>> sent = SentModels()
        >>> for epoch in (4, 5):
        ...     sent.order(0, epoch, np.full(1, epoch, dtype=np.float32))
        >>> sent.arrived(0, 5)
        >>> sent.models
        {5: array([5.], dtype=float32)}
        >>> sent.idle(0)
        >>> sent.models
        {}
    """

    epochs: dict[int, list[int]] = field(default_factory=dict)
    models: dict[int, Weights] = field(default_factory=dict)

    def order(self, client: int, epoch: int, model: Weights) -> None:
        """Notes that a client may begin a training.

        Args:
            client: Its number.
            epoch: t.
            model: w(t), shape (P,), float32; nobody may change it from now on.
        """
        self.models.setdefault(epoch, model)
        others = [other for other in self.epochs.get(client, []) if other != epoch]
        self._set(client, [*others, epoch][-MOST:])

    def not_begun(self, client: int, epoch: int) -> None:
        """Notes that a client began no training in an epoch.

        Args:
            client: Its number.
            epoch: The epoch.
        """
        self._set(client, [other for other in self.epochs.get(client, []) if other != epoch])

    def arrived(self, client: int, epoch: int) -> None:
        """Notes that an update arrived: a client's trainings follow one another, so none that began before is left.

        Args:
            client: Its number.
            epoch: The epoch in which the training of the update began; another of that epoch may be on its way.
        """
        self._set(client, [other for other in self.epochs.get(client, []) if other >= epoch])

    def idle(self, client: int) -> None:
        """Notes that a client has nothing on its way.

        Args:
            client: Its number.
        """
        self._set(client, [])

    def _set(self, client: int, epochs: list[int]) -> None:
        if epochs:
            self.epochs[client] = epochs
        else:
            self.epochs.pop(client, None)
        left = {epoch for own in self.epochs.values() for epoch in own}
        self.models = {epoch: model for epoch, model in self.models.items() if epoch in left}
