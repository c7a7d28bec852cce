import tomllib
from pathlib import Path

import numpy as np
import pytest

from fallow.energy.trace import Trace, read_trace
from fallow.errors import TraceError
from fallow.experiment import annotated_toml


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "trace.csv"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def rows(model: Trace, epoch: int, clients: int, slots: int) -> list[list[int]]:
    return np.array(list(model.prepare(0, clients, slots)(epoch))).tolist()


def test_a_column_for_each_client(write) -> None:
    model = Trace(write("a,b\n1,0\n2,3\n0,4\n"))
    assert rows(model, 0, 2, 2) == [[1, 0], [2, 3]]


def test_one_column_serves_all_with_and_without_a_header(write) -> None:
    assert rows(Trace(write("units\n1\n2\n")), 0, 3, 2) == [[1, 1, 1], [2, 2, 2]]
    assert rows(Trace(write("1\n2\n")), 0, 3, 2) == [[1, 1, 1], [2, 2, 2]]


def test_it_repeats_across_epochs(write) -> None:
    model = Trace(write("u\n1\n2\n3\n"))
    assert rows(model, 1, 1, 2) == [[3], [1]]
    assert rows(model, 2, 1, 2) == [[2], [3]]


def test_it_ends_in_zeros_if_so_configured(write) -> None:
    model = Trace(write("u\n1\n2\n3\n"), end="zeros")
    assert rows(model, 1, 1, 2) == [[3], [0]]
    assert rows(model, 9, 1, 2) == [[0], [0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,nan\n", "line 2, column 'b': 'nan' is not a finite number"),
        ("a,b\n1,0\n-1,0\n", "line 3, column 'a': -1 is negative"),
        ("a,b\n1,0.5\n", "line 2, column 'b': 0.5 is not a whole number"),
        ("a,b\n1,2.0\n", "line 2, column 'b': 2.0 is not a whole number"),
        ("a,b\n1,\n", "line 2, column 'b': the cell is empty"),
        ("a,b\n1\n", "line 2: 1 cells where line 1 has 2"),
        ("a,b\n1,2,3\n", "line 2: 3 cells where line 1 has 2"),
        ("a,b\n1,x\n", "line 2, column 'b': 'x' is not a number"),
        ("a,b\n1,2000000000\n", "line 2, column 'b': 2000000000 is more than 1000000000 units"),
        ("a\n1\n\n2\n", "line 3, column 'a': the cell is empty"),
        ("1,2\n3,4\n", "has 2 columns and no header"),
        ("a,b\n", "holds no slots"),
        ("", "holds no slots"),
        ("a,b,c\n1,2,3\n", "has 3 columns for 2 clients"),
    ],
)
def test_a_bad_cell_is_named(write, text: str, words: str) -> None:
    with pytest.raises(TraceError, match=words.replace("(", r"\(")):
        Trace(write(text)).prepare(0, 2, 30)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"The trace .*nowhere\.csv can't be read: No such file or directory\.$"):
        Trace(str(tmp_path / "nowhere.csv")).prepare(0, 2, 30)


def test_the_path_that_a_printed_config_leaves_open_is_asked_for() -> None:
    printed = tomllib.loads(annotated_toml(energy="trace"))["energy"]["path"]
    with pytest.raises(TraceError, match=r"set energy\.path"):
        Trace(printed).prepare(0, 2, 30)


@pytest.mark.parametrize(
    "content", [b"a\n" + 9000 * b"1\n" + b"\xff\n", 200_000 * b"x", b"a\n" + 200_000 * b"x", b"a\n" + 9000 * b"x"]
)
def test_junk_is_one_short_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(content)
    with pytest.raises(TraceError, match=r"trace\.csv") as caught:
        Trace(str(path)).prepare(0, 2, 30)
    assert len(str(caught.value)) < len(str(path)) + 200


def test_a_binary_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(TraceError, match="can't be read"):
        Trace(str(path)).prepare(0, 2, 30)


@pytest.mark.parametrize("text", ["3\n1\n2\n", "a,b\n3,4\n1,0\n2,9\n"])
def test_a_byte_order_mark_is_no_part_of_the_first_cell(text: str, tmp_path: Path) -> None:
    plain, marked = tmp_path / "plain.csv", tmp_path / "marked.csv"
    plain.write_text(text, encoding="utf-8")
    marked.write_text(text, encoding="utf-8-sig")
    assert np.array_equal(read_trace(marked), read_trace(plain))
    assert len(read_trace(marked)) == 3
