"""The sections of an experiment: every setting with its type, its limits, its default and what it means."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from fallow.aggregation import AGGREGATIONS, STALENESS
from fallow.data import DATASETS, PARTITIONS
from fallow.energy import ENERGY_MODELS
from fallow.energy.base import MOST_UNITS
from fallow.learning.options import SGD, STRICT, Compute
from fallow.models import MODELS
from fallow.objectives import OBJECTIVES
from fallow.paper import PAPER_MU
from fallow.plugins.options import option_values
from fallow.policies import POLICIES
from fallow.trackers import TRACKERS

MOST_CLIENTS = 10**8
"""Most clients of a run. The batteries and counters of so many take ten gigabytes."""

MOST_SAMPLES = 10**9
"""Most samples of a client, so that those of all can be counted."""

Units = Annotated[int, Field(ge=0, le=MOST_UNITS)]
Slots = Annotated[int, Field(ge=1, le=MOST_UNITS)]
Efficiency = Annotated[float, Field(gt=0, le=1)]
Leak = Annotated[float, Field(ge=0, lt=1)]
Drain = Annotated[float, Field(ge=0, le=MOST_UNITS)]
Names = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class Choosing(BaseModel):
    """A section that chooses classes by name; their options are settings of the section too.

    Attributes:
        parts: The chosen objects, by the field that names each.
    """

    model_config = STRICT
    parts: dict[str, Any] = Field({}, exclude=True, repr=False)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the chosen objects, by name."""
        return {key: value for part in self.parts.values() for key, value in option_values(part).items()}


class Battery(BaseModel):
    """What a client can store."""

    model_config = STRICT
    capacity: Units | tuple[Units, ...] = Field(25, description="E_max: units; one number, or one for each client")
    initial: Units | tuple[Units, ...] = Field(0, description="E_i(0): units; one number, or one for each client")
    efficiency: Efficiency | tuple[Efficiency, ...] = Field(
        1.0, description="share of the harvest that reaches the battery; one number, or one for each client"
    )
    self_discharge: Leak | tuple[Leak, ...] = Field(
        0.0,
        description="share of what is stored that leaks away, in a day if slot_seconds is stated, else in a slot; one "
        "number, or one for each client",
    )
    idle: Drain | tuple[Drain, ...] = Field(
        0.0, description="units a slot that a device draws while it is awake; one number, or one for each client"
    )
    cutoff: Units | tuple[Units, ...] = Field(
        0, description="units below which a device sleeps; one number, or one for each client"
    )
    wake: Units | tuple[Units, ...] = Field(
        0, description="units at which it wakes up; 0 is the cut-off; one number, or one for each client"
    )


class Cost(BaseModel):
    """What a client pays."""

    model_config = STRICT
    train: Slots | tuple[Slots, ...] = Field(
        20, description="κ: units of one training; one number, or one for each client"
    )
    train_slots: Units | tuple[Units, ...] = Field(
        0,
        description="slots of one training; 0 is as many as units, as in the paper; one number, or one for each client",
    )
    transmit: Units | tuple[Units, ...] = Field(
        1, description="units of one upload; one number, or one for each client"
    )
    transmit_slots: Slots | tuple[Slots, ...] = Field(
        1, description="slots of one upload, in the last of which it arrives; one number, or one for each client"
    )
    probe: Units | tuple[Units, ...] = Field(
        0,
        description="units of one probe, for policies that make it (reading 11); one number, or one for each client",
    )
    listen: Units | tuple[Units, ...] = Field(
        0,
        description="units of hearing the server in the first slot of each epoch; one number, or one for each client",
    )
    download: Units | tuple[Units, ...] = Field(
        0, description="units of receiving the model; one number, or one for each client"
    )


class Energy(Choosing):
    """Where the energy comes from."""

    model: str = Field("bernoulli", description=f"{', '.join(ENERGY_MODELS)}, or module:Class")
    correlation: float = Field(
        0.0, ge=0, le=1, description="how much of the weather clients share: 0 is none, 1 the same for everyone"
    )
    mean: float = Field(
        0.0, ge=0, le=MOST_UNITS, description="mean units a slot to which the model is scaled; 0 leaves it as it is"
    )


class PolicySection(Choosing):
    """Who trains."""

    name: str = Field("vaoi", description=f"{', '.join(POLICIES)}, or module:Class")
    reserve: bool = Field(
        False,
        description="whether clients start only with the energy to send as well, and in time to arrive in the epoch",
    )


