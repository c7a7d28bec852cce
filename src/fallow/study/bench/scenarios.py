"""The scenarios of the benchmark: named, versioned, frozen. A suite is a folder with a TOML file for each.

``suite.toml`` holds what the scenarios of a folder share, every other TOML file one scenario. The built-ins' results
stand beside them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.experiment.settings import read_settings
from fallow.plugins.wording import did_you_mean
from fallow.study.grid import merged

SUITES = Path(__file__).parent / "suites"
SHARED = "suite.toml"
KEYS = {"version": int, "words": str, "experiment": dict}


@dataclass(frozen=True)
class Scenario:
    """What entrants are compared on.

    Attributes:
        name: The name of its file.
        version: Goes up when a setting changes: results of different versions are never compared.
        words: What it is, in a sentence.
        settings: Of the experiment, by section, but for the policy's name and the seed.
    """

    name: str
    version: int
    words: str
    settings: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """A hash of the version and of every setting that is stated, in hexadecimal."""
        stated = json.dumps([self.version, self.settings], sort_keys=True, ensure_ascii=True)
        return sha256(stated.encode()).hexdigest()

    @property
    def experiment(self) -> Experiment:
        """The experiment, under a policy that has no options, and with the default seed."""
        return Experiment.parse({**self.settings, "policy": "fedavg"})


@dataclass(frozen=True)
class Suite:
    """Scenarios that are run together.

    Attributes:
        name: The name of its folder.
        words: What it is for, in a sentence.
        seeds: How many of each scenario, from 0.
        scenarios: In the order of their names.
        folder: Where they are.
    """

    name: str
    words: str
    seeds: int
    scenarios: tuple[Scenario, ...]
    folder: Path

    @property
    def given(self) -> str:
        """What a user gives to have it: its name, or its folder if it does not come with Fallow."""
        return self.name if self.folder.parent == SUITES else str(self.folder)


def list_suites() -> list[str]:
    """Returns the names of the suites that come with Fallow."""
    return sorted(path.parent.name for path in SUITES.glob(f"*/{SHARED}"))


def read_suite(suite: str | Path, only: Sequence[str] | None = None) -> Suite:
    """Returns a suite.

    Args:
        suite: The name of one that comes with Fallow, or a folder of your own with a ``suite.toml``.
        only: The names of some of its scenarios; None for all.

    Raises:
        ConfigError: There is no such suite or scenario, or a file of it is wrong.

    Examples:
        >>> quick = read_suite("quick")
        >>> quick.seeds, "skewed-scarce" in [scenario.name for scenario in quick.scenarios]
        (5, True)
    """
    folder = SUITES / suite if suite in list_suites() else Path(suite)
    if not (folder / SHARED).is_file():
        raise ConfigError(
            f"There is no suite '{suite}'{did_you_mean(str(suite), list_suites())} A suite of your own is a folder "
            f"with a {SHARED}."
        )
    shared = _read(folder / SHARED, KEYS | {"seeds": int})
    seeds = shared.get("seeds", 5)
    if seeds < 1:
        raise ConfigError(f"{folder / SHARED}: seeds = {seeds} must be at least 1.")
    files = sorted(path for path in folder.glob("*.toml") if path.name != SHARED)
    if not files:
        raise ConfigError(f"The suite {folder} has no scenario; each is a TOML file beside {SHARED}.")
    for name in only or ():
        if name not in (known := [path.stem for path in files]):
            raise ConfigError(f"The suite {suite} has no scenario '{name}'{did_you_mean(name, known)}")
    chosen = [path for path in files if only is None or path.stem in only]
    scenarios = tuple(_read_scenario(path, shared.get("experiment", {})) for path in chosen)
    return Suite(folder.resolve().name, shared.get("words", ""), seeds, scenarios, folder)


def _read_scenario(path: Path, shared: dict[str, Any]) -> Scenario:
    table = _read(path, KEYS)
    if table.get("version", 0) < 1:
        raise ConfigError(f"{path} must state its version, a whole number from 1.")
    scenario = Scenario(
        path.stem, table["version"], table.get("words", ""), merged(shared, table.get("experiment", {}))
    )
    try:
        experiment = scenario.experiment
    except ConfigError as error:
        raise ConfigError(f"The scenario {path}: {error}") from None
    if experiment.learning.mode != "train":
        raise ConfigError(f"The scenario {path} must learn; set learning.mode = 'train' in it.")
    return scenario


def _read(path: Path, keys: Mapping[str, type]) -> dict[str, Any]:
    table = read_settings(path)
    for key, value in table.items():
        if key not in keys:
            raise ConfigError(f"{path} has no setting '{key}'{did_you_mean(key, keys)}")
        if not isinstance(value, keys[key]):
            raise ConfigError(f"{path}: {key} = {value!r} must be of the type {keys[key].__name__}.")
    return table
