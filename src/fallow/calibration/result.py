"""What a calibration came to."""

import html
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from fallow.calibration.figures import Costs, Figure, in_digits
from fallow.calibration.profile import write_profile

Row = tuple[str, str, str, str]
"""What, the figure, its spread, its origin."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """What federated learning with a model costs on a machine.

    Attributes:
        name: Of the device profile.
        machine: Where it was measured.
        model: The model's name, with the options that are not its defaults.
        input_shape: The shape of one input, without a batch.
        samples: |D_i|, the samples of one training.
        steps: κ, the most batches of one training.
        batch: The samples of one batch, ⌈|D_i|/κ⌉.
        eval_samples: The samples of one evaluation.
        threads: The threads that computed. A training and a probe are one thread's work, as on a node.
        parameters: The numbers that are trained.
        statistics: The running statistics that travel with them.
        update_bytes: What an update carries.
        seconds: Of each kind of work.
        joules: Of each kind of work, without `idle_watts`, if those are known; None if there is no meter and no watts.
        joules_in_all: Of each kind of work, with what the machine takes anyway.
        idle_watts: What the machine takes without work; None if it is not known.
        notes: What a reader must know, a sentence each.
    """

    name: str
    machine: str
    model: str
    input_shape: tuple[int, ...]
    samples: int
    steps: int
    batch: int
    eval_samples: int
    threads: int
    parameters: int
    statistics: int
    update_bytes: Figure
    seconds: Costs
    joules: Costs | None
    joules_in_all: Costs | None
    idle_watts: Figure | None
    notes: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        """Returns the figures for people: what, the figure, the middle half of the measurements, the origin."""
        return [(words, _shown(figure), _spread(figure), figure.origin) for words, figure in self._figures()]

    def document(self) -> dict[str, Any]:
        """Returns everything as plain data, for JSON; figures that are not known are None."""
        about = {
            key: value
            for key, value in vars(self).items()
            if not isinstance(value, Figure | Costs | tuple) and value is not None
        }
        return about | {
            "input_shape": list(self.input_shape),
            "update_bytes": _plain(self.update_bytes),
            "idle_watts": _plain(self.idle_watts),
            "seconds": _plain_costs(self.seconds),
            "joules": _plain_costs(self.joules),
            "joules_in_all": _plain_costs(self.joules_in_all),
            "notes": list(self.notes),
        }

    def profile(self) -> dict[str, Any]:
        """Returns the device profile: a name, and figures with their origins; under `calibration` the rest."""
        joules, in_all = self.joules, self.joules_in_all
        figures = {
            "train_joules": joules.training if joules else None,
            "train_seconds": self.seconds.training,
            "probe_joules": joules.probe if joules else None,
            "probe_seconds": self.seconds.probe,
            "update_bytes": self.update_bytes,
            "idle_watts": self.idle_watts,
        }
        further = {
            "step_joules": joules.step if joules else None,
            "step_seconds": self.seconds.step,
            "evaluation_joules": joules.evaluation if joules else None,
            "evaluation_seconds": self.seconds.evaluation,
            "train_joules_in_all": in_all.training if in_all else None,
            "probe_joules_in_all": in_all.probe if in_all else None,
        }
        about = ("machine", "model", "input_shape", "samples", "steps", "batch", "eval_samples", "threads")
        return (
            {"name": self.name}
            | self._with_origins(figures)
            | {
                "calibration": {key: vars(self)[key] for key in (*about, "parameters", "statistics")}
                | self._with_origins(further)
                | ({"notes": self.notes} if self.notes else {})
            }
        )

    def to_toml(self) -> str:
        """Returns the device profile in TOML."""
        return tomli_w.dumps(self.profile())

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Writes the device profile in one step and returns its path.

        Args:
            path: The file; its folder must exist.
            overwrite: Whether a file that is there may be replaced.

        Raises:
            ConfigError: The file is there, or can't be written.
        """
        return write_profile(Path(path), self.to_toml(), overwrite=overwrite)

    def _figures(self) -> Iterator[tuple[str, Figure]]:
        works = {
            "step": f"one step ({self.batch:,} samples)",
            "training": f"one training ({self.samples:,} samples, κ = {self.steps:,})",
            "probe": f"one probe ({self.batch:,} samples)",
            "evaluation": f"one evaluation ({self.eval_samples:,} samples)",
        }
        for work, words in works.items():
            yield words, vars(self.seconds)[work]
            if self.joules is not None:
                yield "  above idle" if self.idle_watts else "  energy", vars(self.joules)[work]
            if self.joules_in_all is not None and self.idle_watts:
                yield "  in all", vars(self.joules_in_all)[work]
        yield "an update", self.update_bytes
        if self.idle_watts is not None:
            yield "idle power", self.idle_watts

    def _with_origins(self, figures: dict[str, Figure | None]) -> dict[str, Any]:
        """Returns each figure that is known, and its origin beside it."""
        table: dict[str, Any] = {}
        for key, figure in figures.items():
            if figure is None:
                continue
            value = int(figure.value) if figure.unit == "bytes" else float(f"{figure.value:.6g}")
            origin = figure.origin
            if figure.kind == "measured":
                origin = f"measured on {self.machine}: {figure.how}, middle half {_spread(figure)} {figure.unit}"
            table |= {key: value, f"{key}_origin": origin}
        return table

    def __repr__(self) -> str:
        energy = "" if self.joules is None else f" and {_shown(self.joules.training)}"
        return (
            f"Calibration of {self.model}: a training takes {_shown(self.seconds.training)}{energy}, an update "
            f"{_shown(self.update_bytes)}"
        )

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        lines = [
            f"{what:<{widths[0]}}  {figure:>{widths[1]}}  {spread:<{widths[2]}}  {origin}"
            for what, figure, spread, origin in rows
        ]
        return "\n".join([f"{self.model} on {self.machine}, threads: {self.threads}", *lines, *self.notes])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        return f"<table>{rows}</table>" + "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)


def _shown(figure: Figure) -> str:
    return f"{in_digits(figure.value)} {figure.unit}"


def _spread(figure: Figure) -> str:
    return "" if figure.low is None or figure.high is None else f"{in_digits(figure.low)} – {in_digits(figure.high)}"


def _plain(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return vars(figure) | {"origin": figure.origin}


def _plain_costs(costs: Costs | None) -> dict[str, Any] | None:
    return None if costs is None else {work: _plain(figure) for work, figure in vars(costs).items()}
