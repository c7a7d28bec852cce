"""The dataset type: what it refuses, and how it normalises."""

from dataclasses import replace

import numpy as np
import pytest

from fallow.data.dataset import Dataset
from fallow.data.from_arrays import channel_statistics, dataset_from_arrays
from fallow.errors import ConfigError


def two_pixels() -> Dataset:
    x = np.array([0, 255], dtype=np.uint8).reshape(2, 1, 1, 1)
    y = np.array([0, 1])
    return Dataset("two", x, y, x, y, classes=2, mean=(0.5,), std=(0.25,))


def test_a_good_dataset_passes():
    two_pixels().check()


def test_uint8_is_normalised_in_units_of_255():
    dataset = two_pixels()  # (0/255 − 0.5)/0.25 = −2 and (255/255 − 0.5)/0.25 = 2
    result = dataset.normalised(dataset.x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.ravel(), [-2, 2], rtol=1e-6)


def test_float32_is_normalised_directly_channel_by_channel():
    x = np.array([[3, 10], [5, 30]], dtype=np.float32).reshape(2, 2, 1, 1)
    y = np.array([0, 1])
    dataset = Dataset("f", x, y, x, y, classes=2, mean=(4, 20), std=(1, 10))
    before = x.copy()
    result = dataset.normalised(x)
    np.testing.assert_allclose(result.reshape(2, 2), [[-1, -1], [1, 1]])
    assert result.dtype == np.float32
    np.testing.assert_array_equal(x, before)


def test_statistics_of_uint8_are_those_of_the_floating_point_images():
    x = np.random.default_rng(0).integers(0, 256, (20, 3, 4, 5), dtype=np.uint8)
    mean, std = channel_statistics(x)
    np.testing.assert_allclose(mean, (x / 255).mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(std, (x / 255).std(axis=(0, 2, 3)))


def test_a_constant_channel_is_normalised_to_zeros():
    x = np.full((2, 1, 2, 2), 7, dtype=np.float32)
    dataset = dataset_from_arrays("constant", x, np.array([0, 1]), x, np.array([0, 1]))
    assert dataset.std == (1.0,)
    assert not dataset.normalised(x).any()


def test_arrays_without_a_channel_axis_get_one():
    x = np.zeros((2, 4, 5))
    dataset = dataset_from_arrays("grey", x, np.array([0, 2], dtype=np.uint8), x, np.array([0, 1]))
    assert dataset.x.shape == (2, 1, 4, 5)
    assert dataset.x.dtype == np.float32
    assert dataset.y.dtype == np.int64
    assert dataset.classes == 3


NAN = np.array([0, np.nan], dtype=np.float32).reshape(2, 1, 1, 1)
FAULTS = [
    ({"classes": 1}, "classes is 1"),
    ({"classes": 10**9}, "classes is 1000000000; there may be at most 100000"),
    ({"x": np.zeros((2, 1, 1, 1, 1), dtype=np.uint8)}, r"x has the shape \(2, 1, 1, 1, 1\); it must be \(samples, ch"),
    ({"x": np.zeros(2, dtype=np.uint8)}, r"x has the shape \(2,\); it must be"),
    ({"x": np.zeros((2, 1, 1), dtype=np.uint8)}, r"x_test holds samples of shape \(1, 1, 1\)"),
    ({"x": np.zeros((0, 1, 1, 1), dtype=np.uint8)}, r"x has the shape \(0, 1, 1, 1\)"),
    ({"x": np.zeros((2, 1, 1, 1))}, "x has the type float64"),
    ({"x": NAN}, "x has 1 values that are not finite"),
    ({"x_test": NAN}, "x_test has 1 values"),
    ({"y": np.array([0, 1], dtype=np.int32)}, "y has the type int32"),
    ({"y": np.array([0])}, r"y has the shape \(1,\); it must be \(2,\)"),
    ({"y": np.array([0, 2])}, "y holds the label 2; labels go from 0 to 1"),
    ({"y_test": np.array([-1, 0])}, "y_test holds the label -1"),
    ({"x_test": np.zeros((2, 1, 1, 2), dtype=np.uint8)}, "x_test holds samples of shape"),
    ({"x_test": np.zeros((2, 1, 1, 1), dtype=np.float32)}, "type float32"),
    ({"mean": (0.5, 0.5)}, r"mean is \(0.5, 0.5\); it must be 1 finite"),
    ({"std": (float("inf"),)}, "std is"),
    ({"std": (0.0,)}, "more than 0"),
    ({"client": [0, 1]}, "client has the type list; it must be an array of int64"),
    ({"client": np.array([0.0, 1.0])}, "client has the type float64"),
    ({"client": np.array([0])}, r"client has the shape \(1,\); it must be \(2,\), the client of each sample of x"),
    ({"client": np.array([0, -1])}, "client holds the number -1; clients count from 0"),
]


@pytest.mark.parametrize(("change", "words"), FAULTS)
def test_a_wrong_dataset_is_one_sentence(change, words):
    with pytest.raises(ConfigError, match=words) as caught:
        replace(two_pixels(), **change).check()
    assert str(caught.value).startswith("The dataset 'two' can't be used: ")


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.array(["a", "b"]).reshape(2, 1, 1), np.array([0, 1]), "x has the type <U1"),
        (np.zeros((2, 1, 1)), np.array([0.0, 1.0]), "y has the type float64"),
        (np.full((2, 1, 1), 1e300), np.array([0, 1]), "x has 2 values that are not finite"),
        (np.zeros((2, 1, 1)), np.array([0, -4]), "y holds the label -4"),
        (np.zeros((2, 1, 1)), np.array([0, 10**9]), "y holds the label 1000000000; labels count from 0, and there may"),
        (np.zeros((0, 1, 1)), np.zeros(0, dtype=int), "none of them 0"),
    ],
)
def test_wrong_arrays_are_one_sentence(x, y, words):
    with pytest.raises(ConfigError, match=words):
        dataset_from_arrays("wrong", x, y, x, y)


