"""The command line: one module a command, which is imported when the command is called."""

import sys

import typer
from click.exceptions import NoArgsIsHelpError

from fallow.cli.commands import CommandsOnDemand
from fallow.errors import ConfigError

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


def check_arguments(arguments: list[str]) -> None:
    """Checks that every word of a command line can be written down again.

    Args:
        arguments: Without the name of the program.

    Raises:
        ConfigError: One is not UTF-8, as the name of a file can be, or holds NUL, as no name can.
    """
    for argument in arguments:
        if "\0" in argument or argument.encode(errors="replace") != argument.encode(errors="surrogatepass"):
            raise ConfigError(f"The argument {argument!r} is no text in UTF-8, in which runs are kept; rename it.")


def main() -> None:
    """Runs the command line. A wrong input is one sentence and exit code 2, never a traceback; see failures.py."""
    try:
        check_arguments(sys.argv[1:])
        code = app(prog_name="fallow", standalone_mode=False)
    except KeyboardInterrupt:  # before or after the command itself
        sys.stderr.write("Stopped.\n")
        code = 130
    except NoArgsIsHelpError as error:
        typer.echo(error.ctx.get_help() if error.ctx else "")
        code = error.exit_code
    except Exception as error:  # noqa: BLE001  # whatever it is, the user gets a sentence
        code = _explain(error)
    sys.exit(code)


def _explain(error: Exception) -> int:
    """Prints what an error means to the user, and returns the exit code."""
    from rich.markup import escape  # most calls go well and need no colours

    from fallow.cli.failures import explain, traceback_of
    from fallow.cli.screen import errors

    words, code = explain(error)
    if shown := traceback_of(error):
        errors.print(shown, highlight=False, markup=False)
    errors.print(f"[bold red]Error:[/] {escape(words)}", highlight=False)
    return code
