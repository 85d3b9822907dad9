"""Programs of the kernel language that the generator writes: accepted, and right when run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kernelwright.core.errors import NotCovered
from kernelwright.dsl import check_source
from kernelwright.dsl.interpret import from_bf16, run, to_bf16
from kernelwright.synth.program import Program
from kernelwright.synth.tile_layout import Tensor
from kernelwright.synth.tile_source import TileProgram, tile_program

from .reference_tasks import TASKS, X4, XY, task
from .running import assert_close, leaves, loaded, program_of, widened

DTYPES = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "bool": np.bool_}
UNCOVERED = {
    "batch_norm": "read and written",
    "max_both": "argmax",
    "max_last": "argmax",
    "argmin": "argmin",
    "argmax_all": "argmax",
    "frobenius": "several passes",
    "kl_div": "a size inside a merged loop",
    "cross_entropy": "an index read from memory",
    "transposed": "stride",
    "comparison": "an output of bool",
    "pointwise": "the operator pow",
}
"""Tasks of which some kernel has no program, and why; every other task must have all of its own."""
MORE = {
    "negative_slope": task("return F.leaky_relu(x + y.sum(0), 0.2)", XY, arguments="x, y"),
    "middle_bias": task(
        "return (x * self.gain).amin(dim=(2, 3)) + x.mean()",
        X4,
        init="self.gain = nn.Parameter(torch.ones(c, 1, 1))",
        given="c=6",
    ),
    "softmax_first": task("return torch.softmax(x, dim=0)", X4),
    "largest": task("return x.max(), x.prod(), (x * x).sum()", X4),
    "constant": task("return torch.zeros_like(x), x", X4),
    "choices": task(
        "return torch.where((x > 0) & (y < 0) | ~(x < 1), x.sign(), torch.expm1(y)), x.trunc()",
        XY,
        arguments="x, y",
    ),
    "bits": task("return torch.log1p(x.abs()), x ** 3, x ** -2, 1 / x, x.floor(), 2 - x", X4),
    "row_scalars": task("return x * y", "torch.randn(3, 5, 130), torch.randn(3, 1, 1)",
                        arguments="x, y"),
    "whole_numbers": task("return x * y", f"{X4}, torch.randint(-9, 9, (7,), dtype=torch.int32)",
                          arguments="x, y"),
}  # fmt: skip
COVERED = {name: text for name, text in {**TASKS, **MORE}.items() if name not in UNCOVERED}


def programs(program: Program) -> list[TileProgram]:
    return [
        tile_program(program, kernel, name=f"part_{place}")
        for place, kernel in enumerate(program.kernels)
    ]


def _sizes(tensor: Tensor, program: Program) -> tuple[int, ...]:
    return tuple(program.canonical.axes.extent(axis.loop.axes) for axis in tensor.axes) or (1,)


def interpreted(source: str, inputs: list[Any], reference: Any, schedule: dict[str, int]) -> Any:
    """Run every kernel of a task through the interpreter; the tensors that the task returns."""
    program = program_of(source)
    memory: dict[str, Any] = {}
    state = reference.state_dict()
    for name, place in program.canonical.placeholders.items():
        value = inputs[place.key] if isinstance(place.key, int) else state[place.key]
        memory[name] = _array(value)
    for written in programs(program):
        checked = check_source(written.text).program
        assert checked is not None
        given = [memory[t.buffer].reshape(_sizes(t, program)) for t in written.loaded]
        given += [memory[name] for name in written.numbers]
        holes = {name: value for name, value in schedule.items() if name in written.holes}
        outcome = run(checked, written.host, given, schedule=holes, cores=3, order="interleaved")
        assert outcome.fault is None, outcome.fault.to_text()
        for tensor, array in zip(written.returned, outcome.outputs, strict=True):
            memory[tensor.buffer] = array
    return [_tensor(memory[name], program.buffers[name].dtype) for name in program.returned]


def _array(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return float(value)
    if value.dtype is torch.bfloat16:
        return to_bf16(value.float().numpy())
    return value.detach().contiguous().numpy()


def _tensor(array: Any, dtype: str) -> torch.Tensor:
    if dtype == "bfloat16":
        return torch.from_numpy(from_bf16(array)).to(torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array))


@pytest.mark.parametrize("name", COVERED)
def test_a_written_program_computes_the_reference(name: str) -> None:
    source = COVERED[name]
    file = loaded(source)
    torch.manual_seed(7)
    reference = file["Model"](*file["get_init_inputs"]())
    for tensor in reference.parameters():
        torch.nn.init.uniform_(tensor, 0.5, 1.5)
    inputs = file["get_inputs"]()
    with torch.no_grad():
        eager = leaves(reference(*inputs))
        made = interpreted(source, inputs, reference, {"TILE": 64, "ROWS": 4})
        want = leaves(reference.double()(*map(widened, inputs)))
    for ours, theirs, single in zip(made, want, eager, strict=True):
        assert_close(ours.reshape(single.shape), theirs, single)


@pytest.mark.parametrize("name", UNCOVERED)
def test_what_has_no_program_is_said(name: str) -> None:
    with pytest.raises(NotCovered, match=UNCOVERED[name]):
        programs(program_of(TASKS[name]))


SHAPES = ("(1,)", "(7,)", "(1, 9)", "(64, 1)", "(3, 65)", "(2, 1, 63)", "(4, 3, 2, 8)",
          "(1, 5, 1, 130, 1)", "(2, 3, 4, 5, 6)")  # fmt: skip


def _accepted(source: str) -> int:
    """Write every kernel that can be; the checks accept it, or `tile_program` raises."""
    program, count = program_of(source), 0
    for place, kernel in enumerate(program.kernels):
        try:
            tile_program(program, kernel, name=f"part_{place}")
        except NotCovered as fault:
            assert "without loops" in fault.what or "several passes" in fault.what
            continue
        count += 1
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_the_checks_accept_programs_for_every_shape(shape: str) -> None:
    rank = len(eval(shape))
    forwards = [f"return torch.softmax(x, dim={axis})" for axis in range(rank)]
    forwards += [f"return x - x.mean(dim={tuple(range(at, rank, 2))}, keepdim=True)"
                 for at in range(min(2, rank))]  # fmt: skip
    forwards += ["return F.gelu(x) * x.sum() + x.amax(0)"]
    counts = [_accepted(task(forward, f"torch.randn{shape}")) for forward in forwards]
    for kept in range(2):
        other = tuple(n if at % 2 == kept else 1 for at, n in enumerate(eval(shape)))
        inputs = f"torch.randn{shape}, torch.randn{other}"
        counts.append(_accepted(task("return x * y + 1.0", inputs, arguments="x, y")))
    assert np.prod(eval(shape)) == 1 or sum(counts) >= rank + 1
