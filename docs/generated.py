"""The pages that the program itself writes: configuration.md and commands.md, and the tables of devices.md.

python docs/generated.py
"""

import html
import re
import subprocess
import sys
from dataclasses import MISSING
from pathlib import Path

from fallow.energy.devices import Figure, list_profiles, list_radios
from fallow.experiment import annotated_toml
from fallow.experiment.choices import Choice, choices_in
from fallow.experiment.devices import DeviceClass
from fallow.experiment.sections import SECTIONS
from fallow.plugins.nested import thawed
from fallow.plugins.options import describe_options

DOCS = Path(__file__).parent
NOTE = "<!-- Written by docs/generated.py; changes here are lost. -->\n"

CONFIGURATION = """# Configuration

An experiment is a TOML file; what it leaves out keeps its default, and the defaults are the paper's numbers.
`fallow config > mine.toml` writes a file with every setting and its meaning (`--policy fedbacys` with those of another
policy, and so on); `--set key=value` changes one for one run.
A name that does not exist, a value of the wrong type or out of range, and two settings that can't be together are
refused in a sentence before anything runs.

A *reading* with a number is an entry of [Reading the paper](reading-the-paper.md). Where a setting names something,
`module:Class` takes your own: see [Bring your own](bring-your-own.md).
"""

DEVICE = """A class of devices: `[[device]]` in TOML, as many as you like; `device=[{…}, …]` in Python. Every
key may be left out. [Devices in joules](devices.md) explains them.
"""

COMMANDS = """# Commands

A wrong input is one sentence and exit code 2. Ctrl-C stops a run with exit code 130; `fallow resume` goes on with it.

| exit code | meaning |
|---|---|
| 0 | all went well |
| 1 | a run of a sweep failed, `fallow check` found a fault, or `fallow verify` damage; what it is was printed |
| 2 | what you gave can't be used, or the machine can't do it (memory, disk, rights); the one sentence says why |
| 70 | a bug in Fallow: a sentence with its place, and a line that says what to send |
| 130 | stopped with Ctrl-C |
| 143 | stopped with SIGTERM, as a shell shows it |

`FALLOW_TRACEBACK=1` in the environment adds the traceback to any error, for the report of a bug or for your own code.
"""


def configuration() -> str:
    """Returns configuration.md, from `annotated_toml` and the options of everything that has a name."""
    first, *rest = annotated_toml().split("\n[")
    parts = [NOTE, CONFIGURATION, "## The run\n", _table(_settings(first))]
    for section in rest:
        name, _, body = section.partition("]\n")
        settings = _settings(body, f"{name}.")
        own = [row for row in settings if row[0].removeprefix(f"{name}.") in SECTIONS[name].model_fields]
        parts += [f"## {name}\n", f"{_first_line(SECTIONS[name])}\n", _table(own)]
        parts += [_options(choice) for choice in choices_in(name)]
    fields = {key: field for key, field in DeviceClass.model_fields.items() if key != "stated"}
    lines = [f"| `{key}` | {_cell(field.description or '')} |" for key, field in fields.items()]
    parts += ["## device\n", DEVICE, "\n".join(["| key | meaning |", "|---|---|", *lines]) + "\n"]
    return "\n".join(part for part in parts if part)


def devices() -> str:
    """Returns devices.md with its tables of radios and profiles as the library has them."""
    page = (DOCS / "devices.md").read_text(encoding="utf-8")
    radios = [
        (f"`{radio.name}`", key, figure)
        for radio in list_radios().values()
        for key, figure in (("joules_per_bit", radio.joules_per_bit), ("bits_per_second", radio.bits_per_second))
    ]
    page = _between(page, "radios", _figures("radio", radios))
    profiles = [
        (f"`{name}`", key, figure) for name, one in list_profiles().items() for key, figure in one.figures.items()
    ]
    lines = [f"- `{name}`: {one.line} Radio: `{one.radio}`." for name, one in list_profiles().items()]
    return _between(page, "profiles", "\n".join(lines) + "\n\n" + _figures("profile", profiles))


def _figures(what: str, rows: list[tuple[str, str, Figure]]) -> str:
    lines = [f"| {name} | `{key}` | {figure.value:g} | {_cell(figure.origin)} |" for name, key, figure in rows]
    return "\n".join([f"| {what} | figure | value | source |", "|---|---|---|---|", *lines])


def _between(page: str, mark: str, text: str) -> str:
    before, found, after = page.partition(f"<!-- {mark} -->\n")
    return f"{before}{found}{text}\n<!-- end -->{after.partition('<!-- end -->')[2]}"


def commands() -> str:
    """Returns commands.md, from Typer's own description of the program."""
    ask = [sys.executable, "-m", "typer", "fallow.cli", "utils", "docs", "--name", "fallow"]
    text = subprocess.run(ask, check=True, capture_output=True, encoding="utf-8").stdout  # noqa: S603
    text = html.unescape(text)
    helps = dict(re.findall(r"^#+ `(fallow [^`]+)`\n\n(.+)$", text, re.MULTILINE))
    lines, command = [], "fallow"
    for line in text.splitlines()[1:]:
        if heading := re.match(r"#+ `(.+)`", line):
            command = heading[1]
        # Typer cuts the help of a command short in the list of commands.
        if (item := re.match(r"\* `([a-z-]+)`: ", line)) and f"{command} {item[1]}" in helps:
            line = f"* `{item[1]}`: {helps[f'{command} {item[1]}']}"
        lines.append(line.replace("  [", " ["))
    return f"{NOTE}\n{COMMANDS}" + "\n".join(lines).rstrip() + "\n"


def _settings(body: str, prefix: str = "") -> list[tuple[str, str, str]]:
    """Returns (setting, default, meaning) of each pair of lines."""
    pairs = re.findall(r"^# (.*)\n(\w+) = (.*)$", body, re.MULTILINE)
    return [(prefix + name, default, meaning) for meaning, name, default in pairs]


def _options(choice: Choice) -> str:
    """Returns a table of the options that come with each name of a choice; of those that have any."""
    own = SECTIONS[choice.section].model_fields
    rows = [
        (f"{choice.section}.{option}", _toml(default), meaning or "", name)
        for name, cls in choice.table.items()
        for option, (default, meaning) in describe_options(cls).items()
        if option not in own
    ]
    if not rows:
        return ""
    head = f"Further settings, by what `{choice.section}.{choice.field}` is:\n\n"
    lines = [f"| `{name}` | `{setting}` | {default} | {_cell(meaning)} |" for setting, default, meaning, name in rows]
    return head + "\n".join([f"| {choice.field} | setting | default | meaning |", "|---|---|---|---|", *lines]) + "\n"


def _toml(default: object) -> str:
    if default is MISSING:
        return "must be given"
    return f'`"{default}"`' if isinstance(default, str) else f"`{str(thawed(default)).lower()}`"


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| `{setting}` | `{default}` | {_cell(meaning)} |" for setting, default, meaning in rows]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *lines]) + "\n"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("_", "\\_")


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").split("\n")[0]


PAGES = {"configuration.md": configuration, "commands.md": commands, "devices.md": devices}

if __name__ == "__main__":
    for page, write in PAGES.items():
        (DOCS / page).write_text(write(), encoding="utf-8")
