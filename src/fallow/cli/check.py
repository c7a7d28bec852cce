"""``fallow check``: does a policy keep its contract?"""

from typing import Annotated

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.names import resolve
from fallow.options import with_options
from fallow.policies import POLICIES
from fallow.policies.check import check_policy


def check(
    policy: Annotated[str, typer.Argument(help="A policy's name, or my_module:MyPolicy.")],
    as_json: Json = False,
) -> None:
    """Check that a policy keeps its contract: shape, type, determinism, purity, limits, checkpoints."""
    with words_aside(as_json):
        problems = check_policy(with_options(f"The policy '{policy}'", resolve(policy, POLICIES, "policy"), {}))
    if as_json:
        print_json({"policy": policy, "problems": problems})
    elif not problems:
        console.print(f"{policy} keeps its contract.", highlight=False)
    else:
        for problem in problems:
            console.print(f"- {problem}", highlight=False, markup=False)
    if problems:
        raise typer.Exit(1)