def test_there_may_be_many_classes_and_few_samples_of_them():
    x = np.zeros((2, 1, 1))
    assert dataset_from_arrays("many", x, np.array([0, 99_999]), x, np.array([0, 1])).classes == 100_000


def test_vectors_are_normalised_feature_by_feature():
    x = np.array([[1, 5, 0], [3, 5, 10]])
    dataset = dataset_from_arrays("vectors", x, np.array([0, 1]), x, np.array([0, 1]))
    assert dataset.x.shape == (2, 3)
    assert dataset.mean == (2, 5, 5)
    assert dataset.std == (1, 1, 5)
    np.testing.assert_allclose(dataset.normalised(dataset.x), [[-1, 0, -1], [1, 0, 1]])


def test_signals_are_normalised_channel_by_channel_and_have_to_be_called_so():
    x = np.array([[[0, 2, 4], [7, 7, 7]], [[4, 2, 0], [9, 9, 9]]], dtype=np.float32)
    y = np.array([0, 1])
    signals = dataset_from_arrays("signals", x, y, x, y, kind="signals")
    assert signals.x.shape == (2, 2, 3)
    assert signals.mean == (2, 8)
    np.testing.assert_allclose(signals.normalised(x)[:, 1], [[-1] * 3, [1] * 3])
    assert dataset_from_arrays("images", x, y, x, y).x.shape == (2, 1, 2, 3)
    assert dataset_from_arrays("images", x, y, x, y, kind="images").x.shape == (2, 1, 2, 3)


@pytest.mark.parametrize(
    ("shape", "kind", "words"),
    [
        ((2, 3), "signals", r"x has the shape \(2, 3\), but signals have 3 axes"),
        ((2, 1, 4, 4), "vectors", r"but vectors have 2 axes"),
        ((2, 4), "images", r"but images have 4 axes"),
        ((2, 4), "sounds", r"kind is 'sounds'; it must be 'images', 'signals' or 'vectors'"),
    ],
)
def test_a_kind_that_does_not_fit_is_one_sentence(shape, kind, words):
    x, y = np.zeros(shape), np.array([0, 1])
    with pytest.raises(ConfigError, match=words):
        dataset_from_arrays("wrong", x, y, x, y, kind=kind)


def test_owners_are_whole_numbers():
    x, y = np.zeros((2, 4)), np.array([0, 1])
    assert dataset_from_arrays("owned", x, y, x, y, client=np.array([1, 0], dtype=np.uint8)).client.tolist() == [1, 0]
    with pytest.raises(ConfigError, match="client has the type float64; clients are whole numbers from 0"):
        dataset_from_arrays("wrong", x, y, x, y, client=np.array([0.0, 1.0]))
