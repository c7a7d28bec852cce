"""The options of learning; this module does not import PyTorch, which is slow to load."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

Precision = Literal["fp32", "bf16"]
Strategy = Literal["spread", "stacked"]


class SGD(BaseModel):
    """Stochastic gradient descent; as ``torch.optim.SGD``, with the proximal term of FedProx."""

    model_config = STRICT
    lr: float = Field(0.01, gt=0, description="γ: learning rate")
    momentum: float = Field(0.0, ge=0, lt=1, description="share of the last step that is kept")
    weight_decay: float = Field(0.0, ge=0, description="pull of every weight towards zero")
    proximal: float = Field(0.0, ge=0, description="pull towards the weights the training began with")


class Compute(BaseModel):
    """How the arithmetic is done. The number of workers changes no result; the others change the last bits."""

    model_config = STRICT
    strategy: Literal["auto", "spread", "stacked"] = Field(
        "auto", description="train clients side by side, or many in lockstep; auto chooses by the arithmetic of a step"
    )
    precision: Precision = Field("fp32", description="bf16 computes in bfloat16 and keeps weights in float32")
    device: Literal["cpu", "cuda"] = Field("cpu", description="where networks run")
    workers: int = Field(0, ge=0, description="threads; 0 is one for each processor")
