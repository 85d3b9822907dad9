"""Copies between global memory and UB, by every form, and what atomic modes do to them."""

from __future__ import annotations

import numpy as np
from tests.emulator.core.snippet import kernel

WAIT_V = "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);"
WAIT_STORE = "SetFlag<HardEvent::MTE2_MTE3>(0); WaitFlag<HardEvent::MTE2_MTE3>(0);"
TENSOR = "LocalTensor<float> t = calc.Get<float>();"
CLEAN = f"{TENSOR} Duplicate(t, -1.0f, 256); PipeBarrier<PIPE_ALL>();"
X = np.arange(4096, dtype=np.float32)


def run(compiled, body: str, **mode):
    made = compiled(kernel(body), parameters=2)
    return made.run(X, np.full(4096, 7, np.float32), names="xz", **mode)


def test_rows_with_gaps_are_counted_in_blocks(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, DataCopyParams{{3, 2, 1, 0}}); {WAIT_STORE}"
        "DataCopy(zGm, t, DataCopyParams{3, 2, 0, 2});"
    )
    ran = run(compiled, body)
    rows = np.stack([X[i * 24 : i * 24 + 16] for i in range(3)])
    want = np.full(4096, 7, np.float32)
    for i in range(3):
        want[i * 32 : i * 32 + 16] = rows[i]
    np.testing.assert_array_equal(ran.arrays[1], want)
    assert ran.faults == ()


def test_a_count_that_is_no_whole_block_is_cut_and_reported(compiled):
    ran = run(compiled, f"{TENSOR} DataCopy(t, xGm, 16); {WAIT_STORE} DataCopy(zGm, t, 13);")
    assert ran.only("LENGTH_TRUNCATED").severity == "warning"
    np.testing.assert_array_equal(ran.arrays[1][:16], [*X[:8], *[7.0] * 8])


def test_padded_rows_take_whole_blocks_and_gaps_on_the_other_side_are_bytes(compiled):
    """Rows of 5 floats, 3 floats apart; left 1, right 2 padded with 9."""
    body = (
        f"{TENSOR} DataCopyExtParams rows{{4, 20, 12, 1, 0}};"
        "DataCopyPadExtParams<float> pad{true, 1, 2, 9.0f};"
        f"DataCopyPad(t, xGm, rows, pad); {WAIT_STORE}"
        "DataCopy(zGm, t, DataCopyParams{4, 1, 1, 0});"
    )
    ran = run(compiled, body)
    want = [[9, *X[i * 8 : i * 8 + 5], 9, 9] for i in range(4)]
    np.testing.assert_array_equal(ran.arrays[1][:32].reshape(4, 8), want)
    assert ran.faults == ()


def test_a_tail_goes_out_to_the_byte(compiled):
    body = (
        f"{TENSOR} DataCopyPad(t, xGm, DataCopyParams{{1, 52, 0, 0}},"
        f"DataCopyPadParams{{false, 0, 0, 0}}); {WAIT_STORE}"
        "DataCopyPad(zGm, t, DataCopyParams{1, 52, 0, 0});"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:16], [*X[:13], 7, 7, 7])
    assert ran.faults == ()


def test_rows_without_padding_are_filled_up_with_their_first_element(compiled):
    body = (
        f"{TENSOR} DataCopyPad(t, xGm[3], DataCopyExtParams{{2, 20, 0, 0, 0}},"
        f"DataCopyPadExtParams<float>{{false, 0, 0, 0.0f}}); {WAIT_STORE} DataCopy(zGm, t, 16);"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:16], [*X[3:8], 3, 3, 3, *X[8:13], 8, 8, 8])
    assert ran.faults == ()


def test_padding_without_a_value_is_unknown(compiled):
    body = (
        f"{TENSOR} DataCopyPad(t, xGm, DataCopyExtParams{{1, 20, 0, 0, 0}},"
        f"DataCopyPadExtParams<float>{{false, 0, 3, 5.0f}}); {WAIT_STORE} DataCopy(zGm, t, 8);"
    )
    assert run(compiled, body).only("UNINITIALISED_TAIL").severity == "warning"


