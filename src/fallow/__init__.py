"""Fallow: energy-harvesting federated learning, slot by slot.

Examples:
    >>> import fallow
    >>> run = fallow.run(fallow.Experiment(epochs=10), progress=False)
    >>> run.summary["epochs"]
    10
"""

from typing import TYPE_CHECKING, Any

from fallow.plugins.lazy import load_on_first_use

if TYPE_CHECKING:
    from fallow import aggregation as aggregation
    from fallow import data as data
    from fallow import energy as energy
    from fallow import models as models
    from fallow import objectives as objectives
    from fallow import policies as policies
    from fallow.calibration.calibrate import calibrate as calibrate
    from fallow.conformance.check import check as check
    from fallow.experiment import Experiment as Experiment
    from fallow.experiment.recommended import recommended as recommended
    from fallow.planning.plan import plan as plan
    from fallow.policies.check import check_policy as check_policy
    from fallow.reports.output import report as report
    from fallow.runs.execute import resume as resume
    from fallow.runs.execute import run as run
    from fallow.runs.verify import verify as verify
    from fallow.simulation.engine import Engine as Engine
    from fallow.study.bench.benchmark import bench as bench
    from fallow.study.load import load as load
    from fallow.study.sweep import compare as compare
    from fallow.study.sweep import sweep as sweep

    __version__: str

_load, __dir__, __all__ = load_on_first_use(
    __name__,
    {
        "Engine": "fallow.simulation.engine",
        "Experiment": "fallow.experiment",
        "aggregation": "fallow.aggregation",
        "bench": "fallow.study.bench.benchmark",
        "calibrate": "fallow.calibration.calibrate",
        "check": "fallow.conformance.check",
        "check_policy": "fallow.policies.check",
        "compare": "fallow.study.sweep",
        "data": "fallow.data",
        "energy": "fallow.energy",
        "load": "fallow.study.load",
        "models": "fallow.models",
        "objectives": "fallow.objectives",
        "plan": "fallow.planning.plan",
        "policies": "fallow.policies",
        "recommended": "fallow.experiment.recommended",
        "report": "fallow.reports.output",
        "resume": "fallow.runs.execute",
        "run": "fallow.runs.execute",
        "sweep": "fallow.study.sweep",
        "verify": "fallow.runs.verify",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fallow")
    return _load(name)
