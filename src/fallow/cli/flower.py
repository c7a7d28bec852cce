"""``fallow flower``: a Flower app to begin with, keys for a real federation, and its nodes."""

import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tomli_w
import typer

from fallow.cli.screen import console, errors
from fallow.errors import ConfigError
from fallow.experiment.settings import override
from fallow.flower.deploy.supervisor import supervise
from fallow.flower.node.warm import with_warm_program

flower_app = typer.Typer(help="Begin a Flower app, make its keys, and keep its nodes running.", no_args_is_help=True)

QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}
"""Without these, Flower tells its makers of each start, asks them for news, and installs packages."""

OLD_SESSION = 70.0
"""Seconds before a SuperNode is started again: the 60 for which Flower takes a dead one for alive, and some more.

Any sooner, and it may be refused. Worse, it may be let in just as its old session ends, before the server has looked:
then nobody notices that the order it died over is lost, and the server waits for an answer as long as it ever would.
"""

PRIVATE_KEY = b"BEGIN OPENSSH PRIVATE KEY"
ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}")

NOT_INSTALLED = "Flower is not installed; run pip install 'fallow[flower]'."


@flower_app.command()
def new(
    directory: Annotated[Path, typer.Argument(help="The app's directory; it must be empty, or not there.")],
) -> None:
    """Write a Flower app that runs at once, in simulation and on real nodes."""
    with needing_flower():
        from fallow.flower.deploy.scaffold import write_app
    write_app(directory)
    console.print(f"The app is in {directory}; its README.md has every command.", highlight=False, markup=False)


@flower_app.command()
def keys(
    directory: Annotated[Path, typer.Argument(help="The app's directory; the keys go to keys/ in it.")],
    nodes: Annotated[int, typer.Option(min=0, help="How many nodes have keys afterwards.")] = 3,
    host: Annotated[
        list[str] | None,
        typer.Option(help="A name or address of the server, beside localhost; may be repeated.", show_default=False),
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=36_500, help="How long the certificates hold.")] = 365,
) -> None:
    """Make what is missing of a federation's keys: authority, server, nodes. None is ever written over."""
    with needing_flower():
        from fallow.flower.deploy.keys import make_keys
    if not directory.is_dir():
        raise ConfigError(f"{directory} is no directory; `fallow flower new` makes an app's.")
    made = make_keys(directory / "keys", nodes, host or (), days)
    for path in made:
        console.print(str(path), highlight=False, markup=False)
    if not made:
        console.print(f"All keys are in {directory / 'keys'} already.", highlight=False, markup=False)


@flower_app.command()
def node(
    key: Annotated[Path, typer.Argument(help="The node's private key.")],
    number: Annotated[
        int | None, typer.Option(min=0, help="Which of an experiment's clients it is.", show_default=False)
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option(help="Its own name; else it goes by its number, or its key's name.", show_default=False),
    ] = None,
    superlink: Annotated[str, typer.Option(help="Where the SuperLink is, as host:port.")] = "127.0.0.1:8000",
    ca: Annotated[
        Path | None, typer.Option(help="The authority's certificate; else ca.crt beside the key.", show_default=False)
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option("--dir", help="Where it keeps its memory; else nodes/ and its key's name.", show_default=False),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="More of its node config, for your own app; may be repeated.", show_default=False
        ),
    ] = None,
    warm: Annotated[
        bool, typer.Option("--warm", help="Keep a process in memory that has everything loaded and answers at once.")
    ] = False,
) -> None:
    """Keep a SuperNode running: start it again when it dies or is refused, until Ctrl-C."""
    authority = ca or key.with_name("ca.crt")
    for path in (key, authority):
        if not path.is_file():
            raise ConfigError(f"{path} is not there; `fallow flower keys` makes keys.")
    # What can never work is refused here: the supervisor would start it for ever.
    try:
        content = key.read_bytes()
    except OSError as error:
        raise ConfigError(f"{key} can't be read: {error.strerror or error}.") from error
    if PRIVATE_KEY not in content:
        raise ConfigError(f"{key} is no private key of a node; it is the file without an ending, such as node-00.")
    if not ADDRESS.fullmatch(superlink):
        raise ConfigError(f"--superlink is '{superlink}'; it must be host:port, such as 127.0.0.1:8000 or [::1]:8000.")
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("flower-supernode", path=programs)
    if program is None:
        raise ConfigError(NOT_INSTALLED)
    home = (directory or Path("nodes") / key.name).resolve()
    home.mkdir(parents=True, exist_ok=True)
    # In a file, because on the command line Flower takes no quotation marks inside of values.
    node_config = home / "node.toml"
    settings = _node_config(home, number, identity or (key.name if number is None else None), config or [])
    node_config.write_text(tomli_w.dumps(settings), encoding="utf-8")
    # Each node has a Flower home of its own: two that install an app into one at once disturb each other.
    environment = QUIET | os.environ | {"PATH": programs, "FLWR_HOME": str(home / "flower")}
    if warm:
        environment |= {"PATH": with_warm_program(home, programs)}

    def command() -> list[str]:
        return [
            *(program, "--superlink", superlink, "--root-certificates", str(authority)),
            *("--auth-supernode-private-key", str(key), "--node-config", str(node_config)),
            *("--host", "127.0.0.1", "--port", str(_free_port())),
        ]

    def tell(sentence: str) -> None:
        errors.print(f"SuperNode {key.name}: {sentence}", highlight=False, markup=False)

    supervise(command, environment, tell, OLD_SESSION)


@contextmanager
def needing_flower() -> Iterator[None]:
    """Turns an import that fails because Flower is not installed into a sentence.

    Raises:
        ConfigError: Flower is not installed.
    """
    try:
        import_module("flwr")
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"flwr", "cryptography"}:
            raise
        raise ConfigError(NOT_INSTALLED) from error


def _node_config(home: Path, number: int | None, identity: str | None, more: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for assignment in more:
        override(settings, assignment)
    own = {"fallow-dir": str(home), "partition-id": number, "identity": identity}
    return settings | {name: value for name, value in own.items() if value is not None}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
