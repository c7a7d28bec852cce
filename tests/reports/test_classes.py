from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fallow.errors import RunDirectoryError
from fallow.reports.classes import read_classes, read_outage
from fallow.reports.contents import gather
from fallow.reports.runs import ReportedRun, read_runs
from tests.reports.made_runs import live, make_up

TABLE = """epoch,device,clients,capacity,stored,harvested,consumed,overflow,starts,uploads,short,asleep
0,"node, small",2,20,5,9,4,0,0,0,2,0
0,board,1,100,50,9,4,0,0,0,0,0
1,"node, small",2,20,20,9,4,0,0,0,1,6
1,board,1,100,0,9,4,0,0,0,0,0
"""


def read(directory: Path) -> ReportedRun:
    return read_runs([directory])[0][0]


def test_charge_outage_and_sleep_of_each_class(tmp_path: Path) -> None:
    directory = live(tmp_path / "run", clients=3, policy__k=1, epochs=2, slots_per_epoch=12)
    (directory / "devices.csv").write_text(TABLE, encoding="utf-8")
    node, board = read_classes(read(directory))
    assert (node.name, node.clients, board.name, board.clients) == ("node, small", 2, "board", 1)
    assert node.charge.tolist() == [0.25, 1.0]
    assert board.charge.tolist() == [0.5, 0.0]
    assert node.outage == 0.75  # three of four client-epochs
    assert node.asleep == 0.125  # 6 of 48 client-slots
    assert (board.outage, board.asleep) == (0.0, 0.0)
    shown = gather(*read_runs([directory]))["runs"][0]["classes"]
    assert shown["epoch"] == [0, 1]
    assert [device["charge"] for device in shown["devices"]] == [[0.25, 1], [0.5, 0]]


def test_a_table_without_sleep_and_a_run_without_classes(tmp_path: Path) -> None:
    directory = live(tmp_path / "run", clients=3, policy__k=1, epochs=2)
    assert read_classes(read(directory)) == []
    assert gather(*read_runs([directory]))["runs"][0]["classes"] is None
    rows = [line.rsplit(",", 1)[0] for line in TABLE.splitlines()]
    (directory / "devices.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert [one.asleep for one in read_classes(read(directory))] == [None, None]


def test_a_table_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    directory = live(tmp_path / "run", epochs=2)
    for text in ("epoch,device\n0,board\n", TABLE.replace("20,5", "20,much")):
        (directory / "devices.csv").write_text(text, encoding="utf-8")
        with pytest.raises(RunDirectoryError, match=r"devices\.csv can't be read"):
            read_classes(read(directory))


def test_outage_is_ranked_from_the_worst(tmp_path: Path) -> None:
    directory = make_up(tmp_path / "run", epochs=5)
    assert read_outage(read(directory)) is None
    pq.write_table(pa.table({"client": [0, 1, 2], "outage": [0.2, 0.8, 0.4]}), directory / "clients.parquet")
    outage = read_outage(read(directory))
    assert outage is not None
    assert np.array_equal(outage, [0.2, 0.8, 0.4])
    (run,) = gather(*read_runs([directory]))["runs"]
    assert run["outage"] == {"rank": [1, 2, 3], "share": [0.8, 0.4, 0.2]}
