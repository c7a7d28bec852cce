"""Fetching: every format, every refusal, and a cache that never holds anything wrong."""

import io
import os
import tarfile
from dataclasses import replace

import numpy as np
import pytest
from tiny_cifar10 import Listener, binary_files, local_source, sheet_files, tiny_arrays, write_folder, write_tar

from fallow import data
from fallow.data import cache, files
from fallow.data.cache import write_arrays
from fallow.data.cifar10 import decode
from fallow.data.sources import Source
from fallow.errors import ConfigError, DataError
from fallow.storage.locks import hold

FORMATS = [binary_files, sheet_files]


def flipped(contents, name, place=-1):
    changed = bytearray(contents[name])
    changed[place] ^= 1
    return contents | {name: bytes(changed)}


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_binary_record_is_a_label_then_red_green_and_blue(tmp_path):
    record = bytes([7]) + bytes([1]) * 1024 + bytes([2]) * 1024 + bytes([3]) * 1023 + bytes([4])
    contents = dict.fromkeys(binary_files(tiny_arrays()), record)
    arrays = decode(write_folder(tmp_path / "bin", contents))
    assert arrays.x.shape == (5, 3, 32, 32)
    assert arrays.y.tolist() == [7] * 5
    assert arrays.x[0, :, 0, 0].tolist() == [1, 2, 3]
    assert arrays.x[0, 2, 31].tolist() == [3] * 31 + [4]


@pytest.mark.parametrize("form", FORMATS)
def test_folders_and_archives_of_both_formats_give_the_same_arrays(tmp_path, form):
    expected = tiny_arrays()
    contents = form(expected)
    places = [
        write_folder(tmp_path / "plain", contents),
        write_folder(tmp_path / "above" / "cifar-10-batches-bin", contents).parent,
        write_tar(tmp_path / "archive.tar.gz", contents, folder="cifar-10-batches-bin/"),
    ]
    for place in places:
        found = decode(place)
        for name in cache.FILES:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_the_checksum_depends_on_every_array_and_on_their_order():
    arrays = tiny_arrays()
    sums = {arrays.sha256(), replace(arrays, y=arrays.y[::-1]).sha256(), replace(arrays, x=arrays.x ^ 1).sha256()}
    sums.add(replace(arrays, x_test=arrays.x_test[::-1]).sha256())
    sums.add(replace(arrays, y_test=arrays.y_test ^ 1).sha256())
    assert len(sums) == 5


@pytest.mark.parametrize("form", FORMATS)
def test_what_the_user_has_is_cached_and_loaded(tiny, tmp_path, form):
    given = write_tar(tmp_path / "mine.tgz", form(tiny_arrays()))
    folder = data.fetch("cifar10", tmp_path / "cache", given)
    assert folder == tmp_path / "cache" / tiny.name
    dataset = data.load_dataset("cifar10", seed=0, data_dir=tmp_path / "cache")
    assert isinstance(dataset.x, np.memmap)
    np.testing.assert_array_equal(dataset.x, tiny_arrays().x)
    np.testing.assert_array_equal(dataset.y_test, tiny_arrays().y_test)
    assert files_below(folder) == ["x.npy", "x_test.npy", "y.npy", "y_test.npy"]


WRONG = [
    (lambda f: flipped(f(binary_files), "test_batch.bin"), "checksum"),
    (lambda f: flipped(f(binary_files), "data_batch_3.bin", 0), "checksum"),
    (lambda f: f(binary_files) | {"data_batch_2.bin": b"\0" * 3073}, "checksum"),
    (lambda f: f(binary_files) | {"data_batch_2.bin": b"\0" * 3072}, "3072 bytes, not a whole number of records"),
    (lambda f: f(binary_files) | {"data_batch_2.bin": b""}, "has 0 bytes"),
    (lambda f: flipped(f(sheet_files), "data_batch_1.png", 700), "data_batch_1.png is no whole PNG file"),
    (lambda f: f(sheet_files) | {"test_batch.png": f(sheet_files)["test_batch.png"][:900]}, "no whole PNG file"),
    (lambda f: f(sheet_files) | {"train_lables.json": b"[6, 9"}, "no whole list of labels"),
    (lambda f: f(sheet_files) | {"train_lables.json": b"[262]"}, "no list of labels from 0 to 9"),
    (lambda f: f(sheet_files) | {"test_lables.json": b'["a"]'}, "no list of labels from 0 to 9"),
    (lambda f: {k: v for k, v in f(sheet_files).items() if k != "data_batch_5.png"}, "does not hold CIFAR-10"),
    (lambda f: {}, "does not hold CIFAR-10"),  # noqa: ARG005
]


