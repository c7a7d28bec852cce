"""Made-up machines: folders with the files that Linux shows of meters, and a command like a Raspberry Pi's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PMIC = """\
 VDD_CORE_A current(7)=2.00000000A
   3V3_SYS_A current(1)=0.50000000A
 VDD_CORE_V volt(15)=0.80000000V
   3V3_SYS_V volt(9)=3.20000000V
     EXT5V_V volt(24)=5.10000000V
      BATT_V volt(25)=0.00500000V
"""
"""2 A × 0.8 V + 0.5 A × 3.2 V = 3.2 W; the two others have no amperes."""


def fill(folder: Path, **files: object) -> Path:
    """Writes a file for each name and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n")
    return folder


def rapl_zone(sysfs: Path, zone: str, name: str, energy: int = 0, most: int = 262_143_328_850) -> Path:
    folder = sysfs / "class" / "powercap" / f"intel-rapl:{zone}"
    return fill(folder, name=name, energy_uj=energy, max_energy_range_uj=most)


def ina3221(sysfs: Path, number: int = 0, **files: object) -> Path:
    return fill(sysfs / "class" / "hwmon" / f"hwmon{number}", name="ina3221", **files)


def battery(sysfs: Path, name: str = "BAT0", **files: object) -> Path:
    common = {"type": "Battery", "status": "Discharging"}
    return fill(sysfs / "class" / "power_supply" / name, **common | files)


def vcgencmd(folder: Path, script: str) -> str:
    """Writes a shell script and returns its path."""
    path = folder / "vcgencmd"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def answering(answer: str) -> str:
    """A script that prints an answer when it is asked for the chip's readings."""
    return f"test \"$1\" = pmic_read_adc || exit 9\ncat <<'END'\n{answer}END"


@contextmanager
def without_rights() -> Iterator[None]:
    """Lets this process read only what everybody may read, also where root runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
