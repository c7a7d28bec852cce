"""A pool of processes that carry out the runs of a sweep; one that dies takes only its own run down."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

from fallow.errors import FallowError
from fallow.experiment import Experiment
from fallow.plugins.wording import in_words
from fallow.runs.execute import begin_or_resume
from fallow.runs.progress import tell
from fallow.runs.stopping import stop_between_epochs
from fallow.simulation.records import EpochRecord
from fallow.sweeps.grid import PlannedRun

REPORT_SECONDS = 0.2
"""How often a worker says how far it is."""

TRIES = 3
"""How often a run is begun whose worker died without a word, before it is given up."""


@dataclass(frozen=True)
class RunProgress:
    """What a worker says of its run.

    Attributes:
        run: Which.
        epochs: How many are done.
        finished: Whether it has come to its end.
        failure: Why it failed, if it did.
    """

    run: PlannedRun
    epochs: int
    finished: bool = False
    failure: str | None = None


def carry_out(
    experiment: Experiment, directory: Path, on_epoch: Callable[[int], None], workers: int | None = 1
) -> None:
    """Begins a run, or goes on with it, and writes its epochs.

    Args:
        experiment: What to run.
        directory: Where to.
        on_epoch: Told the number of epochs done before the last of them is written: it can still stop a run that is no
            longer this process's own.
        workers: Threads; one where the processes of a sweep share the processors, None for those of the experiment.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; what is whole by then is in the checkpoint.
    """
    on_epoch(0)
    with begin_or_resume(experiment, directory, workers=workers) as run, stop_between_epochs() as stop:
        if run is None:  # a worker finished it, and died before it could say so
            on_epoch(experiment.epochs)
            return
        engine = run.engine

        def epochs() -> Iterator[EpochRecord]:
            on_epoch(engine.epoch)
            for record in engine:
                on_epoch(engine.epoch)
                yield record

        if run.write(epochs(), stop.asked) is None:
            raise KeyboardInterrupt


def answer(
    read: Callable[[], Experiment],
    directory: Path,
    say: Callable[[int], None],
    seconds: float = REPORT_SECONDS,
    workers: int | None = 1,
) -> tuple[int, bool, str | None]:
    """Carries out a run. Returns the epochs done, whether it is finished, and why not.

    Args:
        read: Returns the experiment.
        directory: Where to.
        say: Told, every so many `seconds`, how many epochs are done.
        seconds: How often.
        workers: Threads; None for those of the experiment.
    """
    said = 0.0
    epochs = 0

    def on_epoch(epoch: int) -> None:
        nonlocal said, epochs
        epochs = epoch
        if time.monotonic() - said > seconds:
            said = time.monotonic()
            say(epoch)

    try:
        carry_out(read(), directory, on_epoch, workers)
    except FallowError as error:
        return epochs, False, str(error)
    except Exception as error:  # noqa: BLE001  # the other runs go on; this one is listed with its reason
        return epochs, False, f"{in_words(error)}."
    return epochs, True, None


def run_here(runs: Sequence[PlannedRun], hear: Callable[[RunProgress], None]) -> None:
    """Carries out runs one after the other in this process, for classes that no other process knows.

    Args:
        runs: What to run.
        hear: Told how they go.
    """
    for run in runs:
        _run_one_here(run, hear)


def _run_one_here(run: PlannedRun, hear: Callable[[RunProgress], None]) -> None:
    def say(epochs: int) -> None:
        hear(RunProgress(run, epochs))

    hear(RunProgress(run, *answer(lambda: run.experiment, run.directory, say, workers=None)))


def run_all(runs: list[PlannedRun], processes: int) -> Generator[RunProgress, None, None]:
    """Carries out runs in processes of their own, and yields how they go. Closing the iterator ends the processes.

    Args:
        runs: What to carry out.
        processes: How many at a time.
    """
    waiting = deque((run, 1) for run in runs)
    busy: dict[Connection, tuple[BaseProcess, PlannedRun, int]] = {}
    idle: list[tuple[Connection, BaseProcess]] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < processes:
                run, tries = waiting.popleft()
                pipe, process = idle.pop() if idle else _start()
                with suppress(OSError):  # if it is dead, it says nothing either
                    pipe.send((run.experiment.to_toml(), run.directory))
                busy[pipe] = (process, run, tries)
            ready = wait(list(busy))
            for pipe in [pipe for pipe in busy if pipe in ready]:
                process, run, tries = busy[pipe]
                try:
                    said = pipe.recv()
                except (EOFError, OSError):  # the latter if it died before it read its orders
                    process.join()
                    del busy[pipe]
                    if tries < TRIES:
                        waiting.append((run, tries + 1))
                    else:
                        yield RunProgress(run, 0, failure=f"its process died {TRIES} times (exit {process.exitcode})")
                    continue
                progress = RunProgress(run, *said)
                if progress.finished or progress.failure:
                    del busy[pipe]
                    idle.append((pipe, process))
                yield progress
    except KeyboardInterrupt:
        _end([*idle, *((pipe, process) for pipe, (process, _, _) in busy.items())], asked=True)
        raise
    finally:
        _end([*idle, *((pipe, process) for pipe, (process, _, _) in busy.items())])


def _end(workers: list[tuple[Connection, BaseProcess]], *, asked: bool = False) -> None:
    """Lets workers end their epochs and write checkpoints, and waits for them; what interrupts that ends them at once.

    Args:
        workers: Each with its pipe; those that have ended are passed over.
        asked: Whether somebody asked for it, who is told.
    """
    try:
        for _, process in workers:
            if process.is_alive():
                process.terminate()
        if asked:  # said when it is so: whoever reads it can count on it
            tell("Stopping when the epochs under way are done; Ctrl-C again stops at once.")
        for pipe, process in workers:
            process.join()
            pipe.close()
    except BaseException:
        for _, process in workers:
            process.kill()
        raise


def _start() -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, os.getpid()), daemon=True)
    with _main_hidden():
        process.start()
    there.close()
    return here, process


@contextmanager
def _main_hidden() -> Iterator[None]:
    """Keeps a new process from importing the program that starts it.

    It needs nothing of it. And a script that calls `sweep` without ``if __name__ == "__main__"`` would begin again in
    every process.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def serve(pipe: Connection, parent: int) -> None:
    """Carries out each run that comes through a pipe, and reports how it goes. This is what a worker does.

    Args:
        pipe: To the process of the sweep.
        parent: The number of that process. It may be gone by now, and then this one is another's child.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    with suppress(EOFError, OSError):  # the parent is gone: nobody would read a word about it either
        while True:
            toml, directory = pipe.recv()
            with redirect_stdout(sys.stderr):  # standard output is the parent's, and may have to be JSON
                said = answer(partial(Experiment.from_toml, toml), directory, lambda epochs: pipe.send((epochs,)))
            pipe.send(said)


def _die_with(parent: int) -> None:
    """Ends this process when its parent is gone: nobody would hear of what it does."""
    while os.getppid() == parent:
        time.sleep(REPORT_SECONDS)
    os._exit(1)