@pytest.mark.parametrize(("make", "words"), WRONG)
def test_wrong_data_is_refused_and_nothing_is_cached(tiny, tmp_path, make, words):
    given = write_tar(tmp_path / "wrong.tgz", make(lambda form: form(tiny_arrays())))
    with pytest.raises(DataError, match=words):
        tiny.fetch(tmp_path / "cache", given)
    assert not (tmp_path / "cache").exists()


def test_a_sheet_with_one_other_pixel_is_refused(tiny, tmp_path):
    arrays = tiny_arrays()
    other = arrays.x.copy()
    other[4, 1, 2, 3] ^= 1
    with pytest.raises(DataError, match="not cifar10 as published"):
        tiny.fetch(tmp_path / "cache", write_folder(tmp_path / "sheets", sheet_files(replace(arrays, x=other))))


@pytest.mark.parametrize("cut", [1000, 10_000, 39_000])
def test_a_cut_download_is_refused_and_said_so(tiny, tmp_path, cut):
    published = replace(tiny, sources=(local_source("the mirror", sheet_files(tiny_arrays()), cut),))
    listener = Listener()
    with pytest.raises(DataError, match=r"can't be fetched .*cut or damaged"):
        published.fetch(tmp_path, watcher=listener)
    assert any("cut or damaged" in sentence for sentence in listener.said)
    assert files_below(tmp_path) == []


def test_the_next_source_is_asked_when_one_is_wrong_or_silent(tiny, tmp_path):
    def silent(_folder, _watcher):
        raise DataError("nobody there")

    corrupted = flipped(binary_files(tiny_arrays()), "test_batch.bin")
    good = local_source("the third", binary_files(tiny_arrays()))
    published = replace(tiny, sources=(Source("the first", silent), local_source("the second", corrupted), good))
    listener = Listener()
    published.fetch(tmp_path, watcher=listener)
    assert published.is_cached(tmp_path)
    assert listener.said[1] == "Not from the first: nobody there."
    assert "checksum" in listener.said[3]
    assert listener.said[4] == "Asking the third …"


def test_where_all_sources_fail_the_sentence_tells_each_reason_and_the_way_out(tiny, tmp_path):
    def silent(_folder, _watcher):
        raise DataError("nobody there")

    published = replace(tiny, sources=(Source("one", silent), Source("two", silent)))
    with pytest.raises(DataError, match=r"one: nobody there; two: nobody there.*fallow data fetch cifar10 --from PATH"):
        published.fetch(tmp_path)


def test_what_is_cached_is_not_fetched_again_but_what_is_damaged_is(tiny, tmp_path):
    published = replace(tiny, sources=(local_source("the mirror", binary_files(tiny_arrays())),))
    published.fetch(tmp_path)
    listener = Listener()
    published.fetch(tmp_path, watcher=listener)
    assert len(listener.said) == 1
    assert "checksum is right" in listener.said[0]
    path = tmp_path / "cifar10" / "x.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    published.fetch(tmp_path, watcher=listener)
    assert "Asking the mirror …" in listener.said
    np.testing.assert_array_equal(published.read(tmp_path).x, tiny_arrays().x)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("x.npy", lambda content: content[:-1]),
        ("x_test.npy", lambda content: content[:40]),
        ("y.npy", lambda _: b""),
        ("y.npy", lambda content: content.replace(b"(10,)", b"(9,) ")),
        ("y_test.npy", lambda content: content.replace(b"|u1", b"|i1")),
    ],
)
def test_a_spoilt_cache_is_noticed_at_loading(tiny, tmp_path, name, spoil):
    folder = tiny.fetch(tmp_path, write_folder(tmp_path / "bin", binary_files(tiny_arrays())))
    (folder / name).write_bytes(spoil((folder / name).read_bytes()))
    with pytest.raises(DataError, match="run `fallow data fetch cifar10`"):
        data.load_dataset("cifar10", seed=0, data_dir=tmp_path)


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tiny, tmp_path, monkeypatch):
    given = write_folder(tmp_path / "bin", binary_files(tiny_arrays()))
    folder = tiny.fetch(tmp_path / "cache", given)
    before = {path: path.read_bytes() for path in folder.iterdir()}

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"can't be written to .*: No space left on device"):
        tiny.fetch(tmp_path / "cache", given)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_what_a_killed_fetch_left_goes_with_the_next(tiny, tmp_path):
    folder = tmp_path / "cifar10"
    (folder / ".download").mkdir(parents=True)
    (folder / ".download" / "half.tgz").write_bytes(b"half")
    (folder / f".x-{'0' * 32}").write_bytes(b"half")
    (folder / ".mine").write_bytes(b"mine")
    published = replace(tiny, sources=(local_source("the mirror", binary_files(tiny_arrays())),))
    published.fetch(tmp_path)
    assert files_below(folder) == [".mine", "x.npy", "x_test.npy", "y.npy", "y_test.npy"]
    assert not (folder / ".download").exists()


