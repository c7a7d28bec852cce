"""What a checkpoint of a run says beside the state of its engine."""

from dataclasses import dataclass

from fallow.runs.origins import Origin
from fallow.runs.summary import Totals
from fallow.storage.checksums import Stamp


@dataclass(frozen=True)
class RunNotes:
    """What a checkpoint says beside the state of the run: its totals, and all that it builds on.

    Attributes:
        config: The SHA-256 of config.toml.
        tables: What each CSV file holds, by its name.
        parts: The SHA-256 of each part of the other tables, by its folder and its name.
        origins: What the parts of the run were made with.
        totals: Sums over the epochs so far.
    """

    config: str
    tables: dict[str, Stamp]
    parts: dict[str, dict[str, str]]
    origins: tuple[Origin, ...]
    totals: Totals
