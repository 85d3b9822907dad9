"""Wrong versions of a reference: that they are wrong, and that they say when they do not exist."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from kernelwright.core.execution import Workload
from kernelwright.tasks.inside.compare import has_same_form, is_same
from kernelwright.tasks.inside.draw import drawn
from kernelwright.tasks.inside.mutants import DoesNotApply, Mutator
from kernelwright.tasks.inside.reference import Reference
from kernelwright.tasks.inside.run import run_eager

HEADER = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
NETWORK = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)
    def forward(self, x):
        x = torch.relu(self.fc(x) - 0.1)
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.randn(16, 16)]
"""


def mutator(folder: Path, source: str) -> Mutator:
    (folder / "task.py").write_text(HEADER + source)
    reference = Reference(folder, "task.py")
    workload = Workload(5)
    made = drawn(reference, workload)
    expected, _ = run_eager(reference, workload, made)
    return Mutator(reference, workload, made, expected)


def test_every_mutant_is_wrong_and_has_the_form_of_the_reference(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    names = made.names()
    assert names == [
        "zeros",
        "constant",
        "other_input",
        "stale",
        "half_precision",
        "off_by_one_tile",
        "wrong_axis",
        "dropped_op: linear",
        "dropped_op: sub",
        "dropped_op: relu",
        "dropped_op: softmax",
    ]
    for name in names:
        output = made.output(name)
        assert has_same_form(output, made.expected), name
        assert not is_same(output, made.expected), name


def test_making_mutants_leaves_the_reference_as_it_was(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    for name in made.names():
        made.output(name)
    again, _ = run_eager(made.reference, made.workload, made.drawn)
    assert torch.equal(again, made.expected)


def test_a_dropped_operation_hands_its_operand_on(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    x = made.drawn.args[0]
    with torch.no_grad():
        expected = torch.softmax(made.drawn.module.fc(x) - 0.1, 1)
    assert torch.equal(made.output("dropped_op: relu"), expected)


def test_the_wrong_axis_is_another_axis(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    x = made.drawn.args[0]
    with torch.no_grad():
        expected = torch.softmax(torch.relu(made.drawn.module.fc(x) - 0.1), 0)
    assert torch.equal(made.output("wrong_axis"), expected)


def test_half_precision_is_near_but_not_equal(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    error = float((made.output("half_precision") - made.expected).abs().max())
    assert 1e-6 < error < 1e-2


def test_a_bias_can_be_left_out(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK.replace("nn.Linear(16, 16)", "nn.Linear(16, 8)"))
    name = "dropped_op: bias of linear"
    assert name in made.names()
    fc, x = made.drawn.module.fc, made.drawn.args[0]
    with torch.no_grad():
        expected = torch.softmax(torch.relu(x @ fc.weight.T - 0.1), 1)
    assert torch.allclose(made.output(name), expected)


def test_the_tail_of_the_output_repeats_the_tile_before_it(tmp_path: Path) -> None:
    made = mutator(tmp_path, NETWORK)
    flat, wrong = made.expected.reshape(-1), made.output("off_by_one_tile").reshape(-1)
    assert torch.equal(wrong[:-64], flat[:-64])
    assert torch.equal(wrong[-64:], flat[-128:-64])


def test_a_constant_tail_is_no_place_to_be_off_by_a_tile(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def forward(self, x):
        return F.pad(x, (0, 500))
def get_inputs():
    return [torch.rand(300)]
"""
    made = mutator(tmp_path, source)
    wrong = made.output("off_by_one_tile")
    changed = torch.nonzero(wrong != made.expected)
    assert 0 < changed.numel() <= 64
    assert int(changed[-1]) == 300 + 63


def test_a_square_product_has_a_transposed_mutant(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def forward(self, a, b):
        return a @ b
def get_inputs():
    return [torch.rand(4, 8), torch.rand(8, 8)]
"""
    made = mutator(tmp_path, source)
    a, b = made.drawn.args
    assert torch.equal(made.output("wrong_axis"), a @ b.T)


@pytest.mark.parametrize(
    ("body", "inputs", "name", "why"),
    [
        ("x.sum()", "torch.rand(9)", "off_by_one_tile", "one element"),
        ("x.sum()", "torch.rand(9)", "constant", "one element"),
        ("F.layer_norm(x + 3, (8,))", "torch.rand(4, 8)", "dropped_op: add", "in float64"),
        ("x * 2", "torch.rand(9)", "wrong_axis", "no operation takes an axis"),
        ("x.sum(1)", "torch.rand(4, 8)", "wrong_axis", "changes the shape"),
        ("x.sum(1)", "torch.rand(4, 8)", "dropped_op", "without changing a shape"),
        ("x + 1", "torch.ones(9)", "other_input", "do not depend on the seed"),
        ("x.long()", "torch.rand(9)", "half_precision", "no float32"),
        ("torch.relu(x) * 1", "torch.rand(9)", "dropped_op: relu", "the same"),
    ],
)
def test_a_mutant_that_a_task_lacks_says_why(
    tmp_path: Path, body: str, inputs: str, name: str, why: str
) -> None:
    source = f"""
class Model(nn.Module):
    def forward(self, x):
        return {body}
def get_inputs():
    return [{inputs}]
"""
    made = mutator(tmp_path, source)
    assert name in made.names()
    with pytest.raises(DoesNotApply, match=why):
        made.output(name)


def test_a_degenerate_task_has_mutants_that_equal_the_reference(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def forward(self, x):
        x = x.max(dim=1, keepdim=True).values
        return x - x.mean(dim=1, keepdim=True)
def get_inputs():
    return [torch.randn(8, 32)]
"""
    made = mutator(tmp_path, source)
    for name in ("zeros", "constant", "other_input"):
        assert is_same(made.output(name), made.expected), name
