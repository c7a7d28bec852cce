"""A SuperNode ends when its life does, though Flower would keep its process."""

import subprocess
import sys

import pytest

from fallow.flower.deploy.supernode import LOST

PROGRAM = """
import sys, threading, time
from types import SimpleNamespace

def gives_up():
    threading.Thread(target=time.sleep, args=[1000]).start()  # as the thread of Flower's HTTP server

def loses_its_heartbeat():
    threading.Thread(target=lambda: 1 / 0).start()
    time.sleep(1000)

def is_told_to_stop():
    threading.Thread(target=time.sleep, args=[1000], daemon=True).start()
    raise SystemExit(3)

# In place of Flower, which takes seconds to load.
sys.modules["fallow.flower.internals"] = SimpleNamespace(supernode_program=lambda: globals()[sys.argv[1]])
from fallow.flower.deploy import supernode
supernode.main()
"""


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("gives_up", LOST, "Flower has given up the connection to the SuperLink."),
        ("loses_its_heartbeat", LOST, "A thread that Flower can't do without has died."),
        ("is_told_to_stop", 3, ""),
    ],
)
def test_a_supernode_without_a_life_is_no_process(what: str, code: int, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, what], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert words in done.stderr
