"""``fallow check``: does a policy keep its contract?"""

from typing import Annotated, Any

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.experiment.settings import override
from fallow.plugins.names import resolve
from fallow.plugins.nested import plain
from fallow.plugins.options import with_options
from fallow.policies import POLICIES
from fallow.policies.check import check_policy


def check(
    policy: Annotated[str, typer.Argument(help="A policy's name, or my_module:MyPolicy.")],
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set one option of the policy, as in k=5; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a policy keeps its contract: shape, type, determinism, purity, limits, checkpoints."""
    options: dict[str, Any] = {}
    for assignment in setting or ():
        override(options, assignment.strip().removeprefix("policy."))  # a config says policy.k
    with words_aside(as_json):
        cls = resolve(policy, POLICIES, "policy", "fallow.policies")
        problems = check_policy(with_options(f"The policy '{policy}'", cls, plain(options)))
    if as_json:
        print_json({"policy": policy, "problems": problems})
    elif not problems:
        console.print(f"{policy} keeps its contract.", highlight=False)
    else:
        for problem in problems:
            console.print(f"- {problem}", highlight=False, markup=False)
    if problems:
        raise typer.Exit(1)
