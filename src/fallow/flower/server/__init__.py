"""The server side of a federation: the strategy and what it remembers."""
