"""Each dataset by name: digits, synthetic, npz:PATH, module:function."""

import hashlib
import socket
from dataclasses import fields

import numpy as np
import pytest

from fallow import data
from fallow.data import digits
from fallow.errors import ConfigError, DataError


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        pytest.fail("the network was touched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("no_network")
def test_loading_touches_no_network(tmp_path):
    data.load_dataset("digits", seed=0)
    data.load_dataset("synthetic", seed=0, samples=20, test_samples=10)
    for name in ("cifar10", "fashion-mnist"):
        with pytest.raises(DataError, match=f"run `fallow data fetch {name}`"):
            data.load_dataset(name, seed=0, data_dir=tmp_path)


def test_digits_hold_1500_and_297_images_whatever_the_seed():
    one, two = data.load_dataset("digits", seed=0), data.load_dataset("digits", seed=1)
    assert one.x.shape == (1500, 1, 8, 8)
    assert one.x_test.shape == (297, 1, 8, 8)
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.x_test, two.x_test)
    assert one.y_test[:12].tolist() == [1, 2, 8, 9, 0, 5, 6, 4, 7, 2, 3, 1]  # once chosen, the test set stays


def test_every_digit_has_its_share_of_the_test_set():
    dataset = data.load_dataset("digits", seed=0)
    train, test = np.bincount(dataset.y), np.bincount(dataset.y_test)
    share = (train + test) * 297 / 1797
    assert np.abs(test - share).max() <= 1


def test_the_digits_are_those_of_scikit_learn_each_in_one_part():
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    theirs = sorted(zip(map(bytes, (x / 16).astype(np.float32)), y, strict=True))
    dataset = data.load_dataset("digits", seed=0)
    parts = ((dataset.x, dataset.y), (dataset.x_test, dataset.y_test))
    ours = [(image.tobytes(), label) for images, labels in parts for image, label in zip(images, labels, strict=True)]
    assert sorted(ours) == theirs


def test_the_digits_never_change():
    dataset = data.load_dataset("digits", seed=0)
    arrays = (dataset.x, dataset.y, dataset.x_test, dataset.y_test)
    assert [array.dtype for array in arrays] == [np.float32, np.int64, np.float32, np.int64]
    assert [hashlib.sha256(array.tobytes()).hexdigest() for array in arrays] == [
        "981cbefa22a0c2db7c2ca2b5ff8881d6b12884cfca01d5e0eec0c5423e4ed0eb",
        "5e91e4a16b732b2dfe5deb1e613669ba4d9874094ed9a3de16f7f280bba6b1c2",
        "c7d78f36a0b206234a32e32a1c95fa958b9a609dfaaa64f007bfe507542cc584",
        "cdedd846dc92d7a6540303f90ed6f38b5b7586aeb3d4ddedaf5a9d11471da289",
    ]


def test_digits_that_are_damaged_are_refused_in_a_sentence(tmp_path, monkeypatch):
    copy = tmp_path / "digits.npz"
    content = bytearray(digits.FILE.read_bytes())
    content[20_000] ^= 1
    copy.write_bytes(content)
    monkeypatch.setattr(digits, "FILE", copy)
    with pytest.raises(DataError, match=r"not those that Fallow came with: the file's checksum is .*install Fallow"):
        data.load_dataset("digits", seed=0)
    copy.unlink()
    with pytest.raises(DataError, match="can't be read: No such file or directory; install Fallow again"):
        data.load_dataset("digits", seed=0)


def test_digits_are_normalised_to_mean_0_and_deviation_1():
    dataset = data.load_dataset("digits", seed=0)
    x = dataset.normalised(dataset.x)
    assert x.mean() == pytest.approx(0, abs=1e-5)
    assert x.std() == pytest.approx(1, abs=1e-5)


def test_synthetic_has_the_size_and_shape_asked_for():
    dataset = data.load_dataset(
        "synthetic", seed=3, samples=50, test_samples=7, classes=4, channels=3, height=5, width=6
    )
    assert dataset.x.shape == (50, 3, 5, 6)
    assert dataset.x_test.shape == (7, 3, 5, 6)
    assert dataset.classes == 4
    assert sorted(np.bincount(dataset.y)) == [12, 12, 13, 13]


