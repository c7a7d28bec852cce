"""Who takes part: clients by their own names, whatever node ids Flower gives their nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Roster:
    """The clients that the server knows, in the order of their numbers.

    Attributes:
        names: Identities; the place of one is its client's number.
        nodes: The Flower node that each was last seen on.
        sizes: |D_i|.
        received: The start slot of the newest update received from each; −1 for none.
    """

    names: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    received: list[int] = field(default_factory=list)

    def admit(self, claims: Iterable[tuple[int, str, int]], connected: set[int]) -> tuple[dict[int, int], list[str]]:
        """Admits those who answered, by the names that they claim, and returns their numbers.

        A name belongs to the node that bore it first, for as long as that node is connected: nobody else can take it
        over, and with it the client's age and update. A node that comes back under another id finds its name free.

        Args:
            claims: (node id, name, |D_i|), at most one a node.
            connected: The nodes that are connected.

        Returns:
            The client's number by node id, and a sentence for each claim that was rejected.
        """
        admitted: dict[int, int] = {}
        refused: list[str] = []
        by_name: dict[str, list[tuple[int, int]]] = {}
        for node, name, size in claims:
            by_name.setdefault(name, []).append((node, size))
        numbers = {name: number for number, name in enumerate(self.names)}
        for name in sorted(by_name):  # the numbers of new clients do not depend on who answered first
            rivals = by_name[name]
            if name in numbers:
                owner = self.nodes[numbers[name]]
                if owner in connected:
                    refused += [self._refusal(name, node, owner) for node, _ in rivals if node != owner]
                    rivals = [(node, size) for node, size in rivals if node == owner]
            if len(rivals) > 1:
                refused.append(f"The nodes {sorted(node for node, _ in rivals)} all call themselves '{name}'.")
                continue
            for node, size in rivals:
                admitted[node] = self._enter(name, node, size, numbers.get(name))
        return admitted, refused

    def called(self, node: int) -> str:
        """Returns how a node is called in a sentence: by its client's name, if one is known.

        Args:
            node: Its id.

        Examples:
            >>> Roster(["roof"], [7], [40], [-1]).called(7), Roster().called(8)
            ("'roof' (node 7)", 'node 8')
        """
        return f"'{self.names[self.nodes.index(node)]}' (node {node})" if node in self.nodes else f"node {node}"

    def _enter(self, name: str, node: int, size: int, number: int | None) -> int:
        if number is None:
            self.names.append(name)
            self.nodes.append(node)
            self.sizes.append(size)
            self.received.append(-1)
            return len(self.names) - 1
        self.nodes[number], self.sizes[number] = node, size
        return number

    def _refusal(self, name: str, node: int, owner: int) -> str:
        return f"Node {node} calls itself '{name}', which is node {owner}."
