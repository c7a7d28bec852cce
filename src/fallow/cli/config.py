"""``fallow config``: every setting with its default and what it means."""

from typing import Annotated

import typer

from fallow.experiment import annotated_toml


def config(
    policy: Annotated[str, typer.Option(help="The policy whose options to show.")] = "vaoi",
    energy: Annotated[str, typer.Option(help="The energy model whose options to show.")] = "bernoulli",
    data: Annotated[str, typer.Option(help="The dataset whose options to show.")] = "digits",
    model: Annotated[str, typer.Option(help="The model whose options to show.")] = "auto",
    aggregation: Annotated[str, typer.Option(help="The aggregation whose options to show.")] = "received",
    staleness: Annotated[str, typer.Option(help="The staleness weights whose options to show.")] = "constant",
) -> None:
    """Print a config with every setting, its default and what it means."""
    typer.echo(
        annotated_toml(
            policy=policy, energy=energy, data=data, model=model, aggregation=aggregation, staleness=staleness
        ),
        nl=False,
    )
