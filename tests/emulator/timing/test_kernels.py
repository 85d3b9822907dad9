"""Simulated time of kernels that run on the emulated chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelwright.emulator.report import Lines
from kernelwright.emulator.targets import configure, load_chip
from kernelwright.emulator.trace import lines_of, trace_of

ADD = """
#include "kernel_operator.h"
using namespace AscendC;
constexpr int32_t BUFFERS = {buffers};
constexpr uint32_t COUNT = 4096, TILES = 16;

extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z) {{
    TPipe pipe;
    TQue<TPosition::VECIN, BUFFERS> inX, inY;
    TQue<TPosition::VECOUT, BUFFERS> out;
    GlobalTensor<float> xGm, yGm, zGm;
    const uint32_t first = GetBlockIdx() * COUNT * TILES;
    xGm.SetGlobalBuffer((__gm__ float*)x + first, COUNT * TILES);
    yGm.SetGlobalBuffer((__gm__ float*)y + first, COUNT * TILES);
    zGm.SetGlobalBuffer((__gm__ float*)z + first, COUNT * TILES);
    pipe.InitBuffer(inX, BUFFERS, COUNT * sizeof(float));
    pipe.InitBuffer(inY, BUFFERS, COUNT * sizeof(float));
    pipe.InitBuffer(out, BUFFERS, COUNT * sizeof(float));
    for (uint32_t i = 0; i < TILES; ++i) {{
        LocalTensor<float> a = inX.AllocTensor<float>();
        LocalTensor<float> b = inY.AllocTensor<float>();
        DataCopy(a, xGm[i * COUNT], COUNT);
        DataCopy(b, yGm[i * COUNT], COUNT);
        inX.EnQue(a);
        inY.EnQue(b);
        a = inX.DeQue<float>();
        b = inY.DeQue<float>();
        LocalTensor<float> c = out.AllocTensor<float>();
        for (int k = 0; k < 8; ++k) Add(c, a, b, COUNT);  // the sum
        out.EnQue(c);
        inX.FreeTensor(a);
        inY.FreeTensor(b);
        c = out.DeQue<float>();
        DataCopy(zGm[i * COUNT], c, COUNT);
        out.FreeTensor(c);
    }}
}}
"""

SYNC = """
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void kernel(GM_ADDR x) {
    for (int i = 0; i < 20; ++i) SyncAll();
}
"""


def add_arrays(blocks: int) -> list[np.ndarray[Any, Any]]:
    size = blocks * 4096 * 16
    return [np.full(size, value, np.float32) for value in (1, 2, 0)]


def run(compiled: Callable[..., Any], chip: Any, buffers: int, **mode: Any) -> Any:
    configure(chip, load_chip("910B2"))
    kernel = compiled(ADD.format(buffers=buffers), parameters=3)
    return kernel, kernel.run(*add_arrays(mode.get("blocks", 1)), **mode)


def test_skipping_values_does_not_change_the_time(compiled: Callable[..., Any], chip: Any) -> None:
    _, full = run(compiled, chip, 2, blocks=4)
    _, bare = run(compiled, chip, 2, blocks=4, is_timing_only=True)
    assert not full.faults
    assert (full.arrays[2] == 3).all()
    assert (bare.arrays[2] == 0).all()
    assert bare.report["timing"]["timing_only"] is True
    assert bare.report["timing"]["duration_us"] == full.report["timing"]["duration_us"]
    assert bare.report["timing"]["cores"] == full.report["timing"]["cores"]


def test_a_second_buffer_makes_a_kernel_faster(compiled: Callable[..., Any], chip: Any) -> None:
    _, one = run(compiled, chip, 1)
    _, two = run(compiled, chip, 2)
    slow, fast = (ran.report["timing"]["duration_us"] for ran in (one, two))
    assert fast < 0.8 * slow


def test_the_chip_decides_the_time(compiled: Callable[..., Any], chip: Any) -> None:
    _, here = run(compiled, chip, 2, blocks=40)
    configure(chip, load_chip("910B4"))
    kernel = compiled(ADD.format(buffers=2), parameters=3)
    there = kernel.run(*add_arrays(40), blocks=40)
    assert there.report["timing"]["model"].startswith("ascend-timing 1 910B4 ")
    assert there.report["timing"]["duration_us"] > here.report["timing"]["duration_us"]


def test_a_trace_names_the_lines_of_the_kernel(compiled: Callable[..., Any], chip: Any) -> None:
    kernel, ran = run(compiled, chip, 2, keeps_events=True)
    lines = Lines()

    def line_at(image: str, offset: int) -> tuple[str, int]:
        line = lines.of(image, offset)
        return line.path, line.line

    timing = ran.report["timing"]
    trace = trace_of(timing, lines_of(timing, line_at))
    assert isinstance(trace, dict)
    adds = [row for row in trace["traceEvents"] if row.get("cat") == "V"]
    assert len(adds) == 16 * 8
    assert {row["args"]["line"] for row in adds} == {kernel.line_of("// the sum")}


def test_meeting_of_all_cores_costs_what_the_chip_says(
    compiled: Callable[..., Any], chip: Any
) -> None:
    model = load_chip("910B2")
    configure(chip, model)
    kernel = compiled(SYNC, parameters=1)
    ran = kernel.run(np.zeros(64, np.float32), blocks=48)
    timing = ran.report["timing"]
    each = model.constants["sync_all_cycles"] + 48 * model.constants["sync_all_core_cycles"]
    inside = timing["duration_us"] - timing["launch_us"]
    assert 20 * each / 1800 <= inside < 1.1 * 20 * each / 1800
