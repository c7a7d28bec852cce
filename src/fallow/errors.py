"""The errors that users meet."""


class FallowError(Exception):
    """An error whose message is one clear sentence for the user; the command line shows it without a traceback."""


class ConfigError(FallowError):
    """The experiment can't be run as it is written."""


class TraceError(FallowError):
    """A file of harvested energy can't be used."""


class PolicyError(FallowError):
    """A policy broke its contract with the world."""


class EnergyError(FallowError):
    """An energy model broke its contract with the world."""


class PhysicsError(FallowError):
    """The energy books of a run do not balance: a bug in Fallow, never the user's fault."""


class RunDirectoryError(FallowError):
    """A run directory can't be written or read."""
