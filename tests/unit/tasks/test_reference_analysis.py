"""What the meta device tells about a task: operands, bytes, operations, reductions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kernelwright.sandbox.module_fault import ModuleFault
from kernelwright.tasks.inside.analysis import Analyst
from kernelwright.tasks.inside.census import Census
from kernelwright.tasks.inside.reference import Reference

HEADER = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def analysed(folder: Path, source: str, *, room_bytes: int = 1 << 30) -> dict[str, Any]:
    (folder / "task.py").write_text(HEADER + source)
    reference = Reference(folder, "task.py")
    return Analyst(reference, reference.namespace(), room_bytes).analysis()


def operands(found: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [spec for spec in found["operands"] if spec["role"] == role]


LINEAR = """
class Model(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.fc = nn.Linear(width, out)
        self.register_buffer("shift", torch.zeros(out))
    def forward(self, x, scale):
        return {"y": self.fc(x) * scale + self.shift, "n": [x.sum(), 3]}
def get_inputs():
    return [torch.rand(64, 8).T, 2.0]
def get_init_inputs():
    return [64, 16]
"""


def test_every_operand_is_described(tmp_path: Path) -> None:
    found = analysed(tmp_path, LINEAR)
    assert [(s["name"], s["value"]) for s in operands(found, "init")] == [
        ("width", "64"),
        ("out", "16"),
    ]
    x, scale = operands(found, "input")
    assert (x["name"], x["shape"], x["dtype"], x["is_contiguous"]) == (
        "x",
        [8, 64],
        "float32",
        False,
    )
    assert (scale["type"], scale["value"]) == ("float", "2.0")
    assert [s["name"] for s in operands(found, "parameter")] == ["fc.weight", "fc.bias"]
    assert [s["name"] for s in operands(found, "buffer")] == ["shift"]
    assert [(s["name"], s["type"]) for s in operands(found, "output")] == [
        ("output['y']", "tensor"),
        ("output['n'][0]", "tensor"),
        ("output['n'][1]", "int"),
    ]


def test_bytes_and_operations_are_counted(tmp_path: Path) -> None:
    found = analysed(tmp_path, LINEAR)
    assert found["input_bytes"] == 64 * 8 * 4
    assert found["parameter_bytes"] == (64 * 16 + 16 + 16) * 4
    assert found["flops"] == 2 * 8 * 64 * 16 + 2 * 8 * 16 + 64 * 8
    assert found["reduction_length"] == 64 * 8


HUGE = """
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.rand(1 << 20, 1 << 20)]
"""


def test_a_task_of_terabytes_is_measured_without_allocating_it(tmp_path: Path) -> None:
    found = analysed(tmp_path, HUGE)
    assert found["input_bytes"] == found["activation_bytes"] == 4 << 40
    assert found["reduction_length"] == 1 << 20


def test_only_live_results_count_as_memory(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def forward(self, x):
        for _ in range(10):
            x = x + 1
        return x
def get_inputs():
    return [torch.rand(1000)]
"""
    assert analysed(tmp_path, source)["activation_bytes"] == 2 * 4000


PEEKS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = [x.item() for x in torch.linspace(0, 1, 3)]
    def forward(self, x):
        return x * self.rates[1]
def get_inputs():
    return [torch.rand(8)]
