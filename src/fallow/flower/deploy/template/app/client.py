"""The nodes: each is one of the experiment's clients, with its share of the data and an emulated battery."""

from pathlib import Path

from fallow.experiment import Experiment
from fallow.flower import experiment_client

app = experiment_client(Experiment.read(Path(__file__).with_name("experiment.toml")))

# With your own model, data and a real battery, in place of the lines above:
#
# from typing import Any
#
# import numpy as np
# from flwr.app import Context
#
# from fallow.flower import LocalData, Metered, PowerSupply, client_app
#
#
# def build_model() -> Any:
#     """Returns the network, which returns logits."""
#     from torch import nn  # here: a node that is only asked how it stands does not load PyTorch
#
#     return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
#
#
# def load_data(context: Context) -> LocalData:
#     """Returns the node's own samples; start the node with --config samples=/path/to/samples.npz."""
#     samples = np.load(str(context.node_config["samples"]))
#     return LocalData(samples["x"], samples["y"], classes=10)
#
#
# # Half of a full battery must be there before a training, which has 20 steps.
# app = client_app(build_model, load_data, Metered(PowerSupply("BAT0"), train_cost=50), steps=20)
