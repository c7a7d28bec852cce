"""Files and texts that users give: never waited for, read within limits."""

import os
from pathlib import Path

import pytest

from fallow.errors import ConfigError, DataError, TraceError
from fallow.experiment.settings import read_settings
from fallow.storage.reading import open_file, parse_toml, read_toml


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "mark.toml").write_bytes(b"\xef\xbb\xbfseed = 1\r\n")
    assert read_settings(tmp_path / "mark.toml") == {"seed": 1}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "it is a pipe, and a file is needed."),
        (os.mkdir, "it is a folder, and a file is needed."),
        (lambda path: os.symlink("/dev/zero", path), "it is a device, and a file is needed."),
        (lambda path: os.symlink(path, path), "Too many levels of symbolic links."),
        (lambda _: None, "No such file or directory."),
    ],
    ids=["pipe", "folder", "device", "loop", "nothing"],
)
@pytest.mark.parametrize("error", [DataError, TraceError])
def test_what_is_no_file_is_refused_at_once(make, words, error, tmp_path: Path) -> None:
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(error) as caught:
        open_file(path, "The trace", error)
    assert str(caught.value) == f"The trace {path} can't be read: {words}"


def test_a_path_with_nul_is_no_file() -> None:
    with pytest.raises(DataError, match=r"can't be read: no file can have this name\.$"):
        open_file(Path("a\0b"), "The dataset", DataError)


def test_a_file_beyond_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "vast").open("wb") as file:
        file.truncate(2**43)  # with holes: it takes no disk
    with pytest.raises(
        TraceError, match=r"vast takes 8\.8 TB of memory, and this machine has .* GB; give a smaller file"
    ):
        open_file(tmp_path / "vast", "The trace", TraceError)


def test_a_text_too_long_for_a_config_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(ConfigError, match=r"long\.toml has more than 64 MB; that is no text in TOML\."):
        read_toml(tmp_path / "long.toml", "The config", ConfigError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed = 0x" + "f" * 5000, "seed, a whole number of about 6021 digits, must be at most 9223372036854775807."),
        ("seed = -9223372036854775809", "must be at least -9223372036854775807."),
        ("[sgd]\nlr = 1e300", "sgd.lr = 1e+300 must be at most 3.4028234e+38, the limit of float32."),
        ("a = " + "[" * 5000, "There are more than 16 tables or lists inside each other."),
        ("a" + ".a" * 5000 + " = 1", "lies in more than 16 tables or lists inside each other; no setting does."),
        ('[energy]\npath = "a\\u0000b"', "energy.path = 'a\\x00b' holds the character NUL"),
        ('"a\\u0000b" = 1', "A name = 'a\\x00b' holds the character NUL"),
        ("a = " + "9" * 5000, "A number is none that can be read (Exceeds the limit (4300 digits)"),
    ],
)
def test_what_no_setting_can_hold_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, "The config mine.toml", ConfigError)
    assert str(caught.value).startswith("The config mine.toml can't be used: ")
    assert words in str(caught.value)


def test_what_is_no_toml_is_said_in_one_line() -> None:
    with pytest.raises(ConfigError, match=r"^The config is not valid TOML: .*\.$") as caught:
        parse_toml("a = \x01\n" + "x" * 5000, "The config", ConfigError)
    assert len(str(caught.value)) < 200
