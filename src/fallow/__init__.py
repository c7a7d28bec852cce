"""Fallow: energy-harvesting federated learning, slot by slot."""

from importlib.metadata import version

__version__ = version("fallow")
