from pathlib import Path

import pytest

from fallow.study.study import Study, load_study
from tests.study.written_runs import scores, write_run

VAOI = {"name": "vaoi", "mu": 0.5, "choice": "top-k", "reset": "selected"}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    for seed, (few, many, fedavg) in enumerate([(0.3, 0.5, 0.4), (0.4, 0.7, 0.5), (0.5, 0.9, 0.6)]):
        write_run(tmp_path / f"a{seed}", VAOI | {"k": 5}, seed, f1=scores(few), energy=100 + seed)
        write_run(tmp_path / f"b{seed}", VAOI | {"k": 10}, seed, f1=scores(many), energy=200)
        write_run(tmp_path / f"c{seed}", "fedavg", seed, f1=scores(fedavg), energy=400)
    return load_study(tmp_path)
