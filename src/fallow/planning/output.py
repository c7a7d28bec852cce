"""The files of a plan: plan.json, plan.csv and plan.png."""

import csv
import io
import json
from pathlib import Path

from fallow.errors import RunDirectoryError
from fallow.planning.result import Plan, flat
from fallow.runs.layout import as_folder, check_place
from fallow.storage.files import write_atomically

DOCUMENT, TABLE, PICTURE = "plan.json", "plan.csv", "plan.png"


def check_output(out: str | Path) -> None:
    """Checks that a plan can be written to a folder, before the work begins.

    Args:
        out: The folder; it need not exist.

    Raises:
        ConfigError: `out` is no path.
        RunDirectoryError: It is a file, or below one.
    """
    check_place(as_folder(out, "out"))


def write_plan(plan: Plan, out: str | Path) -> tuple[Path, ...]:
    """Writes the files of a plan, each in one step, and returns where they are.

    Args:
        plan: What was found.
        out: The folder; files of an earlier plan are replaced.

    Raises:
        RunDirectoryError: The folder can't be written to.
    """
    folder = as_folder(out, "out")
    image = io.BytesIO()
    plan.plot().savefig(image, format="png", dpi=200)
    contents = {
        DOCUMENT: (json.dumps(plan.document(), indent=2, ensure_ascii=False) + "\n").encode(),
        TABLE: table_as_csv(plan),
        PICTURE: image.getvalue(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_atomically(folder / name, content, durable=False)
    except OSError as error:
        raise RunDirectoryError(f"The plan can't be written to {folder}: {error.strerror or error}.") from error
    return tuple(folder / name for name in contents)


def table_as_csv(plan: Plan) -> bytes:
    """Returns the candidates as CSV, the given device first.

    Args:
        plan: What was found.
    """
    rows = [flat(candidate) for candidate in plan.candidates]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
