"""Which code decides what a run comes to, as a hash: it tells whether a result was made by another version.

The rooms that every run goes through count for all. Of the things with a name (policies, datasets, rules, …) only those
that the run uses count, so a new policy leaves the results of the others as they are. Comments, docstrings, imports and
the tables of names decide nothing, and are left out.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from inspect import getsource
from pathlib import Path
from uuid import uuid4

from fallow.experiment import Experiment
from fallow.experiment.choices import CHOICES
from fallow.plugins.objects import known_only_here

PACKAGE = Path(__file__).parents[2]
ROOMS = ("energy", "policies", "data", "models", "objectives", "aggregation", "learning", "simulation")
COMMON = ("rng", "paper", "arrays", *ROOMS)
"""The modules and rooms that decide what a run comes to."""

BESIDE = ("fallow.policies.check",)
"""Modules in those rooms that no run goes through."""

NAMES = "dict[str, type]"
"""The type of a table of names."""


def code_fingerprint(experiment: Experiment) -> str:
    """Returns a hash of the code that decides what an experiment comes to, in hexadecimal.

    Args:
        experiment: What is run. Where the source of a class of the user's can't be read, the hash is a new one each
            time, because nothing tells whether the class has changed.

    Examples:
        >>> from fallow.policies import FedAvg, VAoI
        >>> one, other = (code_fingerprint(Experiment(policy=policy)) for policy in (VAoI(k=5), FedAvg()))
        >>> one == code_fingerprint(Experiment()), one == other
        (True, False)
    """
    parts = [experiment.build(choice.section, choice.field) for choice in CHOICES]
    own = _with_imports(type(part).__module__ for part in parts)
    texts = [_read_code(module) for module in sorted(own | _common_modules())]
    texts += [_read_class(type(part)) for part in parts if not type(part).__module__.startswith("fallow.")]
    return sha256("\0".join(texts).encode()).hexdigest()


def strip_code(source: str) -> str:
    r"""Returns a Python text without what decides nothing: comments, docstrings, imports, tables of names, empty lines.

    The text is cut, not written anew, so that every version of Python gives the same.

    Args:
        source: Of a module or class.

    Examples:
        >>> print(strip_code('import os  # why\nx = 1  # one\n"The number."\n'))
        x = 1
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and _decides_nothing(node):
            for row in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _decides_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.annotation) == NAMES
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, ast.Import | ast.ImportFrom)


@cache
def _named_modules() -> frozenset[str]:
    """Returns the modules that hold a thing with a name."""
    return frozenset(cls.__module__ for choice in CHOICES for cls in choice.table.values())


@cache
def _common_modules() -> frozenset[str]:
    """Returns the modules that every run goes through, without those of things with a name."""
    paths = [path for place in COMMON for path in (PACKAGE / f"{place}.py", *(PACKAGE / place).rglob("*.py"))]
    modules = {_module_of(path) for path in paths if path.is_file()}
    return frozenset(modules - _named_modules() - {*BESIDE})


def _with_imports(modules: Iterable[str]) -> frozenset[str]:
    """Returns those of some modules that hold things with a name, and others of that kind that they build on."""
    found: set[str] = set()
    left = [module for module in modules if module in _named_modules()]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            tree = ast.parse(_path_of(module).read_text(encoding="utf-8"))
            imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            left += [name for name in imported if name in _named_modules()]
    return frozenset(found)


@cache
def _read_code(module: str) -> str:
    return f"{module}\n{strip_code(_path_of(module).read_text(encoding='utf-8'))}"


def _read_class(cls: type) -> str:
    """Returns the source of a class from outside the package: its whole module, or the class where there is none."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    try:
        text = getsource(cls)
        if not known_only_here(name):
            text = getsource(sys.modules[cls.__module__])
    except (OSError, TypeError, KeyError):
        text = uuid4().hex
    return f"{name}\n{text}"


def _path_of(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
