"""The oracle answers for a reference that lives in a real sandboxed process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.execution import (
    Distribution,
    Failure,
    ParameterDraw,
    Returned,
    StateTransfer,
    Workload,
)
from kernelwright.core.tensor import Tensor, Tree
from kernelwright.sandbox import Sandbox
from kernelwright.tasks import TaskOracle, load_task

HEADER = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
AFFINE = """
rows = 24
width = 32
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
    def forward(self, x):
        return torch.relu(self.norm(x))
def get_inputs():
    return [torch.rand(rows, width)]
def get_init_inputs():
    return [width]
"""
Opener = Callable[[str], TaskOracle]


@pytest.fixture
def opened(sandbox: Sandbox, tmp_path: Path) -> Iterator[Opener]:
    oracles: list[TaskOracle] = []

    def make(source: str) -> TaskOracle:
        path = tmp_path / f"op{len(oracles)}.py"
        path.write_text(HEADER + source)
        task = load_task(path, sandbox=sandbox)
        oracles.append(TaskOracle(task, sandbox=sandbox, timeout_s=30))
        return oracles[-1]

    yield make
    for oracle in oracles:
        oracle.close()


def function(body: str, inputs: str = "torch.rand(rows, 32)") -> str:
    return f"""
rows = 24
class Model(nn.Module):
    def forward(self, x):
        return {body}
def get_inputs():
    return [{inputs}]
