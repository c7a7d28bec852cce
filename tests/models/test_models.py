"""The networks, their first weights, and names."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from fallow.errors import ConfigError
from fallow.learning.network import Network, build_network
from fallow.models import MLP, MODELS, Model, PaperCNN, ResNet18GN, SignalCNN, SmallCNN, build_module, resolve_model


def tiny(input_shape: tuple[int, ...], classes: int, hidden: int = 4) -> nn.Module:
    inputs = int(np.prod(input_shape))
    return nn.Sequential(nn.Flatten(), nn.Linear(inputs, hidden), nn.LayerNorm(hidden), nn.Linear(hidden, classes))


def pair(input_shape: tuple[int, ...], classes: int) -> object:
    return input_shape, classes


def test_the_papers_network_has_its_layers() -> None:
    module = PaperCNN().build((3, 32, 32), 10)
    convolutions = [layer.out_channels for layer in module.modules() if isinstance(layer, nn.Conv2d)]
    linear = [(layer.in_features, layer.out_features) for layer in module.modules() if isinstance(layer, nn.Linear)]
    assert convolutions == [32, 32, 64, 64, 128, 128]
    assert linear == [(2048, 256), (256, 128), (128, 10)]
    assert sum(isinstance(layer, nn.MaxPool2d) for layer in module.modules()) == 3


def test_the_width_scales_every_layer_but_the_last() -> None:
    module = PaperCNN(width=0.5).build((3, 32, 32), 10)
    linear = [(layer.in_features, layer.out_features) for layer in module.modules() if isinstance(layer, nn.Linear)]
    assert linear == [(1024, 128), (128, 64), (64, 10)]


@pytest.mark.parametrize("name", MODELS)
def test_first_weights_depend_on_the_seed_alone(name: str) -> None:
    shape = (3, 32) if name == "signal-cnn" else (3, 32, 32)
    torch.manual_seed(1)
    one = build_network(resolve_model(name)(), shape, 10, seed=5).weights()
    torch.manual_seed(2)
    assert np.array_equal(one, build_network(resolve_model(name)(), shape, 10, seed=5).weights())
    assert not np.array_equal(one, build_network(resolve_model(name)(), shape, 10, seed=6).weights())


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (PaperCNN(), (3, 32, 32)),
        (MLP(), (64,)),
        (SignalCNN(), (9, 64)),
        (ResNet18GN(width=0.5), (3, 32, 32)),
    ],
)
def test_first_weights_are_those_of_he(model: Model, shape: tuple[int, ...]) -> None:
    module = build_module(model, shape, 10, seed=0)
    large = 0
    for layer in module.modules():
        if isinstance(layer, nn.Conv1d | nn.Conv2d | nn.Linear) and layer.weight.numel() > 1000:
            fan_in = layer.weight[0].numel()
            large += 1
            assert layer.weight.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.1)
            assert layer.bias is None or not layer.bias.any()
    assert large >= 2


def test_building_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    build_module(SmallCNN(), (1, 8, 8), 10, seed=5)
    assert torch.equal(before, torch.get_rng_state())


def test_a_network_from_outside() -> None:
    network = build_network(resolve_model("tests.models.test_models:tiny")(hidden=6), (1, 8, 8), 3, seed=1)
    assert network.size == 64 * 6 + 6 + 12 + 6 * 3 + 3
    assert torch.equal(dict(network.module.named_parameters())["2.weight"], torch.ones(6))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("paper-cn", "There is no model 'paper-cn'; did you mean 'paper-cnn'?"),
        ("tests.models.test_models:tin", "has no 'tin'; did you mean 'tiny'?"),
        ("no_such_module:net", "importing 'no_such_module' failed with ModuleNotFoundError"),
    ],
)
def test_a_wrong_name_is_explained(name: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_model(name)
    assert sentence in str(caught.value)


def test_images_that_do_not_fit() -> None:
    with pytest.raises(ConfigError, match=r"at least 8×8 pixels; the data has inputs of shape \(1, 4, 4\)"):
        PaperCNN().build((1, 4, 4), 10)


def test_a_factory_that_returns_no_module() -> None:
    with pytest.raises(ConfigError, match=r"must return a torch.nn.Module; it returned a tuple"):
        resolve_model("tests.models.test_models:pair")().build((1, 8, 8), 10)


def test_inputs_of_another_kind() -> None:
    sentence = r"'signal-cnn' takes signals of shape \(channels, length\), at least 8 long; the data has .* \(3, 7\)"
    with pytest.raises(ConfigError, match=sentence):
        SignalCNN().build((3, 7), 10)
    with pytest.raises(ConfigError, match=r"'resnet18-gn' takes images .*, at least 8×8 pixels; .* \(12,\)"):
        ResNet18GN().build((12,), 10)


def test_a_perceptron_has_the_hidden_layers_that_are_asked_for() -> None:
    linear = [layer for layer in MLP(hidden=(7, 5)).build((2, 6), 3).modules() if isinstance(layer, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in linear] == [(12, 7), (7, 5), (5, 3)]
    assert sum(p.numel() for p in MLP(hidden=()).build((12,), 3).parameters()) == 12 * 3 + 3


def test_an_even_kernel_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"model.kernel = 4 is even"):
        SignalCNN(kernel=4)


def test_resnet_18_has_its_layers() -> None:
    module = ResNet18GN().build((3, 32, 32), 10)
    sizes = [(layer.out_channels, layer.stride[0]) for layer in module.modules() if isinstance(layer, nn.Conv2d)]
    assert sum(p.numel() for p in module.parameters()) == 11_173_962  # as with batch normalisation on CIFAR-10
    assert [size for size in sizes if size[1] == 2] == [(128, 2)] * 2 + [(256, 2)] * 2 + [(512, 2)] * 2
    assert len(sizes) == 17 + 3  # eighteen with the linear layer, and three ways around
    assert {layer.num_groups for layer in module.modules() if isinstance(layer, nn.GroupNorm)} == {2}


def test_a_resnet_with_one_value_in_a_group_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"model\.width = 0\.001 leaves one value in each of the 2 groups .* 8×8"):
        ResNet18GN(width=0.001).build((3, 8, 8), 10)
    ResNet18GN(width=0.001).build((3, 9, 8), 10)  # two values: 2 × 1 pixels of one channel
    ResNet18GN(width=0.008).build((3, 8, 8), 10)  # two values: one pixel of two channels


@pytest.mark.parametrize(
    ("shape", "model"),
    [
        ((12,), MLP()),
        ((9, 128), SignalCNN()),
        ((1, 8, 8), SmallCNN()),
        ((3, 15, 40), SmallCNN()),
        ((1, 16, 16), PaperCNN()),
        ((3, 32, 32), PaperCNN()),
    ],
)
def test_auto_chooses_by_the_shape_of_an_input(shape: tuple[int, ...], model: Model) -> None:
    assert MODELS["auto"]().choose(shape) == model


def test_auto_takes_the_network_that_suits_the_images() -> None:
    sizes = {side: sum(p.numel() for p in MODELS["auto"]().build((1, side, side), 10).parameters()) for side in (8, 16)}
    assert sizes[8] < 5_000 < 100_000 < sizes[16]


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("passes", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.passes += 1
        return x


class DropsInItsOwnWay(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, training=self.training)


@pytest.mark.parametrize(
    ("layer", "sentence"),
    [
        (nn.BatchNorm2d(1, momentum=None), "layer '0' has momentum = None"),
        (Counts(), "keeps '0.passes' beside its weights, no running mean or variance"),
        (nn.AlphaDropout(0.5), "other numbers for the same input"),
        (DropsInItsOwnWay(), "other numbers for the same input"),
        (nn.Conv2d(1, 1, 1).requires_grad_(False), "'0.weight' does not require a gradient"),
    ],
)
def test_what_can_not_be_averaged_trained_or_repeated_is_refused(layer: nn.Module, sentence: str) -> None:
    module = nn.Sequential(layer, nn.Flatten(), nn.Linear(64, 10))
    with pytest.raises(ConfigError, match=sentence):
        build_network(Given(module), (1, 8, 8), 10, seed=0)


class Given:
    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def build(self, input_shape: tuple[int, ...], classes: int) -> nn.Module:
        return self.module


@pytest.mark.parametrize(
    ("feature", "size"), [("softmax", 10), ("logits", 10), ("features.3", 16 * 4 * 4), ("classifier.1", 32)]
)
def test_feature_sizes(feature: str, size: int) -> None:
    assert build_network(SmallCNN(), (1, 8, 8), 10, 0, feature).feature_size == size


def test_a_wrong_feature_layer_is_named_with_its_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no layer 'feature.3' to take features from; did you mean 'features.3'"):
        build_network(SmallCNN(), (1, 8, 8), 10, 0, "feature.3")


def test_a_layer_of_features_is_its_output_flattened() -> None:
    network = build_network(SmallCNN(), (1, 8, 8), 10, 0, "features.2")
    x = torch.randn(2, 1, 8, 8)
    _, features = network.forward(x)
    expected = network.module.features[2](network.module.features[1](network.module.features[0](x)))
    torch.testing.assert_close(features, expected.flatten(1))
    assert not features.requires_grad


def test_a_network_with_another_number_of_outputs() -> None:
    with pytest.raises(ConfigError, match=r"shape \(1, 5\) for one input; it must be \(1, 10\)"):
        Network(nn.Sequential(nn.Flatten(), nn.Linear(64, 5)), (1, 8, 8), 10)


def test_weights_survive_the_round_through_the_module() -> None:
    network = build_network(SmallCNN(), (1, 8, 8), 10, 0)
    weights = np.random.default_rng(0).standard_normal(network.size).astype(np.float32)
    network.load(weights)
    assert np.array_equal(network.weights(), weights)
    first = dict(network.module.named_parameters())["features.0.weight"]
    assert np.array_equal(first.detach().numpy().ravel(), weights[: first.numel()])


def test_naming_models_loads_no_torch() -> None:
    modules = "fallow.models.build, fallow.learning.options, fallow.aggregation"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
