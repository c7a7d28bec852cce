"""What this machine is called."""

import platform
import re
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def describe_machine(sysfs: Path) -> str:
    """Returns the board's name where it has one, as a Raspberry Pi or a Jetson has, or else the processor's.

    Args:
        sysfs: Usually ``/sys``.
    """
    board = sysfs / "firmware" / "devicetree" / "base" / "model"
    if board.is_file():
        return board.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    if CPUINFO.is_file():
        found = re.search(r"^model name\s*: (.+)$", CPUINFO.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        if found:
            return " ".join(found[1].split())
    return platform.processor() or platform.machine()


def short_name(words: str) -> str:
    """Returns words as a name of small letters, digits and hyphens.

    Args:
        words: Such as a machine's name.

    Examples:
        >>> short_name("Raspberry Pi 5 Model B Rev 1.0")
        'raspberry-pi-5-model-b-rev-1-0'
    """
    return "-".join(re.findall(r"[a-z0-9]+", words.lower())) or "device"
