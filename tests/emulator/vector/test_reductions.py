"""Reductions by mask, repeat and stride against a slow model, and the order of their sums."""

from __future__ import annotations

import numpy as np
import pytest

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
using T = ELEMENT;
extern "C" __global__ __aicore__ void kernel(GM_ADDR x, GM_ADDR z, GM_ADDR params) {
  constexpr uint32_t n = 4096;
  GlobalTensor<T> xGm, zGm;
  GlobalTensor<uint64_t> p;
  xGm.SetGlobalBuffer((__gm__ T*)x);
  zGm.SetGlobalBuffer((__gm__ T*)z);
  p.SetGlobalBuffer((__gm__ uint64_t*)params);
  TPipe pipe;
  TBuf<TPosition::VECCALC> bufA, bufC, bufW;
  pipe.InitBuffer(bufA, n * sizeof(T));
  pipe.InitBuffer(bufC, 1024);
  pipe.InitBuffer(bufW, 1024);
  LocalTensor<T> a = bufA.Get<T>(), c = bufC.Get<T>(), w = bufW.Get<T>();
  DataCopy(a, xGm, n);
  PipeBarrier<PIPE_ALL>();
  Duplicate(bufC.Get<int32_t>(), 0, 256);
  uint64_t mask[2] = {p.GetValue(0), sizeof(T) == 2 ? p.GetValue(1) : 0};
  int32_t times = p.GetValue(2), block = p.GetValue(3), step = p.GetValue(4);
  switch (p.GetValue(5)) {
    case 0: WholeReduceSum(c, a, mask, times, 1, block, step); break;
    case 1: WholeReduceMax(c, a, mask, times, 1, block, step); break;
    case 2: WholeReduceMin(c, a, mask, times, 1, block, step, ReduceOrder::ORDER_ONLY_VALUE); break;
    case 3: BlockReduceSum(c, a, times, mask, 1, block, step); break;
    case 4: BlockReduceMax(c, a, times, mask, 1, block, step); break;
    case 5: PairReduceSum(c, a, times, mask, 1, block, step); break;
    case 6: ReduceMax(c, a, w, (int32_t)p.GetValue(6), true); break;
    case 7: ReduceMin(c, a, w, mask, times, step, true); break;
    case 8: ReduceSum(c, a, w, (int32_t)p.GetValue(6)); break;
    case 9: ReduceSum(c, a, w, mask, times, step); break;
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(zGm, c, 1024 / sizeof(T));
}
"""
_NUMPY = {"half": np.float16, "float": np.float32}
_INDEX = {"half": np.uint16, "float": np.uint32}


class Bench:
    """One operand, a mask and strides; the active values of each repeat with their lanes."""

    def __init__(self, compiled, element: str, which: int, seed: int, count: int = 1000):
        rng = np.random.default_rng(100 * which + seed)
        self.dtype, self.index = _NUMPY[element], _INDEX[element]
        self.lanes = 256 // np.dtype(self.dtype).itemsize
        self.x = rng.integers(-99, 99, 4096).astype(self.dtype)
        low, high = (int(v) for v in rng.integers(1, 2**63, 2))
        self.times, self.block = int(rng.integers(1, 6)), int(rng.integers(1, 3))
        self.step = int(rng.integers(0, 9))
        if which in (7, 9):
            self.block = 1
        self.bits = (low | high << 64) if self.lanes == 128 else low
        words = [low, high, self.times, self.block, self.step, which, count, 0]
        kernel = compiled(KERNEL.replace("ELEMENT", element), parameters=3)
        ran = kernel.run(self.x, np.zeros(self.lanes * 4, self.dtype), np.array(words, np.uint64))
        assert not ran.errors, ran.errors
        self.out = ran.arrays[1]

    def value(self, repeat: int, lane: int) -> float:
        per_block = self.lanes // 8
        at = repeat * self.step + lane // per_block * self.block
        return float(self.x[at * per_block + lane % per_block])

    def active(self, repeat: int, low: int = 0, high: int = 128) -> list[tuple[float, int]]:
        lanes = range(low, min(high, self.lanes))
        return [(self.value(repeat, i), i) for i in lanes if self.bits >> i & 1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("element", ["half", "float"])
def test_whole_repeats_become_one_result_each(compiled, element, seed):
    bench = Bench(compiled, element, 0, seed)
    sums = [sum(v for v, _ in bench.active(r)) for r in range(bench.times)]
    np.testing.assert_allclose(bench.out[: bench.times], sums, rtol=2e-3)
    bench = Bench(compiled, element, 1, seed)
    for r in range(bench.times):
        best, lane = max(bench.active(r), key=lambda pair: (pair[0], -pair[1]))
        assert bench.out[2 * r] == best
        assert bench.out.view(bench.index)[2 * r + 1] == lane
    bench = Bench(compiled, element, 2, seed)
    assert bench.out[: bench.times].tolist() == [
        min(v for v, _ in bench.active(r)) for r in range(bench.times)
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("element", ["half", "float"])
def test_blocks_and_pairs_become_one_result_each(compiled, element, seed):
    for which in (3, 4):
        bench = Bench(compiled, element, which, seed)
        width = bench.lanes // 8
        for r in range(bench.times):
            for b in range(8):
                values = [v for v, _ in bench.active(r, b * width, (b + 1) * width)]
                if which == 4 and not values:
                    continue
                assert bench.out[8 * r + b] == (sum(values) if which == 3 else max(values))
    bench = Bench(compiled, element, 5, seed)
    for r in range(bench.times):
        for pair in range(bench.lanes // 2):
            want = sum(v for v, _ in bench.active(r, 2 * pair, 2 * pair + 2))
            assert bench.out[r * bench.lanes // 2 + pair] == want


@pytest.mark.parametrize("count", [1, 64, 777, 4096])
@pytest.mark.parametrize("element", ["half", "float"])
def test_one_result_of_all_with_its_index(compiled, element, count):
    bench = Bench(compiled, element, 6, 1, count)
    assert bench.out[0] == bench.x[:count].max()
    assert bench.out.view(bench.index)[1] == bench.x[:count].argmax()
    bench = Bench(compiled, element, 8, 1, count)
    np.testing.assert_allclose(bench.out[0], bench.x[:count].astype(float).sum(), rtol=5e-3, atol=1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("element", ["half", "float"])
def test_one_result_of_masked_repeats(compiled, element, seed):
    bench = Bench(compiled, element, 7, seed)
    found = [(v, r * bench.lanes + i) for r in range(bench.times) for v, i in bench.active(r)]
    assert (bench.out[0], bench.out.view(bench.index)[1]) == min(found)
    bench = Bench(compiled, element, 9, seed)
    total = sum(v for r in range(bench.times) for v, _ in bench.active(r))
    np.testing.assert_allclose(bench.out[0], total, rtol=5e-3, atol=1)


def test_a_sum_of_floats_is_a_tree_of_neighbours(compiled):
    bench = Bench(compiled, "float", 8, 3, 64)
    values = np.array([1e8, 1, -1e8, 1] * 16, np.float32)
    kernel = compiled(KERNEL.replace("ELEMENT", "float"), parameters=3)
    words = np.array([1, 0, 1, 1, 8, 8, 64, 0], np.uint64)
    ran = kernel.run(np.resize(values, 4096), np.zeros(256, np.float32), words)
    while values.size > 1:
        values = values[::2] + values[1::2]
    assert ran.arrays[1][0] == values[0]
    assert bench.out[0] == bench.x[:64].sum()
