"""A SuperNode that ends when its life does, so that whoever watches over it can start it again.

Flower's own stays: it gives up on any error that names 'ssl', 'tls' or a certificate, as one whose handshake took too
long, and its process goes on without a connection; or the thread of its heartbeats dies, and the SuperLink takes it for
gone while it still asks for messages. Here either ends the process.

python -m fallow.flower.deploy.supernode OPTIONS_OF_FLOWER_SUPERNODE
"""

import os
import sys
import threading
import traceback

LOST = 75
"""The exit code: a failure that may pass."""


def main() -> None:
    """Runs Flower's SuperNode with the options of the command line, and never returns."""
    from fallow.flower.internals import supernode_program

    threading.excepthook = _thread_died
    supernode_program()()
    _end("Flower has given up the connection to the SuperLink.")


def _thread_died(died: threading.ExceptHookArgs) -> None:
    traceback.print_exception(died.exc_value)
    _end("A thread that Flower can't do without has died.")


def _end(sentence: str) -> None:
    print(f"Fallow: {sentence} This SuperNode ends, so that it can be started again.", file=sys.stderr, flush=True)
    os._exit(LOST)  # Flower's other threads would keep the process


if __name__ == "__main__":
    main()
