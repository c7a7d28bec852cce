"""What this machine is called."""

import re
from pathlib import Path

from fallow.processors import name_processor


def describe_machine(sysfs: Path) -> str:
    """Returns the board's name where it has one, as a Raspberry Pi or a Jetson has, or else the processor's.

    Args:
        sysfs: Usually ``/sys``.
    """
    board = sysfs / "firmware" / "devicetree" / "base" / "model"
    if board.is_file():
        return board.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    return name_processor()


def short_name(words: str) -> str:
    """Returns words as a name of small letters, digits and hyphens.

    Args:
        words: Such as a machine's name.

    Examples:
        >>> short_name("Raspberry Pi 5 Model B Rev 1.0")
        'raspberry-pi-5-model-b-rev-1-0'
    """
    return "-".join(re.findall(r"[a-z0-9]+", words.lower())) or "device"
