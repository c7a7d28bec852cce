"""The commands by name, each imported when it is called: ``fallow --version`` loads nothing that ``fallow run`` needs.

A new command is one module here and one line in the table.
"""

from importlib import import_module
from typing import Any, NamedTuple

import typer
from click import Command, Context, HelpFormatter
from click.shell_completion import CompletionItem
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group


class Place(NamedTuple):
    """Where a command is found, and what ``fallow --help`` says of it without looking there.

    Attributes:
        module: The module of this package that holds it.
        attribute: Its function there, or its ``typer.Typer`` if it has commands of its own.
        line: The first line of its help; a test compares the two.
    """

    module: str
    attribute: str
    line: str


COMMANDS: dict[str, Place] = {
    "run": Place("run", "run", "Run one experiment and write its run directory."),
    "resume": Place("run", "resume", "Go on with a run from its last checkpoint."),
    "compare": Place(
        "sweep", "compare", "Compare policies on the same harvest and the same data: a sweep over policies and seeds."
    ),
    "sweep": Place("sweep", "sweep", "Run a grid of experiments; what is finished is kept, what was killed goes on."),
    "bench": Place(
        "bench", "bench", "Run a policy or a rule in frozen scenarios, and compare it with every built-in one."
    ),
    "plan": Place(
        "plan", "plan", "Say what a device will do before it is built, and the battery and panel that it needs."
    ),
    "paper": Place(
        "paper", "paper", "Rerun the paper's study: 3 α × 3 p_bc × 4 policies; draw its figures and judge its claims."
    ),
    "report": Place("report", "report", "Write report.html, one file that works offline, and figures as PDF and PNG."),
    "show": Place("show", "show", "Print what a run came to."),
    "verify": Place("verify", "verify", "Compare finished runs with the checksums that they wrote at their end."),
    "list": Place(
        "list",
        "list_names",
        "List policies, energy models, datasets, models, rules and trackers, with a line each; or devices, or radios.",
    ),
    "check": Place(
        "check",
        "check",
        "Check that a policy, an energy model, a rule or another part keeps its contract, and say what is wrong.",
    ),
    "calibrate": Place(
        "calibrate",
        "calibrate",
        "Measure what federated learning costs on this machine: seconds, bytes, and joules where they can be had.",
    ),
    "config": Place("config", "config", "Print a config with every setting, its default and what it means."),
    "data": Place("data", "data_app", "Fetch datasets, list them, and draw who has what."),
    "flower": Place("flower", "flower_app", "Begin a Flower app, make its keys, and keep its nodes running."),
}


class CommandsOnDemand(TyperGroup):
    """The group of all commands. Its help and its completion need their lines alone, and import none of them."""

    def __init__(self, **attributes: Any) -> None:
        lines = {name: TyperCommand(name, help=place.line) for name, place in COMMANDS.items()}
        super().__init__(**attributes | {"commands": lines})
        self._outline = TyperGroup(**attributes | {"commands": lines})

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:  # noqa: ARG002  # click's signature
        """Returns a command, imported; None if no command has that name.

        Args:
            ctx: Of the program.
            cmd_name: As the user wrote it.
        """
        if cmd_name not in COMMANDS:
            return None
        place = COMMANDS[cmd_name]
        found = vars(import_module(f"fallow.cli.{place.module}"))[place.attribute]
        group = typer.Typer()
        if isinstance(found, typer.Typer):
            group.add_typer(found, name=cmd_name)
        else:
            group.command(cmd_name)(found)
        return get_group(group).commands[cmd_name]

    def invoke(self, ctx: Context) -> Any:
        """Runs a command and returns what it returns. A Ctrl-C that nothing else handles ends the program with a word.

        Args:
            ctx: Of the program.

        Raises:
            typer.Exit: Ctrl-C was pressed.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(130) from None

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Writes the help of the whole program."""
        self._outline.format_help(ctx, formatter)

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        """Returns the commands and options that begin with `incomplete`."""
        return self._outline.shell_complete(Context(self._outline, info_name=ctx.info_name), incomplete)
