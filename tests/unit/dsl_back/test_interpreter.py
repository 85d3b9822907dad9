"""The interpreter: it computes what PyTorch does, and it notices broken rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl import LaunchRefused, check_file, check_source, parse
from kernelwright.dsl.interpret import Outcome, from_bf16, run, run_unchecked, to_bf16
from support.dsl_programs import EXAMPLES, HEAD, WELL_FORMED

ORDERS = ("sequential", "random", "interleaved")
FILES = {path.stem: path for path in (*EXAMPLES, *WELL_FORMED)}


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def of_example(name: str, host: str, *arguments: Any, **options: Any) -> Outcome:
    program = check_file(FILES[name]).program
    assert program is not None
    return run(program, host, arguments, **options)


def of_kernel(name: str, **arguments: Any) -> Outcome:
    program = check_file(FILES[name]).program
    assert program is not None
    outcome = run(program, "k", arguments, cores=3, order="random")
    assert outcome.fault is None, outcome.fault.to_text()
    return outcome


def unchecked(body: str, head: str = 'x: "f32[N]", y: "f32[N]"', **arguments: Any) -> Outcome:
    """Run a kernel that no check would accept."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    parsed = parse(HEAD + f"@tl.kernel\ndef k({head}):\n{lines}")
    assert parsed.program is not None, parsed.found
    cores = arguments.pop("cores", 2)
    return run_unchecked(parsed.program, "k", arguments, cores=cores)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cores", [1, 3, 8])
def test_examples_agree_with_torch_in_every_order_of_the_cores(order: Any, cores: int) -> None:
    x = drawn(5, 130)
    options: dict[str, Any] = {"order": order, "cores": cores, "schedule": {"TILE": 64}}
    got = of_example("softmax", "softmax", x, **options)
    assert got.fault is None
    np.testing.assert_allclose(got.outputs[0], torch.tensor(x).softmax(1).numpy(), rtol=1e-5)
    got = of_example("gelu", "gelu", x, **options)
    want = torch.nn.functional.gelu(torch.tensor(x)).numpy()
    np.testing.assert_allclose(got.outputs[0], want, rtol=1e-4, atol=1e-7)
    z = drawn(2, 5, 130)
    got = of_example("sum_reduction", "sum_middle", z, **options)
    np.testing.assert_allclose(got.outputs[0], z.sum(1), rtol=1e-5, atol=1e-6)


def test_layernorm_agrees_with_torch() -> None:
    x, g, b = drawn(5, 100), drawn(100), drawn(100)
    got = of_example("layernorm", "layernorm", x, g, b, cores=2)
    arrays = [torch.tensor(item) for item in (x, g, b)]
    want = torch.nn.functional.layer_norm(arrays[0], (100,), *arrays[1:]).numpy()
    np.testing.assert_allclose(got.outputs[0], want, rtol=1e-4, atol=1e-5)


def test_maxpool_reads_the_fill_value_outside_the_image() -> None:
    x = drawn(1, 2, 5, 70)
    got = of_example("maxpool", "maxpool2d", x, schedule={"TILE": 64})
    want = torch.nn.functional.max_pool2d(torch.tensor(x), 3, 1, 1).numpy()
    np.testing.assert_array_equal(got.outputs[0], want)


def test_a_sync_lets_one_core_see_what_the_others_wrote() -> None:
    x = drawn(20000)
    for order in ORDERS:
        got = of_example("full_sum_through_a_workspace", "total", x, cores=4, order=order)
        assert got.fault is None
        np.testing.assert_allclose(got.outputs[0], [x.sum(dtype=np.float64)], rtol=1e-5)
        assert got.counters.barriers == 1


