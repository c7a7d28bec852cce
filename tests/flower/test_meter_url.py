"""A battery's level over HTTP: numbers, JSON, and devices that answer badly."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from fallow.errors import ConfigError
from fallow.flower import Metered, MeterURL
from fallow.flower.batteries import BatteryError
from fallow.flower.batteries.web import LARGEST

ANSWERS: dict[str, tuple[int, bytes]] = {
    "/plain": (200, b" 73.5\n"),
    "/json": (200, json.dumps({"battery": {"soc": 41}, "cells": [{"level": "12.5"}], "on": True}).encode()),
    "/words": (200, b"full"),
    "/bytes": (200, b"\xff\xfe"),
    "/long": (200, b"1" * (LARGEST + 1)),
    "/deep": (200, b"[" * 60_000),
    "/huge": (200, b'{"a": 1' + b"0" * 400 + b"}"),
    "/gone": (404, b"5"),
}


class Device(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/plain")
            self.end_headers()
            return
        status, content = ANSWERS[self.path.partition("?")[0]]
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.path == "/plain?slow":
            self.server.hold.wait(30)  # type: ignore[attr-defined]
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def device() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Device)
    server.hold = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.hold.set()  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "field", "level"),
    [
        ("/plain", "", 73.5),
        ("/plain?unit=percent", "", 73.5),
        ("/json", "battery.soc", 41.0),
        ("/json", "cells.0.level", 12.5),
    ],
)
def test_a_level_is_a_number_alone_or_in_json(path: str, field: str, level: float, device: str) -> None:
    assert MeterURL(device + path, field)() == level


def test_a_battery_lives_on_it(device: str) -> None:
    reading = Metered(MeterURL(f"{device}/json", "battery.soc")).open(probes=False, ideal=False).look(0)
    assert reading.units == 41


@pytest.mark.parametrize(
    ("path", "field", "words"),
    [
        ("/words", "", "has no number"),
        ("/bytes", "", "has no number"),
        ("/bytes", "soc", "has no number at 'soc'"),
        ("/deep", "soc", "has no number at 'soc'"),
        ("/huge", "a", "has no number at 'a'"),
        ("/json", "battery", "has no number at 'battery'"),
        ("/json", "cells.x", "has no number at 'cells.x'"),
        ("/json", "cells.7.level", "has no number"),
        ("/long", "", f"more than {LARGEST} bytes"),
        ("/gone", "", "it answers 404 Not Found"),
        ("/moved", "", "it answers 302 Found"),
    ],
)
def test_an_answer_without_a_level_is_one_sentence(path: str, field: str, words: str, device: str) -> None:
    with pytest.raises(BatteryError, match=words):
        MeterURL(device + path, field)()


def test_a_device_that_is_slow_or_gone_or_speaks_otherwise_is_an_error(device: str) -> None:
    with pytest.raises(BatteryError, match=r"no answer within 0\.2 seconds"):
        MeterURL(f"{device}/plain?slow", timeout=0.2)()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        def greet() -> None:
            wire, _ = other.accept()
            with wire:
                wire.recv(1000)
                wire.sendall(b"SSH-2.0\r\n\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(BatteryError, match="does not speak HTTP"):
            MeterURL(f"http://127.0.0.1:{port}/")()
        thread.join()
    with pytest.raises(BatteryError, match="refused"):
        MeterURL(f"http://127.0.0.1:{port}/")()


def test_a_device_that_sends_a_byte_now_and_then_runs_out_of_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as device:

        def drip() -> None:
            wire, _ = device.accept()
            with wire, suppress(OSError):
                wire.sendall(b"HTTP/1.1 200 OK\r\n")
                for _ in range(600):
                    wire.sendall(b"X: y\r\n")
                    time.sleep(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(BatteryError, match=r"no answer within 0\.3 seconds"):
            MeterURL(f"http://127.0.0.1:{device.getsockname()[1]}/", timeout=0.3)()
        thread.join()


def test_true_is_no_level(device: str) -> None:
    with pytest.raises(BatteryError, match="The battery's level is nan"):
        Metered(MeterURL(f"{device}/json", "on")).open(probes=False, ideal=False).look(0)


def test_no_proxy_stands_between(device: str, monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert MeterURL(f"{device}/plain")() == 73.5


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://device/level",
        "127.0.0.1/level",
        "http://",
        "http://me:secret@device/",
        "http://a:b/",
        "http://device:99999/",
        "http://device/\r\nX: y",
        "http://gerät/",
    ],
)
def test_only_plain_addresses_of_http_are_asked(url: str) -> None:
    with pytest.raises(ConfigError, match="A meter's address is"):
        MeterURL(url)


@pytest.mark.parametrize("seconds", [0.0, 61.0, float("nan")])
def test_a_meter_has_a_time_limit(seconds: float) -> None:
    with pytest.raises(ConfigError, match="A meter's timeout is"):
        MeterURL("http://device/", timeout=seconds)
