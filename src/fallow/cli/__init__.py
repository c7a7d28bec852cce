"""The command line: one module a command, which is imported when the command is called."""

import sys

import typer

from fallow.cli.commands import CommandsOnDemand
from fallow.errors import FallowError

app = typer.Typer(
    cls=CommandsOnDemand,
    help="Energy-harvesting federated learning, slot by slot: who trains, who sends, who rests.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from fallow import __version__

        typer.echo(f"fallow {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Runs the command line. A wrong input is one sentence and exit code 2, never a traceback."""
    try:
        app()
    except FallowError as error:
        _print_error(error)
        sys.exit(2)
    except KeyboardInterrupt:  # before or after the command itself
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


def _print_error(error: Exception) -> None:
    from rich.markup import escape  # most calls go well and need no colours

    from fallow.cli.screen import errors

    errors.print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False)
