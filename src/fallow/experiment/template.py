"""A config with every setting at its default, each with a line that explains it."""

from dataclasses import MISSING
from typing import Any

import tomli_w

from fallow.experiment.choices import choices_in
from fallow.experiment.devices import DeviceClass
from fallow.experiment.experiment import Experiment
from fallow.experiment.sections import SECTIONS
from fallow.plugins.nested import thawed
from fallow.plugins.options import describe_options


def annotated_toml(**chosen: str) -> str:
    """Returns a config in TOML with every setting at its default, each with a line that explains it.

    Args:
        **chosen: A name for a section instead of its default, as in ``policy="fedbacys"``.

    Raises:
        ConfigError: There is no such name.

    Examples:
        >>> print(annotated_toml(policy="fedbacys").partition("[policy]")[2].partition("[")[0].strip().splitlines()[1])
        name = "fedbacys"
    """
    lines: list[str] = []
    for name, field in Experiment.model_fields.items():
        if name == "device":
            lines += ["", *_device_lines()]
            continue
        if name not in SECTIONS:
            lines += _setting(name, field.default, field.description)
            continue
        lines += ["", f"[{name}]"]
        section_fields = {key: setting for key, setting in SECTIONS[name].model_fields.items() if key != "parts"}
        defaults = {key: setting.default for key, setting in section_fields.items()}
        choices = choices_in(name)
        if name in chosen:
            defaults[choices[0].field] = chosen[name]
        for key, setting in section_fields.items():
            lines += _setting(key, defaults[key], setting.description)
        for choice in choices:
            for option, (default, description) in describe_options(choice.resolve(defaults[choice.field])).items():
                if option not in section_fields:
                    lines += _setting(option, "…" if default is MISSING else default, description)
    return "\n".join(lines) + "\n"


def _device_lines() -> list[str]:
    """Returns a class of devices as comments: there is none by default."""
    fields = [(name, field) for name, field in DeviceClass.model_fields.items() if name != "stated"]
    described = [f"# {name} = …  # {field.description}" for name, field in fields]
    return ["# a class of devices; there may be several, and each key may be left out", "# [[device]]", *described]


def _setting(name: str, default: Any, description: str | None) -> list[str]:
    return [f"# {description}", tomli_w.dumps({name: thawed(default)}).strip()]
