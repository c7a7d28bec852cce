"""The models that trainings on their way began with."""

from dataclasses import dataclass, field

from fallow.models.weights import Weights


@dataclass
class StartModels:
    """Which model each training that is not sent yet began with; a model is kept once, as long as one refers to it.

    Attributes:
        epochs: The epoch in which each training began, by client.
        models: The model of each such epoch, shape (P,), float32, by epoch.

    Examples:
        >>> import numpy as np
        >>> starts = StartModels()
        >>> for client in (3, 5):
        ...     starts.keep(client, 7, np.zeros(2, dtype=np.float32))
        >>> starts.take(3), list(starts.models)
        (array([0., 0.], dtype=float32), [7])
        >>> starts.take(5), list(starts.models)
        (array([0., 0.], dtype=float32), [])
    """

    epochs: dict[int, int] = field(default_factory=dict)
    models: dict[int, Weights] = field(default_factory=dict)

    def keep(self, client: int, epoch: int, weights: Weights) -> None:
        """Keeps the model that a client's training begins with.

        Args:
            client: The client.
            epoch: The epoch in which its training begins.
            weights: The model of that epoch, shape (P,), float32; nobody may change it from now on.
        """
        self.epochs[client] = epoch
        self.models.setdefault(epoch, weights)

    def take(self, client: int) -> Weights:
        """Returns the model that a client's training began with, and forgets it if no other began with it.

        Args:
            client: The client.

        Returns:
            The model, shape (P,), float32.
        """
        epoch = self.epochs.pop(client)
        return self.models[epoch] if epoch in self.epochs.values() else self.models.pop(epoch)
