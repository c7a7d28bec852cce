"""The networks by name. A new one is one file here and one line in the table (names.py)."""

from fallow.models.auto import Auto
from fallow.models.base import OUTPUT_FEATURES, Model, Shape
from fallow.models.build import BATCHES_SEEN, build_module, check_layers, check_repeatable, find_layer
from fallow.models.mlp import MLP
from fallow.models.names import MODELS, resolve_model
from fallow.models.paper_cnn import PaperCNN
from fallow.models.resnet18_gn import ResNet18GN
from fallow.models.signal_cnn import SignalCNN
from fallow.models.small_cnn import SmallCNN

__all__ = [
    "BATCHES_SEEN",
    "MLP",
    "MODELS",
    "OUTPUT_FEATURES",
    "Auto",
    "Model",
    "PaperCNN",
    "ResNet18GN",
    "Shape",
    "SignalCNN",
    "SmallCNN",
    "build_module",
    "check_layers",
    "check_repeatable",
    "find_layer",
    "resolve_model",
]
