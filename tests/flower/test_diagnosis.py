"""Why a node is not let in: what its machine can find out."""

import re
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from flwr.common.constant import (
    HEARTBEAT_DEFAULT_INTERVAL,
    HEARTBEAT_PATIENCE,
    SYSTEM_TIME_TOLERANCE,
    TIMESTAMP_TOLERANCE,
)

from fallow.flower.deploy import diagnosis
from fallow.flower.deploy.diagnosis import in_words, why_refused
from fallow.flower.deploy.keys import make_keys
from fallow.flower.deploy.programs import free_port


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HTTPServer]:
    """A server with the federation's certificate, whose clock is `server.behind` seconds behind."""
    make_keys(tmp_path, nodes=0)

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(200 if self.path == "/health" else 404)
            now = datetime.now(UTC) - timedelta(seconds=self.server.behind)  # type: ignore[attr-defined]
            self.send_header("Date", format_datetime(now, usegmt=True))
            self.end_headers()

    one = HTTPServer(("127.0.0.1", 0), Health)
    secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secure.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    one.socket = secure.wrap_socket(one.socket, server_side=True)
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield one
    one.shutdown()
    thread.join()
    one.server_close()


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (100, "clock is 10[0-9] seconds ahead of"),
        (-400, "clock is (399|400) seconds behind"),
        (0, "may not be registered"),
    ],
)
def test_a_clock_that_flower_would_refuse_is_found(behind: int, words: str, server: HTTPServer, tmp_path: Path) -> None:
    server.behind = behind  # type: ignore[attr-defined]
    sentence = why_refused(f"127.0.0.1:{server.server_port}", tmp_path / "ca.crt")
    assert re.search(words, sentence)


def test_a_superlink_that_is_not_there_is_said(tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=0)
    address = f"127.0.0.1:{free_port()}"
    assert f"The SuperLink at {address} can't be reached" in why_refused(address, tmp_path / "ca.crt")


def test_another_authority_s_certificate_is_said(server: HTTPServer, tmp_path: Path) -> None:
    make_keys(tmp_path / "others", nodes=0)
    sentence = why_refused(f"127.0.0.1:{server.server_port}", tmp_path / "others" / "ca.crt")
    assert "CERTIFICATE_VERIFY_FAILED" in sentence


def test_all_causes_are_named_where_none_is_found() -> None:
    sentence = in_words(0.4)
    assert all(cause in sentence for cause in ("key", "clock", "earlier connection"))
    assert in_words(4) == in_words(-304) == sentence
    assert "set the clock" in in_words(7)
    assert "set the clock" in in_words(-306)


def test_the_limits_are_flower_s() -> None:
    assert diagnosis.AHEAD == SYSTEM_TIME_TOLERANCE
    assert diagnosis.BEHIND == SYSTEM_TIME_TOLERANCE + TIMESTAMP_TOLERANCE
    assert diagnosis.OLD_CONNECTION == HEARTBEAT_PATIENCE * HEARTBEAT_DEFAULT_INTERVAL