def test_rows_go_out_from_blocks_of_their_own_with_gaps_in_bytes(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, 64); {WAIT_STORE}"
        "DataCopyPad(zGm, t, DataCopyExtParams{4, 12, 1, 8, 0});"
    )
    ran = run(compiled, body)
    want = np.full(20, 7, np.float32)
    for i in range(4):
        want[i * 5 : i * 5 + 3] = X[i * 16 : i * 16 + 3]
    np.testing.assert_array_equal(ran.arrays[1][:20], want)


def test_padding_of_halves_carries_the_bits_of_the_value(compiled):
    body = (
        "GlobalTensor<half> h; h.SetGlobalBuffer((__gm__ half*)x);"
        "GlobalTensor<half> o; o.SetGlobalBuffer((__gm__ half*)z);"
        "LocalTensor<half> t = calc.Get<half>();"
        "DataCopyPad(t, h, DataCopyExtParams{1, 6, 0, 0, 0},"
        f"DataCopyPadExtParams<half>{{true, 0, 13, half(2.0f)}}); {WAIT_STORE} DataCopy(o, t, 16);"
    )
    made = compiled(kernel(body), parameters=2)
    values = np.arange(16, dtype=np.float16)
    ran = made.run(values, np.zeros(16, np.float16))
    np.testing.assert_array_equal(ran.arrays[1], [0, 1, 2, *[2] * 13])


def test_slices_of_two_dimensions(compiled):
    """Two slices of 24 floats, 7 apart, of rows 0 and 2 of three rows of 87."""
    body = (
        "SliceInfo from[] = {{16, 70, 7, 3, 87}, {0, 2, 1, 1, 3}};"
        "SliceInfo to[] = {{0, 47, 0, 3, 48}, {0, 1, 0, 1, 2}};"
        f"{TENSOR} DataCopy(t, xGm, to, from, 2); {WAIT_STORE} DataCopy(zGm, t, 96);"
    )
    ran = run(compiled, body)
    rows = [X[row * 87 + at : row * 87 + at + 24] for row in (0, 2) for at in (16, 47)]
    np.testing.assert_array_equal(ran.arrays[1][:96], np.concatenate(rows))


def test_ub_to_ub_runs_on_the_vector_pipe(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, 64); {WAIT_V} DataCopy(t[128], t, 64);"
        "SetFlag<HardEvent::V_MTE3>(0); WaitFlag<HardEvent::V_MTE3>(0); DataCopy(zGm, t[128], 64);"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:64], X[:64])
    assert ran.faults == ()


def test_copy_takes_masks_and_strides(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, 128); {WAIT_V}"
        "Copy(t[128], t, (uint64_t)16, 2, {1, 1, 2, 8});"
        "PipeBarrier<PIPE_ALL>(); DataCopy(zGm, t[128], 32);"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:32], [*X[:16], *X[64:80]])
    assert ran.faults == ()


def test_blocks_add_up_in_global_memory(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, 64); {WAIT_STORE} SetAtomicAdd<float>(); DataCopy(zGm, t, 64);"
        "SetAtomicNone();"
    )
    ran = run(compiled, body, blocks=3)
    np.testing.assert_array_equal(ran.arrays[1][:64], 7 + 3 * X[:64])
    assert ran.faults == ()


def test_atomic_maximum_and_minimum(compiled):
    body = (
        f"{TENSOR} DataCopy(t, xGm, 16); {WAIT_STORE} SetAtomicMax<float>(); DataCopy(zGm, t, 16);"
        "SetAtomicMin<float>(); DataCopy(zGm[16], t, 16); SetAtomicNone();"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(
        ran.arrays[1][:32], [*np.maximum(X[:16], 7), *np.minimum(X[:16], 7)]
    )
