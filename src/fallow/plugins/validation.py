"""One clear sentence for a setting that is wrong."""

from typing import Any

from pydantic import BaseModel, ValidationError

from fallow.plugins.wording import did_you_mean, nearest, shortened

WANTED = {
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "string_too_short": "must not be empty",
    "model_type": "must be a section, a table in TOML",
    "dict_type": "must be a section, a table in TOML",
    "literal_error": "must be {expected}",
}


def sentence(error: ValidationError, *, model: type[BaseModel] | None = None, setting: str = "") -> str:
    """Returns one sentence about the first wrong setting.

    Args:
        error: The error that pydantic raised.
        model: The class whose fields were checked; None where only one setting was.
        setting: The full name of the setting, where only one was checked.
    """
    details = error.errors()
    # A setting that may be a number or a list gives an error for each; for a list, the error of its element is useful.
    detail = next((d for d in details if not isinstance(d["input"], tuple)), details[0])
    parts = [part for part in detail["loc"] if _names_something(part, model)]
    if detail["type"] == "extra_forbidden":
        path = ".".join(str(part) for part in ((setting, *detail["loc"]) if setting else detail["loc"]))
        return f"There is no setting '{path}'{did_you_mean(str(detail['loc'][-1]), _siblings(model, detail['loc']))}"
    name = setting
    for part in parts:
        name += f"[{part}]" if isinstance(part, int) else f"{'.' if name else ''}{part}"
    given, context = detail["input"], detail.get("ctx", {})
    wanted = WANTED.get(detail["type"], detail["msg"]).format(**context)
    near = None
    if detail["type"] == "literal_error":
        near = nearest(str(given), str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", "))
    shown = f"'{shortened(given)}'" if isinstance(given, str) else shortened(_as_toml(given))
    return f"{name} = {shown} {wanted}" + (f"; did you mean '{near}'?" if near else ".")


def _names_something(part: int | str, model: type[BaseModel] | None) -> bool:
    """Returns whether a part of an error's path is a setting or an index, not pydantic's name for a type of a union."""
    if isinstance(part, int) or model is None:
        return isinstance(part, int)
    sections = (field.annotation for field in model.model_fields.values())
    inner = (s.model_fields for s in sections if isinstance(s, type) and issubclass(s, BaseModel))
    return part in model.model_fields or any(part in names for names in inner)


def _siblings(model: type[BaseModel] | None, path: tuple[int | str, ...]) -> list[str]:
    """Returns the names that a setting at `path` could have had."""
    for part in path[:-1]:
        inner = model.model_fields[str(part)].annotation if model else None
        model = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    return [name for name in model.model_fields if name != "parts"] if model else []


def _as_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else str(value)
