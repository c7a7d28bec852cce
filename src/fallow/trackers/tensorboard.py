"""TensorBoard: event files, written by the code of TensorBoard. Loads neither PyTorch nor TensorFlow."""

import io
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fallow.storage.files import PART, write_atomically
from fallow.trackers.base import Row, TrackedRun, as_text

if TYPE_CHECKING:
    from tensorboard.compat.proto.event_pb2 import Event

FOLDER = "tensorboard"


class TensorBoard:
    """Event files in the run directory, for `tensorboard --logdir`."""

    NEEDS = ("tensorboard",)

    def begin(self, run: TrackedRun) -> None:
        """Opens a new event file. It makes TensorBoard ignore later epochs in earlier files.

        Args:
            run: The run, with the epochs so far.
        """
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        folder = run.directory / FOLDER
        folder.mkdir(exist_ok=True)
        for part in folder.glob(f"*{PART}"):  # a kill may have left one
            part.unlink()
        # TensorBoard reads the files in the order of their names, so a number is better than the time of day.
        number = len(list(folder.iterdir()))
        self._path = folder / f"events.out.tfevents.{number:06}.fallow"
        start = Event(step=run.epoch, session_log=SessionLog(status=SessionLog.START))
        settings = {key: _plain(value) for key, value in run.settings.items()}
        once = [] if number else [Event(step=0, summary=hparams_pb(settings))]
        write_atomically(self._path, _records([Event(file_version="brain.Event:2"), start, *once]))

    def log(self, rows: Sequence[Row]) -> None:
        """Writes the scalars of some epochs."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        events = []
        for row in rows:
            scalars = {name: value for name, value in row.items() if name != "epoch"}
            values = [Summary.Value(tag=name, simple_value=float(value)) for name, value in scalars.items()]
            events.append(Event(step=int(row["epoch"]), summary=Summary(value=values)))
        with self._path.open("ab") as file:
            file.write(_records(events))
            file.flush()
            os.fsync(file.fileno())

    def end(self, summary: Mapping[str, Any]) -> None:
        """Does nothing: every epoch is already written."""


def _records(events: list["Event"]) -> bytes:
    """Returns events as the bytes of an event file."""
    from tensorboard.summary.writer.record_writer import RecordWriter

    file = io.BytesIO()
    for event in events:
        event.wall_time = time.time()
        RecordWriter(file).write(event.SerializeToString())
    return file.getvalue()


def _plain(value: Any) -> bool | float | str:
    """Returns a setting as the table of hyper-parameters accepts it: a list becomes a text."""
    return value if isinstance(value, bool | int | float | str) else as_text(value)
