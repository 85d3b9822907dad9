"""How inputs and parameters are drawn, and what a redraw must leave alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernelwright.core.execution import Distribution, ParameterDraw, Workload
from kernelwright.tasks.inside.compare import is_same, unfairness
from kernelwright.tasks.inside.draw import drawn, is_redrawable, redrawn, restrided
from kernelwright.tasks.inside.reference import Reference
from kernelwright.tasks.inside.run import run_eager, run_exact

TASK = """
import torch
from torch import nn
rows = 16
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(width, width)))
    def forward(self, x, index):
        x += 1
        return self.fc(self.norm(x))[index] @ self.mask
def get_inputs():
    return [torch.rand(rows, 32), torch.randint(0, rows, (5,))]
def get_init_inputs():
    return [32]
"""


@pytest.fixture
def reference(tmp_path: Path) -> Reference:
    (tmp_path / "task.py").write_text(TASK)
    return Reference(tmp_path, "task.py")


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def test_official_inputs_are_what_the_file_draws_after_seeding(reference: Reference) -> None:
    made = drawn(reference, Workload(seed=7))
    torch.manual_seed(7)
    assert torch.equal(made.args[0], torch.rand(16, 32))
    torch.manual_seed(7)
    assert torch.equal(made.module.fc.weight, torch.nn.Linear(32, 32).weight)


@pytest.mark.parametrize("distribution", list(Distribution))
def test_the_same_workload_gives_the_same_bytes(
    reference: Reference, distribution: Distribution
) -> None:
    workload = Workload(9, distribution, ParameterDraw.RANDOMISED, is_strided=True)
    one, two = drawn(reference, workload), drawn(reference, workload)
    assert is_same(one.args, two.args)
    assert is_same(one.module.state_dict(), two.module.state_dict())
    other = drawn(reference, replace(workload, seed=10))
    assert not is_same(one.args, other.args)


def test_indices_stay_official(reference: Reference) -> None:
    official = drawn(reference, Workload(3)).args[1]
    assert torch.equal(drawn(reference, Workload(3, Distribution.LARGE)).args[1], official)


def test_randomised_parameters_leave_no_default_and_no_constant_table_changed(
    reference: Reference,
) -> None:
    made = drawn(reference, Workload(3, parameters=ParameterDraw.RANDOMISED)).module
    state = made.state_dict()
    for name in ("norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"):
        assert torch.unique(state[name]).numel() == 32, name
    assert bool((state["norm.running_var"] > 0).all())
    assert torch.equal(state["mask"], torch.tril(torch.ones(32, 32)))


def test_an_edge_shape_changes_the_named_size(reference: Reference) -> None:
    assert drawn(reference, Workload(3, sizes=(("rows", 3),))).args[0].shape == (3, 32)


def test_signed_inputs_have_both_signs_and_special_ones_every_special_value() -> None:
    official = torch.rand(64, 64)
    assert float(redrawn(official, Distribution.SIGNED, generator()).min()) < 0
    special = redrawn(official, Distribution.SPECIAL, generator())
    assert special.isnan().any()
    assert (special == torch.inf).any()
    assert (special == -torch.inf).any()
    assert ((special == 0) & torch.signbit(special)).any()
    assert ((special != 0) & (special.abs() < torch.finfo(torch.float32).tiny)).any()


def test_ties_hold_few_values_and_exact_zeros() -> None:
    ties = redrawn(torch.rand(64, 64), Distribution.TIES, generator())
    assert torch.unique(ties).numel() <= 7
    assert (ties == 0).any()


def test_large_inputs_overflow_an_exponential() -> None:
    large = redrawn(torch.rand(64, 64), Distribution.LARGE, generator())
    assert torch.exp(large).isinf().any()


@pytest.mark.parametrize(
    "official",
    [
        torch.randint(0, 2, (64,)).float() * 2 - 1,
        torch.ones(8, 8),
        torch.softmax(torch.rand(8, 16), -1),
        torch.randint(0, 9, (64,)),
    ],
    ids=["labels", "mask", "probabilities", "integers"],
)
def test_labels_masks_and_probabilities_are_not_redrawn(official: torch.Tensor) -> None:
    assert not is_redrawable(official)
    assert redrawn(official, Distribution.SIGNED, generator()) is official


def test_a_redraw_keeps_triangles_symmetry_and_order() -> None:
    triangle = redrawn(torch.rand(32, 32).tril(), Distribution.LARGE, generator())
    assert torch.equal(triangle, triangle.tril())
    square = torch.rand(32, 32)
    symmetric = redrawn(square + square.T, Distribution.SIGNED, generator())
    assert torch.equal(symmetric, symmetric.T)
    ordered = redrawn(torch.rand(32).sort().values, Distribution.SIGNED, generator())
    assert bool((ordered.diff() >= 0).all())


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("shape", [(9,), (4, 6), (2, 3, 5)])
def test_another_layout_holds_the_same_values(shape: tuple[int, ...], turn: int) -> None:
    official = torch.rand(shape)
    strided = restrided(official, turn)
    assert torch.equal(strided, official)
    assert not strided.is_contiguous()


def test_the_reference_runs_on_copies_and_its_writes_are_noticed(reference: Reference) -> None:
    workload = Workload(3)
    made = drawn(reference, workload)
    before = made.args[0].clone()
    one, mutated = run_eager(reference, workload, made)
    two, _ = run_eager(reference, workload, made)
    assert mutated == (0,)
    assert torch.equal(made.args[0], before)
    assert torch.equal(one, two)


def test_float64_is_closer_than_float32_and_has_its_type(reference: Reference) -> None:
    workload = Workload(3)
    made = drawn(reference, workload)
    eager, _ = run_eager(reference, workload, made)
    exact = run_exact(reference, workload, made, eager)
    assert exact.dtype is torch.float64
    assert 0 < float((exact - eager).abs().max()) < 1e-4


def test_a_reference_that_insists_on_float32_has_no_float64_result(tmp_path: Path) -> None:
    source = TASK.replace("return self.fc", "return self.fc.float()", 1).replace(
        "(self.norm(x))[index]", "(self.norm.float()(x.float()))[index]"
    )
    (tmp_path / "task.py").write_text(source)
    reference = Reference(tmp_path, "task.py")
    workload = Workload(3)
    made = drawn(reference, workload)
    eager, _ = run_eager(reference, workload, made)
    assert run_exact(reference, workload, made, eager) is None


def fair(distribution: Distribution, eager: torch.Tensor, exact: torch.Tensor | None) -> str:
    official = torch.rand(8, 8)
    return unfairness(distribution, official=official, eager=eager, exact=exact, reduction_length=1)


def test_a_workload_is_unfair_where_the_reference_degenerates() -> None:
    good = torch.rand(8, 8)
    assert fair(Distribution.SIGNED, good, good.double()) == ""
    assert "not finite" in fair(Distribution.LARGE, good / 0, None)
    assert "every element is the same" in fair(Distribution.TIES, good * 0, None)
    assert "near the tolerance" in fair(Distribution.LARGE, good, good.double() * (1 + 1e-5))
    assert "another structure" in fair(Distribution.SIGNED, good[0], None)


def test_special_values_are_fair_only_where_float64_agrees_on_them() -> None:
    good = torch.rand(8, 8)
    good[0, 0], good[0, 1] = torch.nan, -torch.inf
    twin = good.double()
    assert fair(Distribution.SPECIAL, good, twin) == ""
    assert "no float64" in fair(Distribution.SPECIAL, good, None)
    twin[0, 0] = 1.0
    assert "NaN comes out" in fair(Distribution.SPECIAL, good, twin)
    twin[0, 0], twin[0, 1] = torch.nan, torch.inf
    assert "infinities" in fair(Distribution.SPECIAL, good, twin)
    most = torch.full((8, 8), torch.nan)
    assert "most of the result" in fair(Distribution.SPECIAL, most, most.double())
