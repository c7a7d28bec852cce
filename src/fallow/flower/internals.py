"""What Fallow uses of Flower that Flower does not promise to keep: all of it is in this file, with the reason.

Flower's public names are in `flwr.app`, `flwr.serverapp` and `flwr.clientapp`. They have no log, no way to deliver a
message without a network, and no word for a SuperNode that has given up; so these few names of Flower 1.41 stand here.
Whoever moves to another version of Flower reads this file first.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from flwr.app import Message
from flwr.common.constant import ErrorCode
from flwr.supercore import log as log  # what is logged by it is streamed to whoever started the run
from flwr.supercore.run import Run as Run  # a Grid returns one
from flwr.supercore.task_identity import TaskIdentity

if TYPE_CHECKING:
    from flwr.proto.task_pb2 import Task
    from flwr.supernode.nodestate.in_memory_nodestate import InMemoryNodeState

SERVER = 1
"""The node id of the server."""

APP_RAISED = ErrorCode.CLIENT_APP_RAISED_EXCEPTION
"""The error of a reply whose app raised an exception."""

EXPIRED = ErrorCode.MESSAGE_UNAVAILABLE
"""The error that the SuperLink itself gives in place of a reply that did not come in time."""


def act_as_server() -> None:
    """Has messages bear the server's identity, which Flower sets in a run of its own."""
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 0, SERVER


def set_message_id(message: Message, identifier: str) -> None:
    """Gives a message the id that Flower's own grids give it when they send it.

    Args:
        message: Changed in place.
        identifier: The id.
    """
    message.metadata.__dict__["_message_id"] = identifier


def supernode_program() -> Callable[[], None]:
    """Returns the program of a SuperNode, mended: it answers for a client process that died before it began.

    A client process has half a minute to fetch its message. Flower writes the error reply of one that died only if it
    had fetched it; otherwise its SuperNode would wait for a reply for ever, online and mute.
    """
    from flwr.supernode.cli.flower_supernode import flower_supernode
    from flwr.supernode.nodestate.in_memory_nodestate import InMemoryNodeState

    as_it_was = InMemoryNodeState._on_task_tokens_expired

    def expired(self: "InMemoryNodeState", tasks: "list[Task]") -> None:
        runs = {task.run_id for task in tasks}
        with self.lock_msg_store:
            for entry in self.msg_store.values():  # a SuperNode works at one message at a time
                entry.is_retrieved = entry.is_retrieved or (
                    entry.message.metadata.run_id in runs and not entry.message.metadata.reply_to_message_id
                )
        as_it_was(self, tasks)

    InMemoryNodeState._on_task_tokens_expired = expired  # type: ignore[method-assign]
    return flower_supernode
