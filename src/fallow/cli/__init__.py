"""The command line: one module a command."""

import sys

import typer
from rich.markup import escape

from fallow import __version__
from fallow.cli.check import check
from fallow.cli.config import config
from fallow.cli.data import data_app
from fallow.cli.flower import flower_app
from fallow.cli.paper import paper
from fallow.cli.report import report
from fallow.cli.run import resume, run
from fallow.cli.screen import errors
from fallow.cli.show import list_choices, show
from fallow.cli.sweep import compare, sweep
from fallow.errors import FallowError

app = typer.Typer(
    help="Energy-harvesting federated learning, slot by slot: who trains, who sends, who rests.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(run)
app.command()(resume)
app.command()(compare)
app.command()(sweep)
app.command()(paper)
app.command()(report)
app.command()(show)
app.command("list")(list_choices)
app.command()(check)
app.command()(config)
app.add_typer(data_app, name="data")
app.add_typer(flower_app, name="flower")


def _show_version(wanted: bool) -> None:
    if wanted:
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
        errors.print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("Stopped.")
        sys.exit(130)
