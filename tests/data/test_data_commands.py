"""The commands of ``fallow data``."""

import pytest
from tiny_cifar10 import binary_files, local_source, tiny_arrays, write_folder
from typer.testing import CliRunner

from fallow.cli.data import data_app
from fallow.data.cifar10 import Cifar10
from fallow.errors import ConfigError, DataError


def run(*words):
    return CliRunner().invoke(data_app, [str(word) for word in words])


def test_fetch_from_a_folder_then_list(tiny, tmp_path):
    given = write_folder(tmp_path / "bin", binary_files(tiny_arrays()))
    before = run("list", "--data-dir", tmp_path / "cache")
    assert "not fetched" in next(line for line in before.output.splitlines() if line.startswith("cifar10"))
    result = run("fetch", "cifar10", "--data-dir", tmp_path / "cache", "--from", given)
    assert result.exit_code == 0
    assert f"cifar10 is ready in {tmp_path / 'cache' / tiny.name}." in result.output.replace("\n", "")
    after = run("list", "--data-dir", tmp_path / "cache")
    line = next(line for line in after.output.splitlines() if line.startswith("cifar10"))
    assert "fetched" in line
    assert "not fetched" not in line


def test_fetch_fills_the_folder_of_the_environment_variable(tiny, tmp_path, monkeypatch):
    from dataclasses import replace

    source = local_source("the mirror", binary_files(tiny_arrays()))
    monkeypatch.setattr(Cifar10, "published", replace(tiny, sources=(source,)))
    monkeypatch.setenv("FALLOW_DATA_DIR", str(tmp_path / "mine"))
    assert run("fetch", "cifar10").exit_code == 0
    assert (tmp_path / "mine" / "cifar10" / "x.npy").is_file()


def test_a_wrong_folder_is_a_sentence_for_the_main_program_to_show(tmp_path):
    result = run("fetch", "cifar10", "--data-dir", tmp_path, "--from", tmp_path)
    assert isinstance(result.exception, DataError)
    assert "does not hold CIFAR-10" in str(result.exception)


@pytest.mark.parametrize("name", ["cifar10", "fashion-mnist"])
def test_a_junk_file_is_one_sentence(name, tmp_path):
    (tmp_path / "junk").write_text("hello")
    result = run("fetch", name, "--data-dir", tmp_path, "--from", tmp_path / "junk")
    assert isinstance(result.exception, DataError)
    assert str(result.exception) == f"{tmp_path}/junk is no whole tar archive; it is cut or damaged, or something else."


def test_label_mix_draws_a_picture(tmp_path):
    out = tmp_path / "mix.png"
    result = run("label-mix", "digits", "--clients", 20, "--samples-per-client", 30, "--alpha", 0.5, "--out", out)
    assert result.exit_code == 0, result.exception
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("partition", ["iid", "one-class"])
def test_label_mix_draws_any_partition(tmp_path, partition):
    out = tmp_path / "mix.svg"
    assert (
        run(
            "label-mix", "digits", "--clients", 10, "--samples-per-client", 15, "--partition", partition, "--out", out
        ).exit_code
        == 0
    )
    assert out.read_text().startswith("<?xml")


def test_label_mix_draws_unequal_clients_and_natural_ones(tmp_path):
    out = tmp_path / "mix.svg"
    result = run("label-mix", "digits", "--clients", 10, "--sizes", "lognormal", "--spread", 0.5, "--out", out)
    assert result.exit_code == 0, result.exception
    assert run("label-mix", "sensors", "--partition", "natural", "--out", tmp_path / "worn.png").exit_code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("digits", "--clients", 100, "--samples-per-client", 300), "need 30000 training samples"),
        (("digits", "--alpha", 0), "alpha = 0.0 must be more than 0"),
        (("digits", "--partition", "iid", "--alpha", 1), "has no option 'alpha'"),
        (("digit",), "did you mean 'digits'"),
        (("digits", "--partition", "natural"), "does not say which client each sample belongs to"),
        (("sensors", "--partition", "natural", "--clients", 7), "has the samples of 100 clients, but clients = 7"),
    ],
)
def test_what_can_not_be_is_a_sentence(tmp_path, words, sentence):
    result = run("label-mix", *words, "--out", tmp_path / "mix.png")
    assert isinstance(result.exception, ConfigError)
    assert sentence in str(result.exception)
    assert not (tmp_path / "mix.png").exists()
