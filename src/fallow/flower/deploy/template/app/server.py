"""The server: who trains in a round, and what their updates make of the model."""

from pathlib import Path

from fallow.experiment import Experiment
from fallow.flower import experiment_server

app = experiment_server(Experiment.read(Path(__file__).with_name("experiment.toml")))

# With your own model (see client.py), in place of the lines above:
#
# from pathlib import Path
#
# from flwr.app import ArrayRecord, Context
# from flwr.serverapp import Grid, ServerApp
#
# from APP_PACKAGE.client import build_model
# from fallow.flower import FallowStrategy
# from fallow.policies.vaoi import VAoI
#
# app = ServerApp()
#
#
# @app.main()
# def main(grid: Grid, context: Context) -> None:
#     """Carries out 20 rounds."""
#     settings = context.run_config
#     strategy = FallowStrategy(
#         VAoI(k=3, mu=0.5),
#         directory=Path(str(settings["directory"])),
#         min_nodes=int(settings["min-nodes"]),
#         patience=float(settings["patience"]),
#         reply_seconds=float(settings["reply-seconds"]),
#     )
#     strategy.start(grid, ArrayRecord(build_model().state_dict()), num_rounds=20)
