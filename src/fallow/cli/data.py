"""``fallow data``: fetch datasets, list them, and draw who has what."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn
from rich.table import Table

from fallow import data
from fallow.cli.screen import Json, console, errors, print_json
from fallow.data.cache import default_data_dir
from fallow.plugins.names import resolve
from fallow.rng import MAX_SEED

data_app = typer.Typer(help="Fetch datasets, list them, and draw who has what.", no_args_is_help=True)

DataDir = Annotated[
    Path | None,
    typer.Option(help="Where fetched data is kept; else $FALLOW_DATA_DIR, else the user's cache.", show_default=False),
]


class SizesOption(StrEnum):
    """Sizes that a command can name; one number for each client is for configs."""

    EQUAL = "equal"
    LOGNORMAL = "lognormal"


class ProgressWatcher:
    """Shows a fetch on the screen: news as lines, bytes as a bar on a terminal."""

    def __init__(self, screen: Console, progress: Progress) -> None:
        self._screen = screen
        self._progress = progress
        self._task = progress.add_task("", total=None, visible=False)

    def say(self, sentence: str) -> None:
        """Prints one line; the bar waits for the next download."""
        self._progress.update(self._task, visible=False, completed=0, total=None)
        self._screen.print(sentence, highlight=False, markup=False)

    def received(self, count: int, total: int | None) -> None:
        """Moves the bar."""
        self._progress.update(self._task, visible=True, completed=count, total=total)


@data_app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="cifar10 or fashion-mnist.")],
    data_dir: DataDir = None,
    given: Annotated[
        Path | None,
        typer.Option("--from", help="A folder or archive of its files that you have; nothing is downloaded then."),
    ] = None,
) -> None:
    """Fetch a published dataset into the cache, and check it to the last bit."""
    columns = (SpinnerColumn(), TextColumn("receiving"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        folder = data.fetch(name, data_dir, given, ProgressWatcher(errors, progress))
    console.print(f"{name} is ready in {folder}.", highlight=False, markup=False)


@data_app.command("list")
def list_datasets(data_dir: DataDir = None, as_json: Json = False) -> None:
    """List the datasets, and whether those that must be fetched are there."""
    folder = data_dir or default_data_dir()
    found = {name: _described(name, data_dir) for name in data.DATASETS}
    if as_json:
        print_json({"directory": str(folder), "datasets": found})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "what", "state"):
        table.add_column(heading)
    for name, about in found.items():
        table.add_row(name, about["what"], about["state"])
    table.add_row("npz:PATH", "Your arrays x, y, x_test, y_test in a NumPy archive.", "")
    table.add_row("module:function", "What your own function returns.", "")
    console.print(table, highlight=False, markup=False)
    console.print(f"\nFetched data is kept in {folder}.", highlight=False, markup=False)


def _described(name: str, data_dir: Path | None) -> dict[str, str]:
    dataset = data.DATASETS[name]
    ready = "fetched" if hasattr(dataset, "published") else "ready"
    state = ready if data.is_ready(name, data_dir) else "not fetched"
    return {"what": (dataset.__doc__ or "").split("\n")[0], "state": state}


@data_app.command("label-mix")
def label_mix(
    name: Annotated[str, typer.Argument(help="A dataset's name, npz:PATH, or module:function.")] = "digits",
    clients: Annotated[int, typer.Option(min=1, help="N.")] = 100,
    samples_per_client: Annotated[
        int,
        typer.Option(min=0, help="Training samples of a client, on average; 0: as in a run, 300 or all there are."),
    ] = 0,
    sizes: Annotated[SizesOption, typer.Option(help="Whether all clients have as many samples.")] = SizesOption.EQUAL,
    spread: Annotated[float, typer.Option(min=0, help="σ of lognormal sizes.")] = 1.0,
    partition: Annotated[str, typer.Option(help=f"{', '.join(data.PARTITIONS)}, or module:Class.")] = "dirichlet",
    alpha: Annotated[
        float | None, typer.Option(help="α of dirichlet: small gives each client few classes.", show_default="0.1")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="The seed of the parts.")] = 0,
    out: Annotated[Path, typer.Option(help="The picture: .png, .pdf or .svg.")] = Path("label-mix.png"),
    data_dir: DataDir = None,
) -> None:
    """Draw which classes each client's samples are of."""
    options: dict[str, Any] = {} if alpha is None else {"alpha": alpha}
    dataset = data.load_dataset(name, seed=seed, data_dir=data_dir)
    parts = data.partition(
        partition,
        dataset,
        clients,
        seed,
        samples_per_client=samples_per_client,
        sizes=sizes.value,
        spread=spread,
        options=options,
    )
    counts = data.label_mix(dataset.y, parts, dataset.classes)
    shown = getattr(resolve(partition, data.PARTITIONS, "partition"), "alpha", None) if alpha is None else alpha
    mix = partition if shown is None else f"{partition}, α = {shown:g}"
    few, many = (int(limit) for limit in (counts.sum(axis=1).min(), counts.sum(axis=1).max()))
    amount = f"{few} samples each" if few == many else f"{few} to {many} samples"
    title = f"{dataset.name}: {clients} clients with {amount} ({mix}, seed {seed})"
    data.draw_label_mix(counts, out, title)
    console.print(f"The label mix is drawn in {out}.", highlight=False, markup=False)
