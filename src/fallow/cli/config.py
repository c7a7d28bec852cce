"""``fallow config``: every setting with its default and what it means."""

from typing import Annotated

import typer

from fallow.config import annotated_toml


def config(
    policy: Annotated[str, typer.Option(help="The policy whose options to show.")] = "vaoi",
    energy: Annotated[str, typer.Option(help="The energy model whose options to show.")] = "bernoulli",
) -> None:
    """Print a config with every setting, its default and what it means."""
    typer.echo(annotated_toml(policy, energy), nl=False)
