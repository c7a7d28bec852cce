"""``fallow flower``: a Flower app to begin with, keys for a real federation, and its nodes."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tomli_w
import typer

from fallow.cli.screen import console, errors
from fallow.errors import ConfigError
from fallow.experiment.settings import override
from fallow.flower.deploy.diagnosis import why_refused
from fallow.flower.deploy.programs import (
    NOT_INSTALLED,
    Programs,
    check_installed,
    environment_for,
    link_programs,
    node_programs,
)
from fallow.flower.deploy.supervisor import supervise
from fallow.flower.node.warm import with_warm_program
from fallow.storage.files import write_atomically

flower_app = typer.Typer(help="Begin a Flower app, make its keys, and keep its nodes running.", no_args_is_help=True)

OLD_SESSION = 70.0
"""Seconds before a SuperNode is started again: the 60 for which Flower takes a dead one for alive, and some more.

Any sooner, and it may be refused. Worse, it may be let in just as its old session ends, before the server has looked:
then nobody notices that the order it died over is lost, and the server waits for an answer as long as it ever would.
"""

LINK_PAUSE = 5.0
"""Seconds before a SuperLink is started again."""

PRIVATE_KEY = b"BEGIN OPENSSH PRIVATE KEY"
ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}")


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
    check_installed()
    home = (directory or Path("nodes") / key.name).resolve()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    # In a file, because on the command line Flower takes no quotation marks inside of values.
    node_config = home / "node.toml"
    settings = _node_config(home, number, identity or (key.name if number is None else None), config or [])
    write_atomically(node_config, tomli_w.dumps(settings).encode())
    environment = environment_for(home / "flower")
    if warm:
        environment |= {"PATH": with_warm_program(home, environment["PATH"])}

    def programs() -> Programs:
        return node_programs(home, superlink, authority, key, node_config)

    def explain(seconds: float) -> str:
        return why_refused(superlink, authority) if seconds < OLD_SESSION else ""

    supervise(programs, environment, _teller(f"SuperNode {key.name}"), OLD_SESSION, explain)


@flower_app.command()
def link(
    directory: Annotated[Path, typer.Argument(help="The app's directory, with its keys.")] = Path(),
    host: Annotated[str, typer.Option(help="The address that it listens to; else this machine alone reaches it.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=1, max=65535, help="Its port.")] = 8000,
) -> None:
    """Keep a SuperLink running, with TLS, for registered nodes alone: start it again when it dies, until Ctrl-C."""
    for name in ("ca.crt", "server.crt", "server.key"):
        if not (directory / "keys" / name).is_file():
            raise ConfigError(f"{directory / 'keys' / name} is not there; `fallow flower keys` makes keys.")
    check_installed()
    home = directory.resolve()
    (home / ".flwr").mkdir(exist_ok=True, mode=0o700)

    def programs() -> Programs:
        return link_programs(home, host, port)

    supervise(programs, environment_for(home / ".flwr"), _teller("SuperLink"), LINK_PAUSE)


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


def _teller(who: str) -> Callable[[str], None]:
    def tell(sentence: str) -> None:
        errors.print(f"{who}: {sentence}", highlight=False, markup=False)

    return tell
