"""Sizes that no memory holds are refused before anything is made; the machine of these tests is made small."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fallow import memory
from fallow.data import Sensors, Synthetic, load_dataset
from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment
from fallow.models import MLP, PaperCNN, ResNet18GN
from fallow.models.build import check_size


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of one megabyte."""
    monkeypatch.setattr(memory, "machine_bytes", lambda: 10**6)


def test_a_machine_has_some_memory_and_a_container_may_have_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = memory.machine_bytes()
    assert whole is not None
    assert whole > 10**8
    (tmp_path / "limit").write_text("5000000\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (tmp_path / "nowhere", tmp_path / "none", tmp_path / "limit"))
    assert memory.machine_bytes() == 5_000_000


@pytest.mark.usefixtures("small_machine")
def test_a_size_is_said_in_units_that_people_read() -> None:
    for size, words in ((2 * 10**6, "2 MB"), (3 * 10**9, "3 GB"), (4 * 10**12, "4 TB"), (10**40, "10^28 TB")):
        with pytest.raises(
            ConfigError, match="^It takes " + words.replace("^", r"\^") + " of memory, and this machine has 1 MB; go"
        ):
            memory.check_memory(size, "It", "go")
    memory.check_memory(10**6, "It", "go")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        # 8 × 8 pixels × 4 bytes × 5,000 images, and 2 styles × 4 waves × 2 classes × 64 pixels × 24 bytes
        (
            lambda: Synthetic(samples=4_990, test_samples=10, classes=2, height=8, width=8).load(0),
            "of 4990 + 10 images with 64 numbers each, in 2 classes, takes 1.3 MB of memory",
        ),
        # 3 axes × 16 points × 32 bytes × 1,000 signals
        (lambda: Sensors(samples=990, test_samples=10, length=16, clients=2).load(0), "takes 1.54 MB of memory"),
        # 4 copies × 4 bytes × (10 × 10,000 + 10,000 + 10,000 × 2 + 2)
        (lambda: check_size(MLP(hidden=(10_000,)), (10,), 2), "(hidden=(10000,)) of 130002 parameters takes 2.08 MB"),
        (lambda: check_size(MLP(hidden=(2**62, 2**62)), (10,), 2), "is larger than any memory; lower its width"),
        (lambda: check_size(PaperCNN(width=1e30), (3, 32, 32), 10), "is larger than any memory"),
        (lambda: check_size(ResNet18GN(width=1.0), (3, 32, 32), 10), "takes 179 MB of memory"),
        (lambda: Experiment(clients=20_000), "clients = 20000 takes 2 MB of memory, and this machine has 1 MB; lower"),
    ],
    ids=["synthetic", "sensors", "mlp", "beyond 64 bits", "width", "resnet", "clients"],
)
@pytest.mark.usefixtures("small_machine")
def test_what_does_not_fit_is_refused_before_it_is_made(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert words in str(caught.value)


@pytest.mark.usefixtures("small_machine")
def test_an_archive_that_unpacks_to_more_than_the_memory_is_refused(tmp_path: Path) -> None:
    x = np.zeros((400, 1, 32, 32), dtype=np.float32)  # 1.6 MB of zeros, packed in a few kilobytes
    y = np.zeros(400, dtype=np.int64)
    np.savez_compressed(tmp_path / "bomb.npz", x=x, y=y, x_test=x[:1], y_test=y[:1])
    assert (tmp_path / "bomb.npz").stat().st_size < 10_000
    with pytest.raises(FallowError, match=r"bomb\.npz takes 1\.65 MB of memory, and this machine has 1 MB"):
        load_dataset(f"npz:{tmp_path}/bomb.npz", seed=0)


FAULTS = """
import ctypes, resource, sys
from fallow.memory import reuse_freed
if sys.argv[1] == "reused":
    reuse_freed()
C = ctypes.CDLL(None)
C.malloc.restype, C.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
C.memset.argtypes, C.free.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t], [ctypes.c_void_p]
def step():
    blocks = [C.malloc(20 << 20) for _ in range(3)]
    for block in blocks:
        C.memset(block, 1, 20 << 20)
    for block in reversed(blocks):
        C.free(block)
step()
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="another C library than glibc")
def test_memory_that_a_step_freed_serves_the_next_one() -> None:
    def pages(how: str) -> int:
        command = [sys.executable, "-c", FAULTS, how]
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
        return int(subprocess.run(command, capture_output=True, text=True, check=True, env=settings).stdout)

    assert pages("plain") > 100, "glibc gave nothing back by itself, so this shows nothing"
    assert pages("reused") < 50
