"""Counting and drawing who has what."""

import numpy as np
import pytest

from fallow.data.label_mix import draw_label_mix, label_mix
from fallow.errors import ConfigError, DataError


def test_the_labels_of_each_client_are_counted():
    y = np.array([0, 2, 2, 1, 0])
    parts = np.array([[1, 2], [0, 3]])
    assert label_mix(y, parts, 3).tolist() == [[0, 0, 2], [1, 1, 0]]


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_ending_decides_the_format(tmp_path, ending, magic):
    path = tmp_path / f"mix{ending}"
    draw_label_mix(np.array([[3, 0, 1], [0, 4, 0]]), path, r"a title, $\frac$")
    assert path.read_bytes().startswith(magic)


def test_a_class_that_a_client_lacks_is_white_and_more_samples_are_darker(tmp_path):
    from PIL import Image

    draw_label_mix(np.tile([[0, 1, 300]], (100, 1)), tmp_path / "mix.png")
    with Image.open(tmp_path / "mix.png") as picture:
        grey = np.asarray(picture.convert("L"), dtype=int)
    column = grey[:, grey.shape[1] // 2]
    shades, pixels = np.unique(column, return_counts=True)
    white, light, dark = (value for value in sorted(shades[pixels > 15], reverse=True))
    assert white == 255
    assert dark < 100 < light < 250


@pytest.mark.parametrize("shape", [(1, 2), (25, 12), (26, 100), (2000, 10)])
def test_any_number_of_clients_and_classes_can_be_drawn(tmp_path, shape):
    draw_label_mix(np.ones(shape, dtype=np.int64), tmp_path / "mix.png")
    assert (tmp_path / "mix.png").stat().st_size > 1000


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"must end in one of \.png, \.pdf, \.svg"):
        draw_label_mix(np.ones((2, 2), dtype=np.int64), tmp_path / "mix.gif")


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="can't be written: No such file"):
        draw_label_mix(np.ones((2, 2), dtype=np.int64), tmp_path / "no" / "mix.png")
