"""Where networks run."""

import torch

from fallow.errors import ConfigError


def check_device(device: str) -> None:
    """Checks that a device is available.

    Args:
        device: "cpu" or "cuda".

    Raises:
        ConfigError: PyTorch finds no such device.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("compute.device = 'cuda', but PyTorch finds no CUDA device here; set it to 'cpu'.")


def emulates_bf16(device: str) -> bool:
    """Returns whether the device has to emulate bfloat16, which is many times slower than float32."""
    if device != "cpu" or not hasattr(torch.cpu, "get_capabilities"):
        return False
    features = torch.cpu.get_capabilities()
    return features.get("architecture") == "x86_64" and not (features.get("amx_bf16") or features.get("avx512_bf16"))
