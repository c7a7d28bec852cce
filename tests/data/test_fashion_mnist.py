"""Fashion-MNIST's IDX files, from a dataset of five images."""

import gzip
import struct
from dataclasses import replace

import numpy as np
import pytest
from tiny_cifar10 import write_folder, write_tar

from fallow import data
from fallow.data.fashion_mnist import FILES, FashionMnist, decode
from fallow.errors import DataError

IMAGES = np.arange(5 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(5, 28, 28)


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def contents(**changes):
    labels = np.array([9, 0, 3], dtype=np.uint8)
    arrays = (IMAGES[:3], labels, IMAGES[3:], labels[:2])
    plain = dict(zip(FILES, map(idx, arrays), strict=True)) | changes
    return {name: gzip.compress(content) for name, content in plain.items()}


def test_the_four_files_are_decoded_and_cached(tmp_path, monkeypatch):
    given = write_folder(tmp_path / "idx", contents())
    published = replace(FashionMnist.published, train=3, test=2, sha256=decode(given).sha256())
    monkeypatch.setattr(FashionMnist, "published", published)
    data.fetch("fashion-mnist", tmp_path / "cache", given)
    dataset = data.load_dataset("fashion-mnist", seed=0, data_dir=tmp_path / "cache")
    np.testing.assert_array_equal(dataset.x[:, 0], IMAGES[:3])
    np.testing.assert_array_equal(dataset.x_test[:, 0], IMAGES[3:])
    assert dataset.y.tolist() == [9, 0, 3]
    assert dataset.y_test.tolist() == [9, 0]


def test_files_that_are_not_the_published_ones_are_refused(tmp_path):
    with pytest.raises(DataError, match="not fashion-mnist as published"):
        data.fetch("fashion-mnist", tmp_path / "cache", write_tar(tmp_path / "a.tgz", contents()))
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({FILES[0]: idx(IMAGES)[:-1]}, "holds 3919 values"),
        ({FILES[0]: idx(IMAGES.reshape(-1))}, "no IDX file of 3 axes"),
        ({FILES[1]: b"\0\0\x08\x01\0"}, "no IDX file of 1 axes"),
        ({FILES[3]: b""}, "no IDX file of 1 axes"),
    ],
)
def test_a_wrong_idx_file_is_one_sentence(tmp_path, change, words):
    with pytest.raises(DataError, match=words):
        decode(write_folder(tmp_path / "idx", contents(**change)))


def test_a_cut_gzip_file_is_one_sentence(tmp_path):
    files = contents()
    files[FILES[2]] = files[FILES[2]][:-20]
    with pytest.raises(DataError, match="no whole gzip file"):
        decode(write_folder(tmp_path / "idx", files))


def test_a_missing_file_is_named(tmp_path):
    files = contents()
    del files[FILES[3]]
    with pytest.raises(DataError, match=r"t10k-labels-idx1-ubyte.gz is missing"):
        decode(write_folder(tmp_path / "idx", files))
