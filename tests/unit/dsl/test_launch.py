"""Host functions at work: shapes, schedules, conditions, launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelwright.dsl import Device, LaunchCall, LaunchRefused, check_file, parse, run_host
from kernelwright.dsl.types import DType
from support.dsl_programs import EXAMPLES, MAP

HOST = (
    MAP
    + """

@tl.host
def f(x: "f32[R, C]", scale: tl.i64 = 2) -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    TILE = tl.param("TILE", default=512, multiple_of=64, max=4096)
    tl.check(C < 1000, "rows are short")
    cores = tl.num_cores()
    if scale > 1:
        cores = tl.min(cores, R)
    k[cores](x, y, TILE=TILE)
    return y
"""
)


class Recorder:
    """Keeps the launches instead of running them."""

    def __init__(self) -> None:
        self.calls: list[LaunchCall] = []

    def __call__(self, call: LaunchCall) -> None:
        self.calls.append(call)


def allocate(dtype: DType, shape: tuple[int, ...], is_zero: bool) -> np.ndarray:
    return np.full(shape, 0.0 if is_zero else np.nan, np.float32)


def call(text: str, *arguments: Any, **options: Any) -> tuple[tuple[Any, ...], Recorder]:
    program = parse(text).program
    assert program is not None, parse(text).found
    recorder = Recorder()
    result = run_host(
        program,
        "f",
        arguments,
        launch=recorder,
        allocate=allocate,
        device=Device(cores=4),
        **options,
    )
    return result, recorder


def test_a_launch_binds_dimensions_constants_and_cores() -> None:
    x = np.zeros((3, 5), np.float32)
    (y,), recorder = call(HOST, x)
    (launch,) = recorder.calls
    assert y.shape == (3, 5)
    assert (launch.cores, launch.consts, launch.dims) == (3, {"TILE": 512}, {"R": 3, "C": 5})
    assert launch.tensors["x"] is x
    assert launch.tensors["y"] is y


def test_a_schedule_fills_the_holes_within_their_limits() -> None:
    x = np.zeros((3, 5), np.float32)
    _, recorder = call(HOST, x, 1, schedule={"TILE": 128})
    assert recorder.calls[0].consts == {"TILE": 128}
    assert recorder.calls[0].cores == 4
    for value in (100, 8192):
        with pytest.raises(LaunchRefused, match="E702"):
            call(HOST, x, schedule={"TILE": value})


def test_a_false_check_refuses_the_call_with_its_message() -> None:
    with pytest.raises(LaunchRefused, match="rows are short"):
        call(HOST, np.zeros((3, 1000), np.float32))


def test_a_tensor_of_another_rank_is_refused() -> None:
    with pytest.raises(LaunchRefused, match="E701"):
        call(HOST, np.zeros(3, np.float32))


def test_a_repeated_dimension_must_agree() -> None:
    text = HOST.replace("scale: tl.i64 = 2", 'z: "f32[C, C]", scale: tl.i64 = 2')
    with pytest.raises(LaunchRefused, match="C is 5 and 4"):
        call(text, np.zeros((3, 5), np.float32), np.zeros((4, 4), np.float32))


def test_a_requirement_of_the_kernel_is_checked_before_launch() -> None:
    text = HOST.replace("    for r in", "    tl.require(C % 2 == 0)\n    for r in", 1)
    call(text, np.zeros((3, 4), np.float32))
    with pytest.raises(LaunchRefused, match="requires C % 2 == 0"):
        call(text, np.zeros((3, 5), np.float32))


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(LaunchRefused, match="no value for x"):
        call(HOST)


def test_no_core_means_no_launch() -> None:
    _, recorder = call(HOST, np.zeros((0, 5), np.float32))
    assert recorder.calls == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_host_functions_of_the_examples_launch_their_kernels(path: Any) -> None:
    program = check_file(path).program
    assert program is not None
    host = program.hosts[0]
    shapes = {"gelu": [(6, 40)], "softmax": [(6, 40)], "layernorm": [(6, 40), (40,), (40,)],
              "maxpool2d": [(2, 3, 9, 12)], "sum_middle": [(2, 3, 40)]}  # fmt: skip
    expected = {"gelu": (6, 40), "softmax": (6, 40), "layernorm": (6, 40),
                "maxpool2d": (2, 3, 9, 12), "sum_middle": (2, 40)}  # fmt: skip
    recorder = Recorder()
    arrays = [np.zeros(shape, np.float32) for shape in shapes[host.name.text]]
    (y,) = run_host(program, host.name.text, arrays, launch=recorder, allocate=allocate)
    assert y.shape == expected[host.name.text]
    (launch,) = recorder.calls
    for param in launch.kernel.tensors:
        assert len(launch.tensors[param.name.text].shape) == len(param.type.dims)