KERNELS: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], Any]]] = {
    "transposed_tiles": ({"x": drawn(70, 65), "y": drawn(65, 70)}, lambda a: a["x"].T),
    "compare_and_select": (
        {"x": drawn(5000), "y": drawn(5000)},
        lambda a: np.where(a["x"] > 0, a["x"], 0),
    ),
    "gather_with_made_indices": ({"x": drawn(3, 65), "y": drawn(3, 65)}, lambda a: a["x"]),
    "exclusive_running_sum": (
        {"x": drawn(2, 1100), "y": drawn(2, 1100)},
        lambda a: np.cumsum(a["x"], 1, dtype=np.float64) - a["x"],
    ),
    "reversed_tiles": (
        {"x": drawn(2, 1100), "y": drawn(2, 1100)},
        lambda a: np.cumsum(a["x"][:, ::-1], 1, dtype=np.float64)[:, ::-1],
    ),
    "masked_running_sum": (
        {"x": drawn(2, 1100), "m": drawn(2, 1100) > 0, "y": drawn(2, 1100)},
        lambda a: np.cumsum(a["x"] * a["m"], 1, dtype=np.float64),
    ),
    "online_softmax": (
        {"x": drawn(3, 4100), "y": drawn(3, 4100)},
        lambda a: torch.tensor(a["x"]).softmax(1).numpy(),
    ),
    "parameters_updated_in_place": (
        {"p": drawn(5000), "g": drawn(4999 + 1), "lr": 0.5},
        lambda a: a["p"] - np.float32(0.5) * a["g"],
    ),
    "rows_in_two_dimensions": (
        {"x": drawn(9, 65), "y": drawn(9, 65)},
        lambda a: a["x"] - a["x"].mean(1, keepdims=True),
    ),
    "rows_of_a_buffer": (
        {"x": drawn(4, 65), "y": drawn(4, 65)},
        lambda a: a["x"] - a["x"].max(0),
    ),
    "atomic_sums": ({"x": drawn(5000), "y": np.zeros(8, "f")}, lambda a: a["x"].sum() * np.ones(8)),
    "average_pool_with_a_stride": (
        {"x": drawn(3, 1200), "y": drawn(3, 600)},
        lambda a: torch.nn.functional.avg_pool1d(torch.tensor(a["x"]), 3, 2, 1).numpy(),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_of_each_kind_computes_what_it_says(name: str) -> None:
    arguments, meaning = KERNELS[name]
    got = of_kernel(name, **arguments)
    np.testing.assert_allclose(got.outputs[0], meaning(arguments), rtol=1e-4, atol=2e-4)


def test_bf16_is_given_as_bits_and_rounds_to_nearest_even() -> None:
    x = torch.tensor(drawn(3000)).bfloat16()
    bits = x.view(torch.uint16).numpy()
    got = of_kernel("half_types_through_f32", x=bits, y=bits)
    want = x.float().exp().bfloat16().view(torch.uint16).numpy()
    np.testing.assert_array_equal(got.outputs[0], want)
    tie = np.array([1.00390625, 1.01171875, np.inf, np.nan], "f")
    assert from_bf16(to_bf16(tie))[:3].tolist() == [1.0, 1.015625, np.inf]


def test_the_arrays_given_are_not_changed() -> None:
    p, g = drawn(100), drawn(100)
    kept = p.copy()
    got = of_kernel("parameters_updated_in_place", p=p, g=g, lr=0.5)
    np.testing.assert_array_equal(p, kept)
    assert not np.array_equal(got.tensors["p"], kept)


def test_bytes_repeats_and_syncs_are_counted() -> None:
    got = of_example("softmax", "softmax", drawn(2, 128), schedule={"TILE": 64})
    counters = got.counters
    assert counters.loaded_bytes == 3 * 2 * 128 * 4
    assert counters.stored_bytes == 2 * 128 * 4
    assert counters.scalar_syncs == 2 * 2 * 2
    # Two tiles a row: subs, exp; subs, exp, muls; each is 256 B, one step.
    assert counters.vector_repeats == 2 * 2 * 5


# --- faults --------------------------------------------------------------------------------------

COPY = """b = tl.ub(64, "f32")
c = tl.ub(64, "f32")
with tl.copyin():
    tl.load(b, x[0:N])
with tl.compute():
    tl.copy(c, b)
with tl.copyout():
    tl.store(y[0:N], c)
"""


def test_two_cores_that_write_one_place_are_a_fault() -> None:
    got = unchecked(COPY, x=drawn(16), y=drawn(16))
    assert got.fault is not None
    assert (got.fault.code, got.fault.at.line) == ("E803", 13)
    assert not got.outputs
    assert unchecked(COPY, x=drawn(16), y=drawn(16), cores=1).is_ok


def test_an_access_outside_a_tensor_is_a_fault_with_its_numbers() -> None:
    got = unchecked(COPY.replace("x[0:N]", "x[1:N + 1]"), x=drawn(16), y=drawn(16))
    assert got.fault is not None
    assert (got.fault.code, got.fault.numbers) == ("E802", "1:17 of 0:16")


def test_a_tile_larger_than_its_buffer_is_a_fault() -> None:
    got = unchecked(COPY, x=drawn(65), y=drawn(65))
    assert got.fault is not None
    assert got.fault.code == "E304"


def test_a_read_of_what_another_core_wrote_needs_a_sync() -> None:
    body = """b = tl.ub(8, "f32")
c = tl.ub(8, "f32")
with tl.compute():
    tl.fill(b, 1.0, 8)
with tl.copyout():
    tl.store(w[tl.core_id(), 0:8], b)
{sync}with tl.copyin():
    tl.load(c, w[0, 0:8])
"""
    head = 'w: "f32[C, 8] inout"'
    w = drawn(2, 8)
    got = unchecked(body.format(sync=""), head, w=w)
    assert got.fault is not None
    assert got.fault.code == "E803"
    assert unchecked(body.format(sync="tl.sync_all()\n"), head, w=w).is_ok


def test_a_sync_that_some_core_misses_is_a_fault() -> None:
    body = "if tl.core_id() == 0:\n    tl.sync_all()\n"
    got = unchecked(body, x=drawn(2), y=drawn(2))
    assert got.fault is not None
    assert got.fault.code == "E504"


UNDEFINED = """import kernelwright.language as tl


@tl.kernel
def k(w: "f32[N]", y: "f32[N]", TILE: tl.const = 64):
    a_ub = tl.ub(TILE, "f32")
    b_ub = tl.ub(TILE, "f32")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(a_ub, w[i:i + n])
        with tl.compute():
            tl.abs(b_ub, a_ub)
            tl.adds(b_ub, b_ub, 1.0)
        with tl.copyout():
            tl.store(y[i:i + n], b_ub)


@tl.host
def f(x: "f32[N]") -> "f32[N]":
    y = tl.empty("f32[N]")
    w = tl.workspace("f32[N]"ZERO)
    k[1](w, y)
    return y
"""


def test_undefined_data_in_a_result_comes_with_the_lines_that_passed_it_on() -> None:
    program = check_source(UNDEFINED.replace("ZERO", "")).program
    assert program is not None
    got = run(program, "f", [drawn(70)])
    assert got.fault is not None
    assert (got.fault.code, got.fault.lines) == ("E801", (10, 12, 13, 15))
    program = check_source(UNDEFINED.replace("ZERO", ", zero=True")).program
    assert program is not None
    np.testing.assert_array_equal(run(program, "f", [drawn(70)]).outputs[0], np.ones(70))


def test_an_output_that_is_not_written_everywhere_is_a_fault() -> None:
    text = UNDEFINED.replace("ZERO", ", zero=True").replace("k[1](w, y)", "k[0](w, y)")
    program = check_source(text).program
    assert program is not None
    got = run(program, "f", [drawn(70)])
    assert got.fault is not None
    assert "not written everywhere: 70 of 70" in got.fault.to_text()


def test_calls_that_cannot_be_launched_are_refused() -> None:
    with pytest.raises(LaunchRefused, match="E702"):
        of_example("layernorm", "layernorm", drawn(2, 5000), drawn(5000), drawn(5000))
    with pytest.raises(TypeError, match="f32"):
        of_example("softmax", "softmax", np.zeros((2, 2)))
    with pytest.raises(UsageMistake, match="E301"):
        of_example("softmax", "softmax", drawn(2, 2), schedule={"TILE": 1 << 20})
