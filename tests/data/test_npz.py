"""npz:PATH: what is read, and what is refused in one sentence."""

import zipfile

import numpy as np
import pytest

from fallow import data
from fallow.errors import DataError


def arrays(**changes):
    x = np.arange(4, dtype=np.float64).reshape(4, 1, 1)
    return {"x": x, "y": np.array([0, 1, 2, 1]), "x_test": x[:1], "y_test": np.array([1])} | changes


def test_an_npz_file_is_a_dataset(tmp_path):
    np.savez(tmp_path / "mine.npz", **arrays())
    dataset = data.load_dataset(f"npz:{tmp_path}/mine.npz", seed=0)
    assert dataset.name == "mine"
    assert dataset.x.shape == (4, 1, 1, 1)
    assert dataset.classes == 3
    assert dataset.mean == (1.5,)


def test_an_npz_file_may_say_how_many_classes_there_are(tmp_path):
    np.savez(tmp_path / "mine.npz", classes=7, **arrays())
    assert data.load_dataset(f"npz:{tmp_path}/mine.npz", seed=0).classes == 7


def test_an_npz_file_may_name_owners_and_say_that_it_holds_signals(tmp_path):
    np.savez(tmp_path / "mine.npz", client=[1, 0, 1, 0], kind="signals", **arrays())
    dataset = data.load_dataset(f"npz:{tmp_path}/mine.npz", seed=0)
    assert dataset.x.shape == (4, 1, 1)
    assert [part.tolist() for part in data.partition("natural", dataset, 2, seed=0)] == [[1, 3], [0, 2]]


@pytest.mark.parametrize("kind", [3, ["signals", "signals"]])
def test_a_kind_in_an_npz_file_is_one_text(tmp_path, kind):
    np.savez(tmp_path / "bad.npz", kind=kind, **arrays())
    with pytest.raises(DataError, match=r"holds kind = .*; it must be one text"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)


def test_pickles_in_an_npz_file_are_refused(tmp_path):
    np.savez(tmp_path / "bad.npz", allow_pickle=True, **arrays(y=np.array([{}, 1, 2, 3], dtype=object)))
    with pytest.raises(DataError, match=r"bad\.npz holds Python objects in 'y'; only numbers are read\.$"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)


def test_an_npz_file_without_labels_is_one_sentence(tmp_path):
    np.savez(tmp_path / "bad.npz", x=np.zeros(3))
    with pytest.raises(DataError, match="no array 'y'"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"no archive"])
def test_what_is_no_npz_file_is_one_sentence(tmp_path, content):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(DataError, match="is no NumPy archive") as caught:
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)
    assert "pickle" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not str(caught.value).endswith("..")


@pytest.mark.parametrize(("classes", "shown"), [([1, 2], r"\[1, 2\]"), (2.5, "2.5"), ("ten", "ten")])
def test_classes_in_an_npz_file_are_one_whole_number(tmp_path, classes, shown):
    np.savez(tmp_path / "bad.npz", classes=classes, **arrays())
    with pytest.raises(DataError, match=rf"holds classes = {shown}; it must be one whole number"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)


def test_what_is_no_array_in_an_npz_file_is_one_sentence(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        for name in ("x", "y", "x_test", "y_test"):
            archive.writestr(name, "hello")
    with pytest.raises(DataError, match="holds no array in 'x'"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)


def test_an_npz_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="can't be read: No such file or directory"):
        data.load_dataset(f"npz:{tmp_path}/none.npz", seed=0)


def test_an_npz_file_with_a_flipped_byte_is_one_sentence(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez_compressed(path, **arrays())
    content = bytearray(path.read_bytes())
    content[content.index(b"x.npy") + 60] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match="is no NumPy archive"):
        data.load_dataset(f"npz:{path}", seed=0)


def test_a_single_array_is_no_dataset(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(DataError, match="one array"):
        data.load_dataset(f"npz:{tmp_path}/one.npy", seed=0)


def repacked(path, compression=zipfile.ZIP_STORED, change=lambda member: member):
    """Writes the archive again, each member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, change(content))


def test_an_encrypted_npz_file_is_one_sentence(tmp_path):
    path = tmp_path / "secret.npz"
    np.savez(path, **arrays())
    content = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(mark)
        while place >= 0:
            content[place + flags] |= 1
            place = content.find(mark, place + 1)
    path.write_bytes(content)
    with pytest.raises(
        DataError, match=r"secret\.npz is encrypted; write it with np\.savez, which does not encrypt\.$"
    ):
        data.load_dataset(f"npz:{path}", seed=0)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_oddly_compressed_npz_file_is_one_sentence(tmp_path, compression):
    np.savez(tmp_path / "odd.npz", **arrays())
    repacked(tmp_path / "odd.npz", compression)
    with pytest.raises(DataError, match=r"holds 'x\.npy' compressed in a way that NumPy does not read; write it with"):
        data.load_dataset(f"npz:{tmp_path}/odd.npz", seed=0)


@pytest.mark.parametrize("shape", [b"(999999999999,)", b"(4, -1, 1)", b"(1e9, 1, 1)", b"((((((((((", b"(4, 1, 1"])
def test_a_header_that_promises_too_much_is_one_sentence(tmp_path, shape):
    np.savez(tmp_path / "bad.npz", **arrays())
    repacked(tmp_path / "bad.npz", change=lambda member: member.replace(b"(4, 1, 1)", shape))
    with pytest.raises(DataError, match=r"bad\.npz is no NumPy archive that can be read; it is cut or damaged\.$"):
        data.load_dataset(f"npz:{tmp_path}/bad.npz", seed=0)
