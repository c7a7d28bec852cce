"""A real SuperLink and three real SuperNodes, with TLS and node authentication, and what befalls them."""

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.experiment import Experiment
from fallow.flower.deploy.keys import make_keys
from fallow.flower.deploy.programs import free_port
from fallow.flower.deploy.scaffold import TEMPLATE
from fallow.simulation.engine import Engine
from tests.flower.superlink import CABLED, DEADLINE, RealFederation, documented, marked, rounds, weights

NEW_APP = Experiment.read(TEMPLATE / "app" / "experiment.toml")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealFederation]:
    """Follows docs/flower.md: a new app, its simulation, and then its keys, its SuperLink and its nodes."""
    real = RealFederation(tmp_path_factory.mktemp("federation"))
    try:
        simulate(real)
        real.open()
        yield real
    finally:
        real.close()


def simulate(federation: RealFederation) -> None:
    run = federation.flwr(documented("flwr run . --stream").removeprefix("flwr ").replace("--stream", ""))["run-id"]
    experiment = Experiment.read(federation.package / "experiment.toml")
    federation.finish(run, experiment, federation.home / "federation", "local")
    federation.give(documented("kill $(pgrep"))
    federation.wait(lambda: not marked(federation.mark, "flower-superlink"), "the end of the local SuperLink")


def small(federation: RealFederation, epochs: int, **sections: Any) -> Experiment:
    settings: dict[str, Any] = {
        "clients": federation.nodes,
        "epochs": epochs,
        "slots_per_epoch": 8,
        "energy": {"p": 0.8},
        "battery": {"capacity": 10, "initial": 6},
        "cost": {"train": 4},
        "data": {"samples_per_client": 12},
        "learning": {"mode": "train", "eval_every": 2},
        "compute": {"strategy": "spread", "workers": 1},
        "policy": {"name": "vaoi", "k": 2},
    }
    return Experiment.parse(settings | sections)


def assert_as_simulated(experiment: Experiment, directory: Path) -> None:
    engine = Engine(experiment, workers=1)
    records = list(engine)
    assert sum(record.uploads for record in records) > sum(record.stale_uploads for record in records) > 0
    for row, record in zip(rounds(directory), records, strict=True):
        told = [int(row[name]) for name in ("round", "answered", "selected", "trained", "updates", "late", "silent")]
        assert told == [
            record.epoch + 1,
            experiment.clients,
            *(record.selected, record.starts, record.uploads, record.stale_uploads, 0),
        ]
        assert float(row["mean_age"]) == pytest.approx(record.mean_age_delivered)
    assert engine.learner is not None
    np.testing.assert_allclose(weights(directory), engine.learner.weights, rtol=0, atol=1e-6)


def test_a_new_app_runs_in_simulation(federation: RealFederation) -> None:
    found = rounds(federation.home / "federation")
    assert [int(row["round"]) for row in found] == list(range(1, NEW_APP.epochs + 1))
    assert [int(row["updates"]) for row in found] == [record.uploads for record in Engine(NEW_APP, workers=1)]
    assert not (federation.logs.parent / ".flwr").exists()


def test_what_is_written_is_the_owner_s_alone(federation: RealFederation) -> None:
    secrets = [federation.home / ".flwr" / "superlink.db", federation.home / "federation" / "federation.fallow"]
    secrets += (federation.home / "nodes").rglob("memory.fallow")
    assert len(secrets) > 10  # the simulated nodes remember, too
    assert {path.stat().st_mode & 0o777 for path in secrets} == {0o600}


def test_real_nodes_choose_and_learn_as_the_simulator_does(federation: RealFederation) -> None:
    directory, experiment = federation.home / "federation-loopback", small(federation, epochs=2)
    federation.finish(federation.begin(experiment, directory), experiment, directory)
    assert_as_simulated(experiment, directory)


def test_a_federation_whose_superlink_is_killed_ends_as_if_nothing_had_been(federation: RealFederation) -> None:
    """It goes on with the federation of the test before, if that was run."""
    directory, experiment = federation.home / "federation-loopback", small(federation, epochs=3)
    federation.hold(*range(federation.nodes))
    federation.begin(experiment, directory)
    federation.wait(lambda: any(map(federation.is_training, range(federation.nodes))), "a training")
    before = len(rounds(directory))
    federation.kill_link()
    federation.release()
    assert len(rounds(directory)) == before < experiment.epochs
    federation.wait_for_link(2)
    federation.finish(federation.begin(experiment, directory), experiment, directory)
    assert_as_simulated(experiment, directory)


def test_a_round_goes_on_without_a_node_that_is_cut_off_and_the_node_comes_back(federation: RealFederation) -> None:
    """Flower gives up on an error of TLS, and its process stays: unwatched, the node would be offline for good."""
    directory = federation.home / "fedavg"
    experiment = small(federation, epochs=2, policy={"name": "fedavg"}, cost={"train": 3})
    undisturbed = [record.uploads for record in Engine(experiment, workers=1)]
    assert undisturbed == [6, 6]
    federation.hold(CABLED)
    run = federation.begin(experiment, directory)
    federation.wait(lambda: federation.is_training(CABLED), "the training of the node")
    federation.cable.cut()
    federation.release()
    log = federation.logs / f"node-{CABLED}.log"
    federation.wait(lambda: "Flower has given up the connection" in log.read_text(), "the end of the SuperNode")
    federation.cable.mend()
    federation.finish(run, experiment, directory)
    first, second = rounds(directory)
    assert [first[name] for name in ("answered", "orders", "silent", "updates", "late")] == ["3", "3", "1", "4", "0"]
    # What it did while it was cut off, it has kept, and delivered late.
    assert [second[name] for name in ("answered", "orders", "silent", "updates", "late")] == ["3", "3", "0", "8", "2"]
    federation.wait(lambda: federation.answered_warm() > 0, "a message that the warm process answered")


def test_an_unregistered_key_is_refused(federation: RealFederation, tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=1)
    before = federation.online()
    assert len(before) == federation.nodes
    words = refused(federation, f"--root-certificates keys/ca.crt --auth-supernode-private-key '{tmp_path}/node-00'")
    assert "Failed to activate SuperNode" in words
    assert federation.online() == before


def test_a_node_without_a_key_is_refused(federation: RealFederation) -> None:
    assert "All SuperNodes must be registered" in refused(federation, "--root-certificates keys/ca.crt")


def test_nobody_is_let_in_without_tls(federation: RealFederation) -> None:
    words = refused(federation, "--insecure --max-retries 1")
    assert "Failed to initialize the connection to the SuperLink" in words
    trusting = ssl.create_default_context(cafile=str(federation.home / "keys" / "ca.crt"))
    with urllib.request.urlopen(f"https://localhost:{federation.port}/health", context=trusting) as answer:
        assert answer.status == 200
    with pytest.raises((OSError, urllib.error.URLError)):
        urllib.request.urlopen(f"http://localhost:{federation.port}/health", timeout=DEADLINE)
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(f"https://localhost:{federation.port}/health", timeout=DEADLINE)


def refused(federation: RealFederation, options: str) -> str:
    """Runs a SuperNode to its end, and returns its last words; one that is let in never ends."""
    log = federation.logs / "stranger.log"
    log.unlink(missing_ok=True)
    command = f"flower-supernode --superlink 127.0.0.1:{federation.port} --port {free_port()} {options}"
    assert federation.start(command, log.stem).wait(DEADLINE) != 0
    return log.read_text()
