"""The harvest of a run, had again from its settings: what a report runs and reads for it, and what it does not.

A run directory is data, perhaps a stranger's. So a report runs no code that a config names, and reads no file that a
config names, but one of the same name that its reader has given.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from fallow.energy import ENERGY_MODELS, EnergyModel, Harvest, Scale, prepare_harvest
from fallow.energy.devices.harvests import harvest_of_classes
from fallow.energy.typical_year import PVLIB_YEARS
from fallow.errors import ConfigError, FallowError
from fallow.plugins.nested import nested, plain
from fallow.plugins.options import option_names, with_options
from fallow.reports.runs import ReportedRun

FILE_OPTION: dict[str, str | None] = {
    "bernoulli": None,
    "poisson": None,
    "markov": None,
    "mix": None,
    "trace": "path",
    "watts": "path",
    "solar": "year",
    "daylight": None,
}
"""The models that a report computes again, each with the option that names a file; None: it reads none.

A model that is not here names code (`signal`), or nobody has looked yet at what it reads.
"""

Files = Mapping[str, Path]
"""The files that the reader of a report has given, by name."""


def given_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Returns files by name.

    Args:
        paths: Of files that a harvest may be read from.

    Raises:
        ConfigError: One is not there, or two have the same name.

    Examples:
        >>> given_files([Path(__file__)]) == {"harvests.py": Path(__file__)}
        True
    """
    files: dict[str, Path] = {}
    for path in paths:
        if not path.is_file():
            raise ConfigError(f"{path} is no file; give the one that a harvest was read from (--harvest).")
        if path.name in files:
            raise ConfigError(f"{files[path.name]} and {path} have one name, which the report goes by; rename one.")
        files[path.name] = path
    return files


def build_harvest(run: ReportedRun, files: Files) -> Harvest:
    """Returns the harvest of a run, as its engine had it.

    Args:
        run: Its settings.
        files: What the reader has given.

    Raises:
        FallowError: The harvest is somebody's own code, or reads a file that was not given.
    """
    table = nested(run.settings)

    def prepare(place: int | None, seed: int, clients: int) -> Harvest:
        energy = table["energy"] if place is None else table["device"][place]["energy"]
        return prepare_harvest(
            _build_model(energy, files),
            seed=seed,
            clients=clients,
            slots_per_epoch=table["slots_per_epoch"],
            scale=scale_of(run),
            correlation=float(energy.get("correlation", 0.0)),
            mean=float(energy.get("mean", 0.0)),
        )

    return harvest_of_classes(table, prepare)


def scale_of(run: ReportedRun) -> Scale:
    """Returns the length of a slot and the energy of a unit, each 0 where the run does not state it."""
    return Scale(float(run.settings.get("slot_seconds", 0.0)), float(run.settings.get("unit_joules", 0.0)))


def _build_model(energy: Mapping[str, Any], files: Files) -> EnergyModel:
    name, table = energy["model"], _cleared(energy, files)
    cls = ENERGY_MODELS[name]
    given = {key: plain(table[key]) for key in option_names(cls) & table.keys()}
    model: EnergyModel = with_options(f"The energy model '{name}'", cls, given, "energy")
    return model


def _cleared(energy: Mapping[str, Any], files: Files) -> dict[str, Any]:
    """Returns a table of an energy model that names no code, and of files only those that the reader gave."""
    name, table = energy["model"], dict(energy)
    if name not in ENERGY_MODELS or name not in FILE_OPTION:
        raise FallowError(f"The harvest of '{name}' is not one that a report computes again, so batteries are unknown.")
    option = FILE_OPTION[name]
    if option is not None and table.get(option) and table[option] not in PVLIB_YEARS:
        table[option] = str(_given(str(table[option]), files))
    if name == "mix":
        table["sources"] = [_cleared(source, files) for source in table["sources"]]
    return table


def _given(named: str, files: Files) -> Path:
    """Returns the file that the reader gave under the name of one that a config names."""
    name = PurePosixPath(PureWindowsPath(named).as_posix()).name  # a run of any system
    if name not in files:
        raise FallowError(
            f"The harvest was read from '{name}', and a report reads no file that a run names; give the file with "
            "--harvest (in Python harvest=[…]) to see batteries."
        )
    return files[name]
