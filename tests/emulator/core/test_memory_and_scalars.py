"""Tensors, buffers and the scalar unit's accesses."""

from __future__ import annotations

import numpy as np
from tests.emulator.core.snippet import kernel

X = np.arange(4096, dtype=np.float32)


def run(compiled, body: str, *, queues: bool = True, **mode):
    made = compiled(kernel(body, queues=queues), parameters=2)
    return made.run(X, np.zeros(4096, np.float32), names="xz", **mode)


def test_scalars_of_global_memory_are_read_and_written(compiled):
    ran = run(compiled, "for (int i = 0; i < 100; ++i) zGm.SetValue(i, xGm.GetValue(i) + 1.0f);")
    np.testing.assert_array_equal(ran.arrays[1][:101], [*(X[:100] + 1), 0])
    assert ran.faults == ()


def test_elements_behave_like_references(compiled):
    body = (
        "LocalTensor<float> t = calc.Get<float>(); t(0) = 3.0f; t(1) = t(0); t(1) += 2.0f;"
        "zGm(0) = t(1); zGm(1) = xGm(5); float copy = xGm(6) * 2.0f; zGm(2) = copy;"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:3], [5, 5, 12])
    assert ran.faults == ()


def test_the_scalar_unit_waits_for_what_it_reads(compiled):
    body = (
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm, 64); float a = t.GetValue(7);"
        "Adds(t, t, a, 64); zGm.SetValue(0, t.GetValue(1));"
    )
    ran = run(compiled, body)
    assert ran.arrays[1][0] == 8
    assert ran.faults == ()


def test_a_scalar_read_of_nothing_is_reported(compiled):
    ran = run(
        compiled,
        "LocalTensor<float> t = calc.Get<float>(); t.SetValue(0, 1.0f);"
        "zGm.SetValue(0, t.GetValue(0) + t.GetValue(1));",
    )
    assert ran.only("UNINITIALISED_READ").pipe == "S"


def test_slices_and_reinterpreted_tensors_share_memory(compiled):
    body = (
        "LocalTensor<float> t = calc.Get<float>(); t.SetValue(3, 1.0f);"
        "LocalTensor<uint32_t> bits = t[2].ReinterpretCast<uint32_t>();"
        "zGm.SetValue(0, (float)(bits.GetValue(1) == 0x3f800000u));"
        "zGm.SetValue(1, (float)t.GetSize()); zGm.SetValue(2, (float)t[2].GetSize());"
        "zGm.SetValue(3, (float)t.ReinterpretCast<half>().GetSize());"
        "zGm.SetValue(4, (float)((uint64_t)t[8].GetPhyAddr() - (uint64_t)t.GetPhyAddr()));"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:5], [1, 256, 254, 512, 32])


def test_a_buffer_gives_parts_and_a_pool_gives_buffers(compiled):
    body = (
        "pipe.InitBuffer(calc, 100); LocalTensor<float> t = calc.GetWithOffset<float>(8, 64);"
        "zGm.SetValue(0, (float)calc.Get<float>().GetSize()); zGm.SetValue(1, (float)t.GetSize());"
        "TBufPool<TPosition::VECCALC> pool; pipe.InitBufPool(pool, 1024);"
        "TBuf<TPosition::VECCALC> first, second; pool.InitBuffer(first, 512);"
        "pool.InitBuffer(second, 512);"
        "zGm.SetValue(2, (float)((uint64_t)second.Get<float>().GetPhyAddr() -"
        "(uint64_t)first.Get<float>().GetPhyAddr()));"
    )
    ran = run(compiled, body, queues=False)
    np.testing.assert_array_equal(ran.arrays[1][:3], [32, 8, 512])
    assert ran.faults == ()


def test_a_pool_that_is_too_small_is_reported(compiled):
    body = (
        "TBufPool<TPosition::VECCALC> pool; pipe.InitBufPool(pool, 512);pool.InitBuffer(calc, 544);"
    )
    assert run(compiled, body, queues=False).only("ARGUMENT").severity == "error"


