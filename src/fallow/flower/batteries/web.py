"""A meter that asks a device over HTTP: a charge controller, an inverter, or whatever serves their readings."""

import json
import math
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from fallow.errors import ConfigError
from fallow.flower.batteries.base import BatteryError

if TYPE_CHECKING:
    from http.client import HTTPConnection

LARGEST = 65_536
"""Most bytes of an answer."""


@dataclass(frozen=True)
class MeterURL:
    """A meter: an address that answers with a number, alone or in JSON.

    The address is the owner's, in the node's own app or config: nothing that the server says changes it. It is asked
    directly, without a proxy, and a redirection is an error.

    Attributes:
        url: As in ``http://192.168.1.20/api/battery``; http or https.
        field: Where in the JSON the number is, as in ``battery.soc`` or ``cells.0.level``; empty: the answer is the
            number. A text that is a number counts as one.
        timeout: Seconds for the whole exchange.
        certificate: Of the authority that signed the device's certificate, for https; None: those of the system.

    Raises:
        ConfigError: The address is none that can be asked.

    Examples:
        >>> MeterURL("http://127.0.0.1:8080/level").field
        ''
        >>> MeterURL("file:///etc/passwd")
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: A meter's address is 'file:///etc/passwd'; it must begin with http:// or https://.
    """

    url: str
    field: str = ""
    timeout: float = 5.0
    certificate: Path | None = None

    def __post_init__(self) -> None:
        """Checks the address."""
        try:
            parts = urlsplit(self.url)
            named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError as error:
            raise ConfigError(f"A meter's address is '{self.url}', which is none: {error}.") from error
        if parts.scheme not in {"http", "https"}:
            raise ConfigError(f"A meter's address is '{self.url}'; it must begin with http:// or https://.")
        if not named or parts.username is not None or not self.url.isascii() or not self.url.isprintable():
            raise ConfigError(f"A meter's address is '{self.url}'; it must be http://host:port/path in plain letters.")
        if not 0 < self.timeout <= 60:
            raise ConfigError(f"A meter's timeout is {self.timeout}; it must be more than 0 and at most 60 seconds.")

    def __call__(self) -> float:
        """Returns the number.

        Raises:
            BatteryError: There is no answer in time, or none with a number in it.
        """
        try:
            content = self._ask()
        except (OSError, ValueError) as error:  # HTTP's own errors among them
            raise BatteryError(f"The battery's level can't be read from {self.url}: {error or 'no answer'}.") from error
        return self._number(content)

    def _ask(self) -> bytes:
        from http.client import HTTPException  # here, because other meters do without it

        parts = urlsplit(self.url)
        connection, deadline = self._connection(parts), time.monotonic() + self.timeout
        try:
            connection.connect()
            with _ended_at(deadline, connection.sock):
                return _content(connection, f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")
        except (OSError, HTTPException) as error:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"no answer within {self.timeout:g} seconds") from error
            if isinstance(error, OSError):
                raise
            raise ValueError(f"it does not speak HTTP ({type(error).__name__})") from error
        finally:
            connection.close()

    def _connection(self, parts: SplitResult) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        host = parts.hostname or ""
        if parts.scheme == "http":
            return HTTPConnection(host, parts.port, timeout=self.timeout)
        import ssl

        trusted = ssl.create_default_context(cafile=self.certificate)
        return HTTPSConnection(host, parts.port, timeout=self.timeout, context=trusted)

    def _number(self, content: bytes) -> float:
        try:
            found: Any = json.loads(content) if self.field else content.decode()
            for step in self.field.split(".") if self.field else ():
                found = found[int(step)] if isinstance(found, list) else found[step]
            return math.nan if isinstance(found, bool) else float(found)  # which no battery takes
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            where = f" at '{self.field}'" if self.field else ""
            raise BatteryError(
                f"{self.url} gave {content[:60]!r} as the battery's level, which has no number{where}."
            ) from error


def _content(connection: "HTTPConnection", path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise ValueError(f"it answers {answer.status} {answer.reason}")
    content = answer.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"its answer has more than {LARGEST} bytes")
    return content


@contextmanager
def _ended_at(deadline: float, wire: socket.socket) -> Iterator[None]:
    """Ends a connection when its time is over: a device that sends a byte now and then would never run out of it."""
    with socket.fromfd(wire.fileno(), wire.family, wire.type) as same:
        watch = threading.Timer(max(0.0, deadline - time.monotonic()), same.shutdown, [socket.SHUT_RDWR])
        watch.start()
        try:
            yield
        finally:
            watch.cancel()
            watch.join()
    if time.monotonic() >= deadline:  # what came before the end may be the half of it
        raise TimeoutError