def test_a_fetch_that_is_killed_leaves_nothing_outside_the_cache(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    seen = []

    def watched(folder, _watcher):
        seen.extend((folder, list((tmp_path / "temporary").iterdir())))
        return write_folder(folder / "bin", binary_files(tiny_arrays()))

    replace(tiny, sources=(Source("the mirror", watched),)).fetch(tmp_path / "cache")
    assert seen == [tmp_path / "cache" / "cifar10" / ".download", []]


def test_a_second_fetch_waits_for_the_first_and_finds_its_data(tiny, tmp_path):
    """The first ends while the second waits: whoever waits looks again under the lock."""
    published = replace(tiny, sources=(local_source("the mirror", binary_files(tiny_arrays())),))
    (tmp_path / "cifar10").mkdir()
    held = hold(tmp_path / "cifar10")
    held.__enter__()

    class First(Listener):
        def say(self, sentence):
            super().say(sentence)
            if sentence.startswith("Waiting"):
                write_arrays(tmp_path / "cifar10", tiny_arrays())
                held.__exit__(None, None, None)

    listener = First()
    published.fetch(tmp_path, watcher=listener)
    assert listener.said[0] == f"Waiting for another process, which writes to {tmp_path / 'cifar10'} …"
    assert listener.said[1].endswith("already, and its checksum is right.")
    assert len(listener.said) == 2


def test_no_name_in_an_archive_reaches_the_disk_and_no_link_is_followed(tiny, tmp_path):
    contents = binary_files(tiny_arrays())
    secret = contents.pop("test_batch.bin")
    (tmp_path / "secret").write_bytes(secret)
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(f"../../{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("test_batch.bin")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
        archive.addfile(link)
    with pytest.raises(DataError, match="does not hold CIFAR-10"):
        tiny.fetch(tmp_path / "cache", path)
    assert files_below(tmp_path) == ["evil.tar", "secret"]


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 100)
    for given in (write_tar(tmp_path / "a.tgz", {"f": b"x" * 101}), write_folder(tmp_path / "a", {"f": b"x" * 101})):
        with pytest.raises(DataError, match=r"f in .* has 101 bytes"):
            files.read_files(given, {"f"})


def test_a_path_that_is_not_there_is_one_sentence(tiny, tmp_path):
    with pytest.raises(DataError, match="There is no file or folder"):
        tiny.fetch(tmp_path, tmp_path / "none")


def test_the_data_folder_is_the_variable_then_xdg_then_home(monkeypatch, tmp_path):
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path / "mine"))
    assert cache.default_data_dir() == tmp_path / "mine"
    monkeypatch.delenv("FALLOW_DATA_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.default_data_dir() == tmp_path / "xdg" / "fallow"
    monkeypatch.setenv("HOME", str(tmp_path))
    for unusable in ("", "relative/path"):  # the XDG standard says to ignore a relative path
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert cache.default_data_dir() == tmp_path / ".cache" / "fallow"


def test_only_published_datasets_are_fetched():
    with pytest.raises(ConfigError, match="'digits' needs no fetching"):
        data.fetch("digits")
    with pytest.raises(ConfigError, match="did you mean 'cifar10'"):
        data.fetch("cifar-10")
