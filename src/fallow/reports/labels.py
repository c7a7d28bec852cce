"""Which classes each client's samples are of, computed again from the settings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.data import DATASETS, PARTITIONS, is_ready, label_mix, load_dataset, partition
from fallow.data.sizes import sizes_by_class
from fallow.errors import FallowError
from fallow.plugins.nested import nested
from fallow.plugins.options import option_names
from fallow.reports.differences import say
from fallow.reports.runs import ReportedRun

MOST_CLIENTS = 200
"""A mix of more clients can't be read."""


def read_label_mix(run: ReportedRun) -> NDArray[np.int64] | None:
    """Returns the samples of each class that each client has, shape (N, classes), int64.

    Args:
        run: Its config names the dataset and the partition.

    Returns:
        None where nothing was learnt, where there are too many clients to draw, or where the dataset is not one of
        Fallow's own or is not on this machine. A report downloads nothing and runs nobody else's code.
    """
    settings = run.settings
    name, parts = settings.get("data.name"), settings.get("data.partition")
    if not run.learns or settings["clients"] > MOST_CLIENTS or name not in DATASETS or parts not in PARTITIONS:
        return None
    if not is_ready(name):
        return None
    by_class = any(one.get("samples") for one in settings.get("device", ()))
    try:
        dataset = load_dataset(name, seed=settings["seed"], **_given(run, DATASETS[name]))
        shares = partition(
            parts,
            dataset,
            settings["clients"],
            settings["seed"],
            samples_per_client=0 if by_class else settings["data.samples_per_client"],
            sizes=sizes_by_class(nested(settings)),
            spread=settings.get("data.spread", 1.0),
            options=_given(run, PARTITIONS[parts]),
        )
    except (FallowError, KeyError):
        return None  # the page does without
    return label_mix(dataset.y, shares, dataset.classes)


def mix_key(run: ReportedRun) -> str:
    """Returns a text that two runs share if they have the same label mix.

    Args:
        run: Its config names the dataset and the partition.
    """
    chosen = {key: say(value) for key, value in run.settings.items() if key.startswith("data.")}
    of_classes = [(one["share"], one.get("samples")) for one in run.settings.get("device", ())]
    return repr((sorted(chosen.items()), of_classes, run.settings["seed"], run.settings["clients"], run.learns))


def _given(run: ReportedRun, cls: type) -> dict[str, Any]:
    names = option_names(cls)
    return {name: run.settings[f"data.{name}"] for name in sorted(names) if f"data.{name}" in run.settings}
