"""Federated learning on harvested energy."""
