"""A node that is only asked: what it loads, what it builds, and what it remembers so that it need not."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fallow.flower import Emulated
from fallow.flower.experiment import _parts
from fallow.flower.node.client_task import ClientTask
from fallow.flower.node.memory import SIGHT, directory_of, load_sight
from fallow.flower.node.node import Node
from fallow.flower.wire.arrays import version_of
from fallow.flower.wire.messages import Order, Query
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint
from tests.flower.federations import small
from tests.flower.resting import app_of_experiment, app_with_a_meter, ask

ROOT = Path(__file__).parents[2]
FEDERATION = "0123456789abcdef" * 2
EXPERIMENT = small(energy={"p": 1.0}, battery={"initial": 10}, starts_per_epoch=1)
HEAVY = {"torch", "sklearn", "scipy", "pyarrow", "pandas", "matplotlib", "fallow.learning.network"}


def query(epoch: int = 0, distance: str = "none", version: str = "0" * 32) -> Query:
    return Query(FEDERATION, epoch, version, distance, ideal=False)


def test_a_query_without_a_forward_pass_loads_neither_pytorch_nor_what_reads_data(tmp_path: Path) -> None:
    toml = EXPERIMENT.to_toml()
    plain, metered, probing = (tmp_path / name for name in ("plain", "metered", "probing"))
    metered.mkdir()
    (metered / "level").write_text("80")
    # What the nodes know already: their data from the first query of the run, and the model from a training.
    before = [ask(app_of_experiment(toml, plain), query()), ask(app_with_a_meter(metered), query())]
    node = Node("client-000001", _parts(toml).task(1), Emulated.of(EXPERIMENT, 1), probing)
    model = node.task.layout
    asked = query(0, "features", version_of(model))
    node.answer(asked, model)
    node.obey(Order(FEDERATION, 0, asked.version, False, "features", selected=True, received=-1))
    distance = node.answer(replace(asked, epoch=1)).distance

    questions = [
        ("experiment", str(plain), vars(query(1))),
        ("own", str(metered), vars(query(1))),
        ("experiment", str(probing), vars(replace(asked, epoch=1))),
    ]
    command = [sys.executable, "-m", "tests.flower.resting", json.dumps([toml, questions])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers, modules = json.loads(done.stdout)
    assert HEAVY & set(modules) == set()
    assert [answer["data_size"] for answer in answers] == [12, 5, 12]
    assert [answer["data_size"] for answer in before] == [12, 5]
    assert answers[2]["distance"] == distance
    assert np.isfinite(distance)


class Shop:
    """Makes tasks, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> ClientTask:
        self.made += 1
        return _parts(EXPERIMENT.to_toml()).task(1)


def resting(root: Path, run: int = 1) -> tuple[Node, Shop]:
    shop = Shop()
    return Node("me", shop, Emulated.of(EXPERIMENT, 1), root, run=run, share_labels=True), shop


def test_a_node_looks_at_its_data_once_a_run(tmp_path: Path) -> None:
    made = []
    for run, epoch in ((1, 0), (1, 1), (2, 2), (2, 3)):
        node, shop = resting(tmp_path, run)
        node.answer(query(epoch))
        made.append(shop.made)
    assert made == [1, 0, 1, 0]


def test_the_mix_of_labels_is_remembered(tmp_path: Path) -> None:
    asked = replace(query(), asks=["label_mix"])
    first = resting(tmp_path)[0].answer(asked)
    node, shop = resting(tmp_path)
    second = node.answer(replace(asked, epoch=1))
    assert shop.made == 0
    assert second.label_mix == first.label_mix
    assert sum(first.label_mix) == pytest.approx(1.0)


def test_a_node_that_trains_notices_that_its_data_grew(tmp_path: Path) -> None:
    node, _ = resting(tmp_path)
    model = node.task.layout
    version = version_of(model)
    assert node.answer(query(0, version=version), model).data_size == 12

    def grown() -> ClientTask:
        task = _parts(EXPERIMENT.to_toml()).task(1)
        return replace(task, shard=np.concatenate([task.shard, task.shard[:1]]))

    richer = Node("me", grown, Emulated.of(EXPERIMENT, 1), tmp_path, run=1)
    assert richer.answer(query(0, version=version)).data_size == 12  # nobody looked
    order = Order(FEDERATION, 0, version, False, "none", selected=True, received=-1)
    assert Node("me", grown, Emulated.of(EXPERIMENT, 1), tmp_path, run=1).obey(order)[0].trained == 1
    after = Node("me", grown, Emulated.of(EXPERIMENT, 1), tmp_path, run=1).answer(query(1, version=version))
    assert after.data_size == 13


def test_an_order_that_brings_no_training_builds_nothing(tmp_path: Path) -> None:
    node, _ = resting(tmp_path)
    model = node.task.layout
    version = version_of(model)
    node.answer(query(0, version=version), model)
    node.obey(Order(FEDERATION, 0, version, False, "none", selected=True, received=-1))
    again, shop = resting(tmp_path)
    outcome, (update,) = again.obey(Order(FEDERATION, 1, version, False, "none", selected=False, received=-1))
    assert (outcome.slots, shop.made) == ([0], 0)
    assert {name: array.shape for name, array in update.items()} == {name: one.shape for name, one in model.items()}


def test_a_sight_of_an_older_version_is_seen_anew(tmp_path: Path) -> None:
    node, _ = resting(tmp_path)
    node.answer(query())
    path = directory_of(tmp_path, FEDERATION, "me") / SIGHT
    arrays, notes = read_checkpoint(path)
    del notes["facts"]
    write_checkpoint(path, arrays, notes)
    assert load_sight(path.parent).facts is None
    node, shop = resting(tmp_path)
    assert node.answer(query(1)).data_size == 12
    assert shop.made == 1
