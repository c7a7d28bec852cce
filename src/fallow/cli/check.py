"""``fallow check``: does a part of somebody's own keep its contract?"""

from typing import Annotated, Any

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.conformance.check import check as find_problems
from fallow.conformance.check import kind_name
from fallow.experiment.settings import override
from fallow.plugins.nested import plain


def check(
    part: Annotated[str, typer.Argument(help="A name, such as vaoi or solar, or my_module:MyPolicy.")],
    kind: Annotated[
        str | None,
        typer.Option(
            help="What it is: policy, energy, dataset, partition, model, objective, rule, staleness, tracker or "
            "battery; needed only where its methods do not tell."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set one option of the part, as in k=5; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a policy, an energy model, a rule or another part keeps its contract, and say what is wrong."""
    options: dict[str, Any] = {}
    for assignment in setting or ():
        override(options, assignment.strip().removeprefix("policy."))  # a config says policy.k
    with words_aside(as_json):
        found = kind_name(part, kind)
        problems = find_problems(part, found, plain(options))
    if as_json:
        print_json({found: part, "problems": problems})
    elif not problems:
        console.print(f"{part} keeps its contract.", highlight=False)
    else:
        for problem in problems:
            console.print(f"- {problem}", highlight=False, markup=False)
    if problems:
        raise typer.Exit(1)
