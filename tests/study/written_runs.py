"""Run directories with numbers that a test can work out by hand."""

import csv
import json
from pathlib import Path
from typing import Any

import tomli_w

from fallow.runs.reader import COLUMNS, TOTALS


def write_run(
    directory: Path,
    policy: dict[str, Any] | str,
    seed: int,
    *,
    f1: list[float | None] | None = None,
    energy: int = 100,
    finished: bool = True,
    settings: dict[str, Any] | None = None,
    summary: dict[str, Any] | None = None,
) -> Path:
    """Writes a run of ten epochs, an equal share of the energy in each."""
    directory.mkdir(parents=True)
    chosen = {"name": policy} if isinstance(policy, str) else policy
    config = {"seed": seed, "clients": 4, "epochs": 10, "slots_per_epoch": 5, "policy": chosen} | (settings or {})
    (directory / "config.toml").write_text(tomli_w.dumps(config), encoding="utf-8")
    scores = f1 or [None] * 10
    with (directory / "epochs.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*COLUMNS, "mean_age_delivered", "f1"], restval="1")
        table.writeheader()
        for epoch, score in enumerate(scores):
            spent = energy * (epoch + 1) // 10
            table.writerow({"epoch": epoch, "energy_total": spent, "f1": "" if score is None else score})
    if finished:
        learnt = {"f1": scores[-1]} if f1 else {}
        totals = dict.fromkeys(TOTALS, 7) | {"energy_total": energy, "mean_age_delivered": 2.5}
        document = {"policy": chosen["name"], "seed": seed, "clients": 4, "epochs": 10} | totals | learnt
        (directory / "summary.json").write_text(json.dumps(document | (summary or {})), encoding="utf-8")
    return directory


def scores(last: float) -> list[float | None]:
    """Evaluations at epochs 4, 8 and 9, the last two of which are in the last fifth."""
    return [None] * 4 + [0.1] + [None] * 3 + [last - 0.1, last + 0.1]
