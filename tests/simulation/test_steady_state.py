"""The figures worked by hand in docs/reading-the-paper.md, through the command line."""

from pathlib import Path

import pytest

from fallow.cli import app
from tests.cli.runner import invoke, read_epochs

SETTLED = 60  # epochs until every policy has settled; FedAvg and VAoI come round every 7 and 10
WINDOW = 70


def units_per_client_and_epoch(policy: str, directory: Path, *settings: str) -> float:
    given = (f"policy.name={policy}", "energy.p=1", f"epochs={SETTLED + WINDOW}", "output.events=false", *settings)
    invoke(app, "run", *(word for setting in given for word in ("--set", setting)), "--out", str(directory))
    rows = read_epochs(directory)[SETTLED:]
    return sum(row["consumed_train"] + row["consumed_tx"] for row in rows) / WINDOW / 100


@pytest.mark.parametrize(
    ("policy", "settings", "units"),
    [
        ("fedavg", [], 30),
        ("fedbacys", [], 16.8),
        ("fedbacys", ["policy.grouping=fixed"], 21),
        ("fedbacys", ["policy.turns=deadline"], 21),
        ("fedbacys-odd", [], 10.5),
        ("fedbacys-odd", ["policy.grouping=fixed"], 10.5),
        ("fedbacys-odd", ["policy.turns=deadline"], 10.5),
    ],
)
def test_units_per_client_and_epoch_in_plenty(policy: str, settings: list[str], units: float, tmp_path: Path) -> None:
    assert units_per_client_and_epoch(policy, tmp_path / "run", *settings) == units


def test_vaoi_uses_at_most_4_2_units_per_client_and_epoch_in_plenty(tmp_path: Path) -> None:
    units = units_per_client_and_epoch("vaoi", tmp_path / "run")
    assert 4.0 < units <= 4.2