def test_queues_hand_out_what_was_put_in_first(compiled):
    body = (
        "LocalTensor<float> a = in.AllocTensor<float>(); DataCopy(a, xGm, 8); in.EnQue(a);"
        "LocalTensor<float> b = in.AllocTensor<float>(); DataCopy(b, xGm[64], 8); in.EnQue(b);"
        "zGm.SetValue(0, (float)in.GetTensorCountInQue());"
        "zGm.SetValue(1, (float)in.VacantInQue()); zGm.SetValue(2, (float)in.HasIdleBuffer());"
        "LocalTensor<float> c = in.DeQue<float>(); zGm.SetValue(3, c.GetValue(0));"
        "in.FreeTensor(c);"
        "in.DeQue<float>(c); zGm.SetValue(4, c.GetValue(0)); in.FreeTensor(c);"
        "zGm.SetValue(5, (float)in.HasTensorInQue());"
    )
    ran = run(compiled, body)
    np.testing.assert_array_equal(ran.arrays[1][:6], [2, 0, 0, 0, 64, 0])
    assert ran.faults == ()


def test_a_bound_queue_orders_load_and_store_without_the_vector_pipe(compiled):
    body = (
        "TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> both; pipe.InitBuffer(both, 1, 256);"
        "LocalTensor<float> t = both.AllocTensor<float>(); DataCopy(t, xGm, 64); both.EnQue(t);"
        "t = both.DeQue<float>(); DataCopy(zGm, t, 64); both.FreeTensor(t);"
    )
    ran = run(compiled, body, queues=False)
    np.testing.assert_array_equal(ran.arrays[1][:64], X[:64])
    assert ran.faults == ()


def test_an_input_queue_does_not_order_a_store(compiled):
    body = (
        "LocalTensor<float> t = in.AllocTensor<float>(); DataCopy(t, xGm, 64); in.EnQue(t);"
        "t = in.DeQue<float>(); DataCopy(zGm, t, 64); in.FreeTensor(t);"
    )
    fault = run(compiled, body).only("RACE_RAW")
    assert "MTE3" in fault.message and "MTE2" in fault.message


def test_fresh_buffers_hold_no_zeros(compiled):
    ran = run(compiled, "LocalTensor<float> t = calc.Get<float>(); zGm.SetValue(0, t.GetValue(9));")
    assert np.isnan(ran.arrays[1][0])


def test_printf_and_dumps_are_in_the_report(compiled):
    body = (
        'AscendC::printf("block %d of %d\\n", (int)GetBlockIdx(), (int)GetBlockNum());'
        "LocalTensor<float> t = calc.Get<float>(); t.SetValue(0, 1.5f); DumpTensor(t, 5, 1);"
    )
    assert run(compiled, body).report["output"] == "block 0 of 1\nDumpTensor 5 (on chip): 1.5\n"


def test_a_failed_assertion_stops_the_core(compiled):
    ran = run(
        compiled,
        "zGm.SetValue(0, 1.0f); ASCENDC_ASSERT(GetBlockNum() == 7); zGm.SetValue(1, 1.0f);",
    )
    assert ran.only("ASSERTION").message == "ASCENDC_ASSERT(GetBlockNum() == 7) does not hold"
    np.testing.assert_array_equal(ran.arrays[1][:2], [1, 0])


def test_the_local_memory_allocator_hands_out_addresses_in_turn(compiled):
    body = (
        "LocalMemAllocator<Hardware::UB> memory; LocalTensor<float> a = memory.Alloc<float, 64>();"
        "LocalTensor<half> b = memory.Alloc<TPosition::VECCALC, half>(64);"
        "zGm.SetValue(0, (float)((uint64_t)b.GetPhyAddr() - (uint64_t)a.GetPhyAddr()));"
        "zGm.SetValue(1, (float)memory.GetCurAddr());"
    )
    ran = run(compiled, body, queues=False)
    np.testing.assert_array_equal(ran.arrays[1][:2], [256, 384])


def test_the_stack_buffer_is_what_the_pipe_has_left(compiled):
    body = (
        "pipe.InitBuffer(calc, 1024); LocalTensor<float> rest;"
        "bool has = PopStackBuffer<float, TPosition::LCM>(rest);"
        "zGm.SetValue(0, (float)has); zGm.SetValue(1, (float)(rest.GetSize() * 4));"
    )
    ran = run(compiled, body, queues=False)
    np.testing.assert_array_equal(ran.arrays[1][:2], [1, 196352 - 1024])
