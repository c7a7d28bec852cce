"""The errors that users meet."""


class FallowError(Exception):
    """An error whose message is one clear sentence for the user; the command line shows it without a traceback."""


class ConfigError(FallowError):
    """The experiment can't be run as it is written."""


class TraceError(FallowError):
    """A file of harvested energy can't be used."""


class PluginError(FallowError):
    """A part of somebody's own failed, or broke its contract; the message has the place in its code."""


class PolicyError(PluginError):
    """A policy broke its contract with the world."""


class StateError(PolicyError):
    """The memory of a policy, or of an aggregation rule, can't be kept in a checkpoint."""


class EnergyError(PluginError):
    """An energy model broke its contract with the world."""


class PhysicsError(FallowError):
    """The energy books of a run do not balance: a bug in Fallow, never the user's fault."""


class DataError(FallowError):
    """A dataset is missing or can't be used."""


class DivergenceError(FallowError):
    """A training produced numbers that are not finite."""


class CheckpointError(FallowError):
    """A checkpoint can't be used."""


class TrackerError(FallowError):
    """A tracker could not record a run."""


class RunDirectoryError(FallowError):
    """A run directory can't be written or read."""


class HeldError(RunDirectoryError):
    """Another process writes to a directory, and holds its lock."""


class NodeError(FallowError):
    """A node of a federation can't do what it was asked."""
