"""One client on a node of its own."""
