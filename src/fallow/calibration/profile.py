"""The file of a device profile: written whole or not at all."""

import os
from pathlib import Path

from fallow.errors import ConfigError
from fallow.storage.files import write_atomically


def check_out(out: Path | str, *, overwrite: bool) -> None:
    """Checks that a file can be written, before anything is measured for it.

    Args:
        out: The file.
        overwrite: Whether one that is there may be replaced.

    Raises:
        ConfigError: It can't.
    """
    if not isinstance(out, str | Path):
        raise ConfigError(f"out = {out!r} must be the path of a file, as in out='device.toml'.")
    path = Path(out)
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a file, as in out='{path / 'device.toml'}' (--out).")
    if not path.parent.is_dir():
        raise ConfigError(f"There is no folder {path.parent} for {path.name}; make it, or choose another out (--out).")
    if path.exists() and not overwrite:
        raise ConfigError(
            f"{path} is there already; choose another out (--out), or replace it with overwrite=True (--overwrite)."
        )
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"The folder {path.parent} can't be written to; choose another out (--out).")


def write_profile(path: Path, text: str, *, overwrite: bool) -> Path:
    """Writes a profile and returns its path.

    Args:
        path: The file.
        text: The profile in TOML.
        overwrite: Whether a file that is there may be replaced.

    Raises:
        ConfigError: It can't be written.
    """
    check_out(path, overwrite=overwrite)
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror or error}; choose another out (--out).") from error
    return path
