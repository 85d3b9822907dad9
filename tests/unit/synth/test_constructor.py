"""A kernel's module takes over the reference's constructor and none of its computation."""

from __future__ import annotations

import pytest

from kernelwright.core.errors import NotCovered
from kernelwright.synth.constructor import constructor_of

SOURCE = '''
import math
import os
import torch
from torch import nn

WIDTH = 8

class Inner(nn.Module):
    def __init__(self, n):
        super(Inner, self).__init__()
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return torch.exp(x) * self.scale

class Model(nn.Module):
    def __init__(self, n: int = 4, *, eps: float = 1e-5) -> None:
        """Says what it does."""
        super(Model, self).__init__()
        self.inner = Inner(WIDTH * math.ceil(n))

    def forward(self, x, y=None):
        return self.inner(x)
'''


def test_helpers_come_along_without_their_computation() -> None:
    text = "\n".join(constructor_of(SOURCE, needs_state=True).helpers)
    assert "WIDTH = 8" in text and "class Inner" in text and "nn.Parameter" in text
    assert "exp" not in text and "forward" not in text


def test_only_needed_imports_come_along() -> None:
    assert "import os" not in constructor_of(SOURCE, needs_state=True).imports
    assert "import math" in constructor_of(SOURCE, needs_state=True).imports


def test_super_names_no_class_and_docstrings_go() -> None:
    text = "\n".join(constructor_of(SOURCE, needs_state=True).init(has_state=True))
    assert "super().__init__()" in text and "Says" not in text


def test_without_state_only_the_signature_is_kept() -> None:
    lines = constructor_of(SOURCE, needs_state=False).init(has_state=False)
    assert lines[0].strip() == "def __init__(self, n=4, *, eps=1e-05):"
    assert "Inner" not in "\n".join(lines)


def test_forward_keeps_its_argument_names_and_defaults() -> None:
    assert constructor_of(SOURCE, needs_state=True).forward_signature(2) == "self, x, y=None"


def test_a_file_without_a_model_is_not_covered() -> None:
    with pytest.raises(NotCovered, match="no class Model"):
        constructor_of("x = 1", needs_state=False)