"""


def test_a_constructor_that_looks_at_values_runs_for_real(tmp_path: Path) -> None:
    found = analysed(tmp_path, PEEKS)
    assert found["ways"] == {"construct": "real", "inputs": "meta", "forward": "meta"}


def test_a_forward_that_looks_at_values_runs_for_real_only_if_it_fits(tmp_path: Path) -> None:
    source = PEEKS.replace("x * self.rates[1]", "x * x.max().item()")
    assert analysed(tmp_path, source)["ways"]["forward"] == "real"
    with pytest.raises(ModuleFault, match="inputs and parameters take 32 bytes"):
        analysed(tmp_path, source, room_bytes=16)


def test_a_failing_forward_is_the_tasks_fault_with_its_line(tmp_path: Path) -> None:
    source = PEEKS.replace("x * self.rates[1]", "x.view(3, 5)")
    with pytest.raises(
        ModuleFault, match=r"(?s)shape '\[3, 5\]' is invalid.*task\.py:10 in forward"
    ):
        analysed(tmp_path, source)


def test_inputs_that_are_no_list_are_refused(tmp_path: Path) -> None:
    source = PEEKS.replace("[torch.rand(8)]", "torch.rand(8)")
    with pytest.raises(ModuleFault, match=r"get_inputs\(\) returns a Tensor instead of a list"):
        analysed(tmp_path, source)


@pytest.mark.parametrize(
    ("layer", "is_random", "is_training"),
    [("nn.Dropout(0.5)", True, True), ("nn.Dropout(0.5).eval()", False, False)],
)
def test_mode_and_randomness_are_stated(
    tmp_path: Path, layer: str, is_random: bool, is_training: bool
) -> None:
    source = f"""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = {layer}
        self.train(self.drop.training)
    def forward(self, x):
        return self.drop(x)
def get_inputs():
    return [torch.rand(64)]
"""
    found = analysed(tmp_path, source)
    assert (found["is_random"], found["is_training"]) == (is_random, is_training)


def test_randomness_from_python_shows_on_trial(tmp_path: Path) -> None:
    source = PEEKS.replace("x * self.rates[1]", "x * random.random()")
    (tmp_path / "task.py").write_text("import random\n" + HEADER + source)
    reference = Reference(tmp_path, "task.py")
    analyst = Analyst(reference, reference.namespace(), 1 << 20)
    assert not analyst.analysis()["is_random"]
    assert analyst.is_random_on_trial()


def test_a_long_recurrent_layer_is_analysed_in_one_step(tmp_path: Path) -> None:
    source = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(32, 64, num_layers=2, bidirectional=True, batch_first=True)
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return out, h, c
def get_inputs():
    return [torch.rand(4, 100_000, 32)]
"""
    found = analysed(tmp_path, source)
    shapes = [spec["shape"] for spec in operands(found, "output")]
    assert shapes == [[4, 100_000, 128], [4, 4, 64], [4, 4, 64]]
    weights = 2 * (256 * 32 + 256 * 64) + 2 * (256 * 128 + 256 * 64)
    assert found["flops"] == pytest.approx(2 * 4 * 100_000 * weights, rel=0.01)


REDUCTIONS = {
    "matrix product": (lambda x: x @ x.T, 48),
    "row sum": (lambda x: x.sum(1), 48),
    "whole mean": (lambda x: x.mean(), 32 * 48),
    "softmax": (lambda x: torch.softmax(x, 0), 32),
    "cumulative sum": (lambda x: torch.cumsum(x, 1), 48),
    "layer norm": (lambda x: torch.nn.functional.layer_norm(x, (48,)), 48),
    "group norm": (lambda x: torch.nn.functional.group_norm(x.view(2, 16, 48), 4), 4 * 48),
    "batch norm": (
        lambda x: torch.nn.functional.batch_norm(x.view(2, 16, 48), None, None, training=True),
        2 * 48,
    ),
    "convolution": (
        lambda x: torch.nn.functional.conv1d(x.view(2, 16, 48), torch.ones(8, 4, 3), groups=4),
        4 * 3,
    ),
    "transposed convolution": (
        lambda x: torch.nn.functional.conv_transpose1d(x.view(2, 16, 48), torch.ones(16, 5, 3)),
        16 * 3,
    ),
    "average pool": (lambda x: torch.nn.functional.avg_pool2d(x.view(1, 1, 32, 48), 4), 16),
    "attention": (
        lambda x: torch.nn.functional.scaled_dot_product_attention(*[x.view(1, 1, 32, 48)] * 3),
        48,
    ),
    "loss": (lambda x: torch.nn.functional.mse_loss(x, x + 1), 32 * 48),
    "elementwise": (lambda x: torch.relu(x) * 2 + x, 1),
    "views": (lambda x: x.reshape(48, 32).T.contiguous(), 1),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_longest_reduction_is_found(name: str) -> None:
    run, expected = REDUCTIONS[name]
    with torch.no_grad(), Census() as census:
        run(torch.rand(32, 48))
    assert census.reduction_length == expected