class Data(Choosing):
    """What is learnt from, and who has it."""

    name: str = Field("digits", description=f"{', '.join(DATASETS)}, npz:PATH, or module:function")
    partition: str = Field("dirichlet", description=f"{', '.join(PARTITIONS)}, or module:Class")
    samples_per_client: int = Field(
        0,
        ge=0,
        le=MOST_SAMPLES,
        description="mean of |D_i|; 0 is the paper's 300, or as many as the dataset has for each client",
    )
    sizes: Literal["equal", "lognormal"] | tuple[Annotated[int, Field(ge=1, le=MOST_SAMPLES)], ...] = Field(
        "equal", description="|D_i|: equal, lognormal, or a list with one number for each client"
    )
    spread: float = Field(1.0, ge=0, description="of lognormal sizes: σ, the deviation of the logarithm")


class Model(Choosing):
    """What is trained."""

    name: str = Field("auto", description=f"{', '.join(MODELS)}, or module:factory")
    feature: str = Field("softmax", description="z: softmax, logits, or the path of a layer (reading 10)")
    keep_local: bool = Field(
        False, description="clients train and probe with their own running statistics of batch normalisation"
    )


class Learning(BaseModel):
    """Whether and how there is learning."""

    model_config = STRICT
    mode: Literal["none", "train"] = Field(
        "none", description="none: energy only, who would train, send and rest; train: the whole of Algorithm 1"
    )
    significance: float = Field(
        1.0, ge=0, le=1, description="in mode none: probability that a change is significant (M_i ≥ μ)"
    )
    first_moment: Literal["infinite", "zero", "first-pass"] = Field(
        "infinite", description="h_i before the first training: none, so M_i = ∞; zero; one pass of w(0) (reading 6)"
    )
    probe_batch: Literal["fresh", "fixed"] = Field(
        "fresh", description="B_i: drawn for each new model, or always the same (reading 11)"
    )
    eval_every: int = Field(5, ge=1, description="epochs from one evaluation on the test set to the next")
    client_eval_every: int = Field(
        0, ge=0, description="epochs from one evaluation on each client's own samples to the next; 0 is only at the end"
    )
    on_divergence: Literal["stop", "drop"] = Field(
        "stop", description="a training with a loss or weights that are not finite: stop the run, or drop its update"
    )
    ages: Literal["needed", "always"] = Field(
        "needed",
        description="version ages by distance: recorded when the policy needs distances, or always, at one forward "
        "pass of every client for each new model",
    )
    average: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of a running mean of the iterates that each epoch keeps; the mean is evaluated and handed "
        "out, while clients train from the newest; 0 is none",
    )
    mu: float = Field(
        PAPER_MU, ge=0, description='μ of the ages that `ages = "always"` records, the same for every policy'
    )


class Objective(Choosing):
    """What a client minimises."""

    name: str = Field("cross-entropy", description=f"{', '.join(OBJECTIVES)}, or module:Class")


class Aggregation(Choosing):
    """How the updates of an epoch make the next model."""

    name: str = Field("received", description=f"{', '.join(AGGREGATIONS)}, or module:Class")
    guard: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="with 10, an update that moved the model ten times as far as the median of others is not used; 0 "
        "uses all",
    )


class Staleness(Choosing):
    """What age leaves of an update's weight."""

    name: str = Field("constant", description=f"{', '.join(STALENESS)}, or module:Class")


class Output(BaseModel):
    """What is written."""

    model_config = STRICT
    events: bool = Field(
        True, description="write events.parquet: every selection, start, finish and upload, and what ages hang on"
    )
    checkpoint_every: int = Field(25, ge=1, description="epochs from one checkpoint to the next")
    trackers: Names = Field(
        (), description=f"who is told while a run goes on, a name or a list: {', '.join(TRACKERS)}, or module:Class"
    )


SECTIONS: dict[str, type[BaseModel]] = {
    "energy": Energy,
    "battery": Battery,
    "cost": Cost,
    "policy": PolicySection,
    "data": Data,
    "model": Model,
    "learning": Learning,
    "sgd": SGD,
    "objective": Objective,
    "aggregation": Aggregation,
    "staleness": Staleness,
    "compute": Compute,
    "output": Output,
}
"""The sections of an experiment by name."""