def test_synthetic_is_a_function_of_the_seed():
    first, again, other = (data.load_dataset("synthetic", seed=seed, samples=30) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.x, again.x)
    assert not np.array_equal(first.x, other.x)


def test_more_training_images_leave_the_test_set_alone():
    few, many = (data.load_dataset("synthetic", seed=1, samples=samples) for samples in (10, 5000))
    np.testing.assert_array_equal(few.x_test, many.x_test)


def test_the_test_images_are_others_than_the_training_images():
    dataset = data.load_dataset("synthetic", seed=1, samples=200, test_samples=200)
    train, test = ({image.tobytes() for image in part} for part in (dataset.x, dataset.x_test))
    assert len(train) == len(test) == 200
    assert not train & test


def test_synthetic_can_be_learnt_but_not_by_a_linear_model():
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier

    dataset = data.load_dataset("synthetic", seed=0, samples=2000, test_samples=500)
    x, x_test = (dataset.normalised(part).reshape(len(part), -1) for part in (dataset.x, dataset.x_test))
    linear = RidgeClassifier(alpha=100).fit(x, dataset.y).score(x_test, dataset.y_test)
    nearest = KNeighborsClassifier(5).fit(x, dataset.y).score(x_test, dataset.y_test)
    assert 0.3 < linear < 0.8
    assert nearest > 0.85


def test_a_single_pixel_is_an_image():
    assert data.load_dataset("synthetic", seed=0, samples=4, height=1, width=1).x.shape == (4, 1, 1, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples = 0 must be at least 1"),
        ({"classes": 1}, "classes = 1 must be at least 2"),
        ({"classes": 10**9}, "classes = 1000000000 must be at most 100000"),
        ({"noise": float("nan")}, "noise = nan must be a finite number"),
        ({"hight": 3}, "no option 'hight'; did you mean 'height'"),
    ],
)
def test_a_wrong_option_is_one_sentence(options, words):
    with pytest.raises(ConfigError, match=words):
        data.load_dataset("synthetic", seed=0, **options)


def test_every_option_is_described():
    from typing import get_type_hints

    for cls in (*data.DATASETS.values(), *data.PARTITIONS.values()):
        hints = get_type_hints(cls, include_extras=True)
        for field in fields(cls):
            assert any(getattr(extra, "description", None) for extra in hints[field.name].__metadata__), field


MODULE = """
from typing import Annotated
import numpy as np
from pydantic import Field
from fallow.data import dataset_from_arrays

def mine(seed, images: Annotated[int, Field(ge=2, description="how many")] = 4):
    x = np.full((images, 1, 1), float(seed))
    y = np.arange(images) % 2
    return dataset_from_arrays("mine", x, y, x, y)

def broken(seed):
    return None

def seedless(images):
    return None

number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"user_data_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_function_is_a_dataset_with_its_parameters_as_options(module):
    assert [field.name for field in fields(data.resolve_dataset(f"{module}:mine"))] == ["images"]
    dataset = data.load_dataset(f"{module}:mine", seed=9, images=6)
    assert dataset.x.shape == (6, 1, 1, 1)
    assert dataset.x[0, 0, 0, 0] == 9


@pytest.mark.parametrize(
    ("attribute", "options", "words"),
    [
        ("mine", {"images": 1}, "images = 1 must be at least 2"),
        ("mine", {"image": 4}, "did you mean 'images'"),
        ("minr", {}, "did you mean 'mine'"),
        ("broken", {}, "returned a NoneType"),
        ("seedless", {}, "begins with the parameters \\(seed\\)"),
        ("number", {}, "must be a function or a class; it is a int"),
    ],
)
def test_a_wrong_function_is_one_sentence(module, attribute, options, words):
    with pytest.raises(ConfigError, match=words):
        data.load_dataset(f"{module}:{attribute}", seed=0, **options)


def test_a_module_that_is_not_there_is_one_sentence():
    with pytest.raises(ConfigError, match="importing 'no_such_module' failed"):
        data.load_dataset("no_such_module:f", seed=0)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'digits'"):
        data.load_dataset("digit", seed=0)
