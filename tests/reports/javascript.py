"""Lints the scripts of the report's page with Biome, which npm installs beside its settings.

    python -m tests.reports.javascript          what is wrong, a line each
    python -m tests.reports.javascript --fix    put the scripts and styles in shape first

The scripts share one scope, so they are linted as the page carries them, joined: a name that no script declares, and
one that no script uses, are both found. A complaint names the file and the line where it stands.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fallow.reports import page

TOOL = Path(__file__).parent / "biome"
PAGE = Path(page.__file__).parent / "page"
COMPLAINT = re.compile(r"::\w+ title=([\w/]+),file=(.+?),line=(\d+),endLine=\d+,col=(\d+),endColumn=\d+::(.*)")

OFFLINE = re.compile(
    r"^npm error code (E(?:AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|TIMEDOUT))$", re.M
)


class BiomeMissingError(Exception):
    """Biome is not here and cannot be installed."""


def find_biome() -> Path:
    """Returns the program, which npm installs when its pinned version is not there yet.

    Raises:
        BiomeMissingError: If npm is not installed, or reaches no registry.
        RuntimeError: If npm fails for any other reason.
    """
    pinned = json.loads((TOOL / "package.json").read_text(encoding="utf-8"))["devDependencies"]["@biomejs/biome"]
    manifest = TOOL / "node_modules" / "@biomejs" / "biome" / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text(encoding="utf-8"))["version"] != pinned:
        npm = shutil.which("npm")
        if npm is None:
            raise BiomeMissingError("the program npm is not installed, so the report's scripts are not linted")
        # Biome pins its one dependency, the program for this machine, itself: a lock file would add nothing.
        options = ["--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
        done = subprocess.run([npm, "install", *options], cwd=TOOL, capture_output=True, text=True, check=False)
        if code := OFFLINE.search(done.stderr):
            raise BiomeMissingError(
                f"npm cannot reach its registry ({code[1]}), so the report's scripts are not linted"
            )
        if done.returncode:
            raise RuntimeError(f"npm cannot install Biome {pinned}:\n{done.stderr}")
    return TOOL / "node_modules" / ".bin" / "biome"


def lint(biome: Path, scripts: dict[str, str]) -> list[str]:
    """Returns what Biome finds in scripts, each with a scope of its own, as 'name:line:column rule: words'."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(TOOL / "biome.json", folder)
        for name, text in scripts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [biome, "lint", "--error-on-warnings", "--max-diagnostics=none", "--reporter=github", "."]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = [
        f"{Path(file).name}:{line}:{column} {rule}: {words}"
        for rule, file, line, column, words in COMPLAINT.findall(done.stdout)
    ]
    if done.returncode and not found:
        raise RuntimeError(f"Biome failed without a complaint:\n{done.stdout}{done.stderr}")
    return found


def lint_page(biome: Path) -> list[str]:
    """Returns what Biome finds in the page's scripts, with the file and the line where it stands."""
    joined = page.join_scripts()
    found = lint(biome, {"joined.js": joined, "theme.js": (PAGE / "theme.js").read_text(encoding="utf-8")})
    return [_locate(complaint, joined) for complaint in found]


def check_format(biome: Path) -> list[str]:
    """Returns what Biome would write otherwise in the scripts and styles of the page."""
    command = [biome, "format", f"--config-path={TOOL}", "--max-diagnostics=none", "--colors=off", PAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [done.stderr] if done.returncode else []


def _locate(complaint: str, joined: str) -> str:
    """Returns a complaint about the joined script as one about the file that its line comes from."""
    name, line, rest = complaint.split(":", 2)
    if name != "joined.js":
        return complaint
    for script in page.SCRIPTS:
        text = (PAGE / script).read_text(encoding="utf-8")
        first = joined[: joined.index(text)].count("\n")
        if first < int(line) <= first + text.count("\n"):
            return f"{script}:{int(line) - first}:{rest}"
    return complaint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="put the scripts and styles in shape first")
    fix = parser.parse_args().fix
    try:
        biome = find_biome()
    except BiomeMissingError as error:
        print(f"Skipped: {error}.")
        return 0
    if fix:
        subprocess.run([biome, "format", "--write", f"--config-path={TOOL}", PAGE], check=True)
    found = [*lint_page(biome), *check_format(biome)]
    print("\n".join(found) or "The report's scripts are clean.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
