"""The options of a calibration, checked before anything is measured."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from fallow.calibration.meters import AUTO, NONE
from fallow.errors import ConfigError
from fallow.learning.options import STRICT
from fallow.plugins.nested import plain
from fallow.plugins.validation import sentence

MOST_SAMPLES = 10**6
"""Most samples of a training or an evaluation; a node has far fewer."""

Size = Annotated[int, Field(ge=1)]


def parse_shape(given: Any) -> Any:
    """Returns a shape that was written as text, such as ``3,32,32``, as whole numbers; lists as tuples.

    Args:
        given: A text, or what is given in Python.

    Raises:
        ConfigError: The text is no list of whole numbers.

    Examples:
        >>> parse_shape("3,32,32")
        (3, 32, 32)
    """
    if not isinstance(given, str):
        return plain(given)
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError:
        raise ConfigError(
            f"input_shape (--input-shape) = '{given}' must be whole numbers with commas, as in 3,32,32."
        ) from None


class Options(BaseModel):
    """How a calibration is made; `fallow.calibrate` says what each option means."""

    model_config = STRICT
    input_shape: Annotated[tuple[Size, ...] | None, BeforeValidator(parse_shape)] = None
    classes: Annotated[int, Field(ge=2)] | None = None
    samples: int = Field(ge=1, le=MOST_SAMPLES)
    steps: int = Field(ge=1)
    eval_samples: int = Field(ge=0, le=MOST_SAMPLES)
    threads: int = Field(ge=1)
    repeats: int = Field(ge=1)
    budget: float = Field(gt=0)
    watts: Annotated[float, Field(gt=0)] | None = None
    idle_watts: Annotated[float, Field(ge=0)] | None = None
    meter: str = AUTO
    window: Annotated[float, Field(gt=0)] | None = None
    name: str = ""


def check_options(**given: Any) -> Options:
    """Returns checked options.

    Args:
        **given: The fields of `Options`.

    Raises:
        ConfigError: One is wrong, or two contradict each other.
    """
    try:
        options = Options(**given)
    except ValidationError as error:
        raise ConfigError(sentence(error, model=Options)) from None
    watts, idle = options.watts, options.idle_watts
    if idle is not None and watts is None:
        raise ConfigError(
            f"idle_watts (--idle-watts) = {idle} says what is taken without work; state watts (--watts) at work too."
        )
    if watts is not None and idle is not None and idle > watts:
        raise ConfigError(
            f"idle_watts (--idle-watts) = {idle} is more than watts (--watts) = {watts}, the power at work, which has "
            "the idle power in it."
        )
    if watts is not None and options.meter not in (AUTO, NONE):
        raise ConfigError(
            f"watts (--watts) = {watts} and meter (--meter) = '{options.meter}' both say where joules come from; "
            "choose one of the two."
        )
    return options
