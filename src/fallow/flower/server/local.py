"""A grid in this process: every node is a call away. For tests, and to try an app before it meets real nodes."""

from collections.abc import Iterable, Mapping
from uuid import uuid4

from flwr.app import Context, Error, Message, RecordDict, UserConfig
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid

from fallow.flower.internals import APP_RAISED, Run, act_as_server, set_message_id
from fallow.flower.node.client import NodeApp


class LocalGrid(Grid):
    """Calls a ClientApp for each message, and turns what it raises into an error reply, as Flower does.

    Attributes:
        app: The ClientApp of every node.
        nodes: The node config of each node, by node id.
    """

    def __init__(self, app: ClientApp, nodes: Mapping[int, UserConfig], run_config: UserConfig | None = None) -> None:
        self.app = app
        self.nodes = dict(nodes)
        self._run_config = run_config or {}
        self._replies: dict[str, Message] = {}
        self._contexts: dict[int, Context] = {}
        act_as_server()

    def set_run(self, run: Run) -> None:
        """Does nothing: there is only one run."""

    @property
    def run(self) -> Run:
        """An empty description of the run."""
        return Run.create_empty(0)

    def create_message(
        self, content: RecordDict, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None
    ) -> Message:
        """Returns a message, as Flower's own grids do."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> Iterable[int]:
        """Returns the ids of all nodes."""
        return list(self.nodes)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Delivers messages, keeps the replies, and returns the messages' ids.

        Args:
            messages: To nodes of this grid.
        """
        sent = {uuid4().hex: message for message in messages}
        for identifier, message in sent.items():
            set_message_id(message, identifier)
        if isinstance(self.app, NodeApp) and self.app.household is not None:
            self.app.household.foresee([(message, self._context(message)) for message in sent.values()])
        for identifier, message in sent.items():
            reply = self.deliver(message)
            if reply is not None:
                self._replies[identifier] = reply
        return list(sent)

    def deliver(self, message: Message) -> Message | None:
        """Delivers a message and returns the reply; None from a node that never answers.

        Args:
            message: To a node of this grid.
        """
        try:
            return self.app(message, self._context(message))
        except Exception as error:  # noqa: BLE001  # the server hears of it, as it would over a network
            reason = f"{type(error).__name__}: {error}"
            return Message(Error(APP_RAISED, reason), reply_to=message)

    def _context(self, message: Message) -> Context:
        """Returns the context of the node that a message goes to; it stays the same, as in a run of Flower's."""
        node = message.metadata.dst_node_id
        known = self._contexts.get(node)
        if known is None or known.node_config is not self.nodes[node]:
            config = self.nodes[node]
            known = Context(run_id=0, node_id=node, node_config=config, state=RecordDict(), run_config=self._run_config)
            self._contexts[node] = known
        return known

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """Returns the replies that are there, each once.

        Args:
            message_ids: Of the messages that they answer.
        """
        return [self._replies.pop(identifier) for identifier in list(message_ids) if identifier in self._replies]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        """Delivers messages and returns the replies.

        Args:
            messages: To nodes of this grid.
            timeout: Not used: nodes answer at once.
        """
        return self.pull_messages(self.push_messages(messages))