"""


def array(tree: Tree) -> np.ndarray:
    assert isinstance(tree, Tensor)
    return np.frombuffer(tree.data, tree.dtype).reshape(tree.shape)


def distributions(oracle: TaskOracle) -> set[Distribution]:
    return {workload.distribution for workload in oracle.workloads(range(10, 20))}


def test_expected_values_are_the_reference_in_both_precisions(opened: Opener) -> None:
    oracle = opened(AFFINE)
    workload = Workload(5, Distribution.SIGNED, ParameterDraw.RANDOMISED)
    call, expected = oracle.call(workload), oracle.expected(workload)
    x = array(call.args[0]).astype(np.float64)
    weight, bias = array(call.state["norm.weight"]), array(call.state["norm.bias"])
    scaled = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    exact = np.maximum(scaled * weight + bias, 0)
    assert np.abs(array(expected.exact) - exact).max() < 1e-12
    assert array(expected.outputs).dtype == np.float32
    assert np.abs(array(expected.outputs) - exact).max() < 1e-5
    assert expected.reduction_length == 32
    assert expected.mutated_args == ()


def test_a_call_holds_what_both_sides_are_made_from(opened: Opener) -> None:
    call = opened(AFFINE).call(Workload(5))
    assert (call.seed, call.init, call.is_training) == (5, (32,), True)
    assert set(call.state) == {"norm.weight", "norm.bias"}


def test_the_plan_has_every_kind_that_the_task_allows(opened: Opener) -> None:
    plan = opened(AFFINE).workloads(range(100, 110))
    assert plan[0] == Workload(100)
    assert len(plan) == 10
    assert {w.distribution for w in plan} == set(Distribution) - {Distribution.SPECIAL}
    assert any(w.parameters is ParameterDraw.RANDOMISED for w in plan)
    assert any(w.is_strided for w in plan)
    assert (("rows", 3), ("width", 31)) in {w.sizes for w in plan}


def test_every_planned_workload_can_be_answered(opened: Opener) -> None:
    oracle = opened(AFFINE)
    for workload in oracle.workloads(range(100, 108)):
        call, expected = oracle.call(workload), oracle.expected(workload)
        assert array(call.args[0]).shape == array(expected.outputs).shape
        assert np.isfinite(array(expected.outputs)).all()
        x = call.args[0]
        assert isinstance(x, Tensor)
        assert (x.strides is not None) == workload.is_strided


def test_special_values_are_planned_for_an_elementwise_task(opened: Opener) -> None:
    oracle = opened(function("torch.relu(x) + 1"))
    assert Distribution.SPECIAL in distributions(oracle)
    expected = oracle.expected(Workload(3, Distribution.SPECIAL))
    assert np.isnan(array(expected.outputs)).any()


def test_inputs_on_which_the_reference_breaks_down_are_not_planned(opened: Opener) -> None:
    oracle = opened(function("torch.log(x)"))
    assert not {Distribution.SIGNED, Distribution.TIES, Distribution.LARGE} & distributions(oracle)
    reasons = dict(oracle.unfair())
    assert "not finite where the official inputs give finite values" in reasons["signed"]


def test_a_layout_that_the_reference_refuses_is_not_planned(opened: Opener) -> None:
    plan = opened(function("x.view(-1) * 2")).workloads(range(10))
    assert not any(workload.is_strided for workload in plan)


def test_a_reference_that_rounds_away_its_answer_is_not_asked_there(opened: Opener) -> None:
    oracle = opened(function("torch.sin(x * 1000)"))
    assert Distribution.LARGE not in distributions(oracle)


def test_integer_inputs_stay_in_their_range(opened: Opener) -> None:
    source = function("F.one_hot(x, 7)", "torch.randint(0, 7, (rows,))")
    oracle = opened(source)
    assert distributions(oracle) == {Distribution.OFFICIAL}
    for workload in oracle.workloads(range(6)):
        assert set(np.unique(array(oracle.call(workload).args[0]))) <= set(range(7))


def test_a_reference_that_writes_to_its_argument_says_so(opened: Opener) -> None:
    oracle = opened(function("x.mul_(2)"))
    workload = Workload(4)
    assert oracle.expected(workload).mutated_args == (0,)
    before = array(oracle.call(workload).args[0])
    assert np.array_equal(array(oracle.expected(workload).outputs), before * 2)


def test_nested_outputs_keep_their_structure(opened: Opener) -> None:
    oracle = opened(function("{'a': (x, [x.sum(1), 3]), 'b': x.argmax(1)}"))
    outputs, exact = oracle.expected(Workload(4)).outputs, oracle.expected(Workload(4)).exact
    assert isinstance(outputs, dict)
    assert isinstance(exact, dict)
    assert isinstance(outputs["a"], tuple)
    assert outputs["a"][1][1] == 3
    assert array(outputs["b"]).dtype == array(exact["b"]).dtype == np.int64


def test_a_random_reference_repeats_itself_and_has_no_float64_result(opened: Opener) -> None:
    oracle = opened(function("F.dropout(x, 0.5)"))
    assert oracle.task.is_random
    one, two = oracle.expected(Workload(4)), oracle.expected(Workload(4))
    assert one.exact is None
    assert np.array_equal(array(one.outputs), array(two.outputs))
    other = oracle.expected(Workload(5)).outputs
    assert not np.array_equal(array(one.outputs) == 0, array(other) == 0)


def test_mutants_differ_from_the_reference_and_absent_ones_say_why(opened: Opener) -> None:
    oracle = opened(AFFINE)
    workload = Workload(5, Distribution.SIGNED, ParameterDraw.RANDOMISED)
    right = array(oracle.expected(workload).outputs)
    mutants = {mutant.name: mutant for mutant in oracle.mutants(workload)}
    assert {"zeros", "constant", "other_input", "stale", "half_precision"} <= set(mutants)
    assert {"dropped_op: relu", "dropped_op: bias of layer_norm"} <= set(mutants)
    for mutant in mutants.values():
        if mutant.outputs is None:
            assert mutant.why
        else:
            assert not np.array_equal(array(mutant.outputs), right), mutant.name
    assert mutants["wrong_axis"].outputs is None


def test_the_baseline_is_the_reference_in_a_process_of_its_own(opened: Opener) -> None:
    oracle = opened(AFFINE)
    workload = Workload(5, parameters=ParameterDraw.RANDOMISED)
    call, expected = oracle.call(workload), oracle.expected(workload)
    with oracle.baseline() as module:
        assert module.construct(call) is StateTransfer.COPIED
        returned = module.run(call.args)
        assert isinstance(returned, Returned)
        assert array(returned.outputs).tobytes() == array(expected.outputs).tobytes()
        assert module.hold([call.args]) is None
        seconds = module.tick(0, repeats=3, is_cold=False)
        assert not isinstance(seconds, Failure)
        assert seconds > 0
    assert oracle.baseline_name().startswith("torch eager ")


def test_a_reference_that_dies_is_reported_and_the_oracle_lives_on(opened: Opener) -> None:
    body = "x * 2 if x.shape[0] == 24 else __import__('os')._exit(0)"
    oracle = opened(function(body))
    with pytest.raises(TaskInvalid, match="before it answered"):
        oracle.expected(Workload(4, sizes=(("rows", 8),)))
    assert array(oracle.expected(Workload(4)).outputs).shape == (24, 32)


def test_what_the_reference_prints_is_no_answer(opened: Opener) -> None:
    oracle = opened(function("[print('{\"ok\": true}', flush=True), x * 2][1]"))
    assert array(oracle.expected(Workload(4)).outputs).shape == (24, 32)
