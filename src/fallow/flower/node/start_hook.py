"""A policy that decides slot by slot who starts is asked on the node, about its one client."""

from collections.abc import Callable
from typing import Any

from fallow.errors import NodeError
from fallow.flower.wire.arrays import from_bytes, to_bytes
from fallow.flower.wire.messages import Order
from fallow.plugins.calls import call
from fallow.policies import AnyPolicy, Mask, SlotView, Starter, checked_answer, checked_mask
from fallow.state import from_arrays, to_arrays


def check_order(policy: AnyPolicy | None, slots_per_epoch: int, order: Order) -> None:
    """Checks that an order fits the node's policy and slots.

    Args:
        policy: The node's policy; None if it has none.
        slots_per_epoch: S, of the node's battery.
        order: From the server.

    Raises:
        NodeError: The order is for another policy, or counts other slots.
    """
    if order.policy and order.policy != repr(policy):
        raise NodeError(
            f"The server's policy, {order.policy}, decides slot by slot who starts, and this node was given {policy}; "
            "give client_app the same policy."
        )
    if order.policy and order.slots_per_epoch != slots_per_epoch:
        raise NodeError(
            f"{policy} decides slot by slot who starts; the server counts {order.slots_per_epoch} slots to an epoch "
            f"and this node's battery {slots_per_epoch}: give both the same slots_per_epoch."
        )


class PolicyHook:
    """The policy's `start` and its memory of the client, which came with the order and goes back with the outcome.

    Attributes:
        could: Whether there was a slot in which the client could have started.
    """

    def __init__(self, start: Callable[[Any, SlotView], tuple[Any, Mask]], state: Any) -> None:
        self._start, self._state = start, state
        self.could = False

    def __call__(self, view: SlotView) -> Mask:
        """Asks the policy whether the client starts in this slot."""
        self.could = self.could or bool(view.ready[0])
        answer = call("The policy", "start", self._start, self._state, view)
        self._state, mask = checked_answer(answer, "start")
        return checked_mask(mask, 1, "start")

    def memory(self) -> bytes:
        """Returns the policy's memory as it goes to the server."""
        return to_bytes(to_arrays(self._state))


def policy_hook(policy: AnyPolicy | None, order: Order) -> PolicyHook | None:
    """Returns the hook; None if the policy decides only once an epoch.

    Args:
        policy: The node's policy; None if it has none.
        order: From the server, with the policy's memory.
    """
    if not order.policy or not isinstance(policy, Starter):
        return None
    return PolicyHook(policy.start, from_arrays(call("The policy", "init", policy.init, 1), from_bytes(order.memory)))


def why_not(train_cost: int, level: str, hook: PolicyHook | None, *, held: bool) -> str:
    """Returns why a client that was selected did not train.

    Args:
        train_cost: κ, the units of a training.
        level: What its battery held, in words.
        hook: The policy's `start`; None if it has none.
        held: Whether the client has an update that is not sent.
    """
    if held:
        return "an earlier training is not sent yet"
    if hook and hook.could:
        return "the policy let it start in none of the slots in which its battery had enough"
    return f"its battery did not come to the {train_cost} units of a training{level}"
