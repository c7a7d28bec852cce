"""The tiny CIFAR-10 in the place of the real one."""

from dataclasses import replace

import pytest
from tiny_cifar10 import tiny_arrays

from fallow.data.cifar10 import Cifar10
from fallow.data.published import Published


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Published:
    arrays = tiny_arrays()
    published = replace(Cifar10.published, train=10, test=3, sha256=arrays.sha256(), sources=())
    monkeypatch.setattr(Cifar10, "published", published)
    return published
