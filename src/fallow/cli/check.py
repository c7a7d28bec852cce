"""``fallow check``: does a policy keep its contract?"""

from typing import Annotated

import typer

from fallow.cli.screen import console
from fallow.names import resolve
from fallow.options import with_options
from fallow.policies import POLICIES
from fallow.policies.check import check_policy


def check(
    policy: Annotated[str, typer.Argument(help="A policy's name, or my_module:MyPolicy.")],
) -> None:
    """Check that a policy keeps its contract: shape, type, determinism, purity, limits, checkpoints."""
    problems = check_policy(with_options(f"The policy '{policy}'", resolve(policy, POLICIES, "policy"), {}))
    if not problems:
        console.print(f"{policy} keeps its contract.", highlight=False)
        return
    for problem in problems:
        console.print(f"- {problem}", highlight=False, markup=False)
    raise typer.Exit(1)
