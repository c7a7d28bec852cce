"""One query to one node in a process of its own: its processor time and its peak memory, as JSON.

``flower.py`` starts it: ``python flower_node.py prime FOLDER`` first, and then one of the ways to ask.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from flwr.app import Message, MessageType

from fallow.experiment import Experiment
from fallow.flower import LocalGrid, experiment_client
from fallow.flower.wire.arrays import Named, version_of
from fallow.flower.wire.messages import Query
from fallow.flower.wire.records import to_records

NODE = 1000
WAYS = {
    "rests": "a query of the model it knows",
    "rests, all loaded": "the same, everything loaded first",
    "looks": "a query with a new model",
    "looks, warm": "the same, forked from a warm process",
}
"""What is asked, in words. 'Everything loaded first' is what every message cost before data and network were lazy."""


def setup() -> Experiment:
    return Experiment.parse(
        {"clients": 3, "policy": {"k": 1}, "data": {"partition": "iid"}, "learning": {"mode": "train"}}
    )


def ask(folder: Path, epoch: int, model: Named, *, sends: bool) -> None:
    """Asks client 1 how it stands."""
    query = Query("0" * 32, epoch, version_of(model), "features", ideal=False)
    grid = LocalGrid(experiment_client(setup(), directory=folder), {NODE: {"partition-id": 1}})
    message = Message(to_records(query, model if sends else None), NODE, MessageType.QUERY)
    reply = grid.deliver(message)
    assert reply is not None
    assert not reply.has_error(), reply.error.reason


def models(folder: Path) -> list[Named]:
    """Returns the first model and another one, from files."""
    return [dict(np.load(folder / f"{name}.npz")) for name in ("first", "other")]


def prime(folder: Path) -> None:
    """Writes two models, and asks the node for the first time."""
    from fallow.flower.experiment import _parts

    network = _parts(setup().to_toml()).network
    for name, change in (("first", 0.0), ("other", 0.01)):
        model = network.named_arrays(network.weights() + np.float32(change))
        np.savez(folder / f"{name}.npz", **model)
    ask(folder, 0, models(folder)[0], sends=True)


def load_all() -> None:
    from fallow.flower.experiment import _parts

    _parts(setup().to_toml()).task(1)


def peak_megabytes() -> float:
    """Returns the most memory that this process has held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def own_megabytes() -> float:
    """Returns the memory that this process shares with no other."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1024


def measure(way: str, folder: Path) -> dict[str, float]:
    """Returns the processor time and the memory of one query."""
    first, other = models(folder)
    if way == "looks, warm":
        from fallow.learning.forking import without_threads

        without_threads()
        load_all()
        reading, writing = os.pipe()
        if os.fork() == 0:
            before = time.process_time()
            ask(folder, 2, other, sends=True)
            found = {"seconds": time.process_time() - before, "megabytes": own_megabytes()}
            os.write(writing, json.dumps(found).encode())
            os._exit(0)
        os.wait()
        return {**json.loads(os.read(reading, 1000)), "stays": peak_megabytes()}
    if way == "rests, all loaded":
        load_all()
    ask(folder, 1, first if way.startswith("rests") else other, sends=way == "looks")
    return {"seconds": time.process_time(), "megabytes": peak_megabytes()}


if __name__ == "__main__":
    way, place = sys.argv[1], Path(sys.argv[2])
    if way == "prime":
        prime(place)
    else:
        print(json.dumps(measure(way, place)))
