"""SyncAll, cross-core flags, core types, and what they order."""

from __future__ import annotations

import numpy as np
from tests.emulator.core.snippet import kernel

AIV_ONLY, AIC_ONLY, MIX_1_1, MIX_1_2 = 0, 1, 4, 5
X = np.arange(4096, dtype=np.float32)
NEIGHBOUR = """
  int64_t me = GetBlockIdx(), next = (me + 1) % GetBlockNum();
  LocalTensor<float> t = calc.Get<float>();
  DataCopy(t, xGm[me * 64], 64);
  SetFlag<HardEvent::MTE2_MTE3>(0); WaitFlag<HardEvent::MTE2_MTE3>(0);
  DataCopy(zGm[me * 64], t, 64);
  SYNC
  SetFlag<HardEvent::MTE3_MTE2>(0); WaitFlag<HardEvent::MTE3_MTE2>(0);
  DataCopy(t, zGm[next * 64], 64);
  SetFlag<HardEvent::MTE2_MTE3>(0); WaitFlag<HardEvent::MTE2_MTE3>(0);
  DataCopy(zGm[(me + GetBlockNum()) * 64], t, 64);
"""


def run(compiled, body: str, **mode):
    made = compiled(kernel(body), parameters=2)
    return made.run(X, np.zeros(4096, np.float32), names="xz", **mode)


def test_after_sync_all_a_block_reads_what_another_wrote(compiled):
    ran = run(compiled, NEIGHBOUR.replace("SYNC", "SyncAll();"), blocks=8)
    np.testing.assert_array_equal(
        ran.arrays[1][512:1024], np.roll(X[:512].reshape(8, 64), -1, 0).ravel()
    )
    assert ran.faults == ()


def test_without_sync_all_that_is_a_race(compiled):
    ran = run(compiled, NEIGHBOUR.replace("SYNC", ""), blocks=8)
    assert set(ran.codes) == {"GM_RACE_BLOCKS"}


def test_soft_sync_all_orders_too(compiled):
    body = NEIGHBOUR.replace(
        "SYNC",
        "GlobalTensor<int32_t> w; w.SetGlobalBuffer((__gm__ int32_t*)z + 2048, 64);"
        "TBuf<TPosition::VECCALC> room; pipe.InitBuffer(room, 256);"
        "LocalTensor<int32_t> u = room.Get<int32_t>(); SyncAll(w, u);",
    )
    assert run(compiled, body, blocks=8).faults == ()


def test_cores_of_a_mix_block_know_who_they_are(compiled):
    body = """
      KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
      if ASCEND_IS_AIC { zGm.SetValue(GetBlockIdx() * 16, 100.0f + GetSubBlockNum()); }
      if ASCEND_IS_AIV {
        zGm.SetValue(1024 + GetBlockIdx() * 16, 10.0f * GetSubBlockIdx() + GetSubBlockNum());
      }
    """
    ran = run(compiled, body, blocks=2)
    assert ran.report["task_type"] == "MIX_AIC_1_2"
    np.testing.assert_array_equal(ran.arrays[1][:32:16], [101, 101])
    np.testing.assert_array_equal(ran.arrays[1][1024:1088:16], [2, 12, 2, 12])
    assert ran.faults == ()


def test_a_flag_between_cube_and_vector_cores_orders_both_ways(compiled):
    body = """
      if ASCEND_IS_AIC {
        zGm.SetValue(0, 5.0f);
        CrossCoreSetFlag<2, PIPE_FIX>(1);
        CrossCoreWaitFlag(2);
        zGm.SetValue(16, zGm.GetValue(32) + zGm.GetValue(48));
      }
      if ASCEND_IS_AIV {
        CrossCoreWaitFlag(1);
        zGm.SetValue(32 + 16 * GetSubBlockIdx(), zGm.GetValue(0) + 1.0f + GetSubBlockIdx());
        CrossCoreSetFlag<2, PIPE_MTE3>(2);
      }
    """
    ran = run(compiled, body, task_type=MIX_1_2)
    assert ran.arrays[1][16] == 13
    assert ran.faults == ()


def test_a_core_without_its_flag_races(compiled):
    body = """
      if ASCEND_IS_AIC { zGm.SetValue(0, 5.0f); }
      if ASCEND_IS_AIV { zGm.SetValue(32 + 16 * GetSubBlockIdx(), zGm.GetValue(0)); }
    """
    assert "GM_RACE_BLOCKS" in run(compiled, body, task_type=MIX_1_2).codes


def test_flags_among_all_vector_cores_are_a_barrier(compiled):
    sync = "CrossCoreSetFlag<0, PIPE_MTE3>(4); CrossCoreWaitFlag(4);"
    assert run(compiled, NEIGHBOUR.replace("SYNC", sync), blocks=4).faults == ()


def test_a_flag_that_is_never_set_is_a_hang_with_its_name(compiled):
    ran = run(compiled, "if (GetBlockIdx() == 1) CrossCoreWaitFlag(5);", blocks=2)
    fault = ran.only("HANG")
    assert fault.block == 1 and "CrossCoreWaitFlag(5)" in fault.message


def test_a_flag_set_sixteen_times_overflows(compiled):
    body = "for (int i = 0; i < 16; ++i) CrossCoreSetFlag<0, PIPE_MTE3>(3);"
    assert run(compiled, body).only("CROSS_FLAG").severity == "error"


def test_blocks_take_turns_on_the_cores_and_all_run(compiled):
    ran = run(compiled, "zGm.SetValue(GetBlockIdx() * 16, GetBlockIdx() + 1.0f);", blocks=200)
    np.testing.assert_array_equal(ran.arrays[1][:3200:16], np.arange(1, 201))


def test_a_tiling_key_chooses_a_branch_and_a_core_type(compiled):
    body = """
      if (TILING_KEY_IS(7)) {
        KERNEL_TASK_TYPE(7, KERNEL_TYPE_MIX_AIC_1_1);
        zGm.SetValue(GetBlockIdx() * 16 + (g_coreType == AIC), 7.0f); }
      else { zGm.SetValue(0, 1.0f); }
    """
    ran = run(compiled, body, tiling_key=7)
    assert ran.report["task_type"] == "MIX_AIC_1_1" and ran.arrays[1][1] == 7
    assert run(compiled, body, tiling_key=3).arrays[1][0] == 1


def test_a_launch_can_be_cut_to_a_few_blocks(compiled, chip):
    chip.kw_restrict(3, 2, 0)
    try:
        ran = run(compiled, "zGm.SetValue(GetBlockIdx() * 16, 1.0f); SyncAll();", blocks=8)
    finally:
        chip.kw_restrict(0, 0, 0)
    np.testing.assert_array_equal(np.flatnonzero(ran.arrays[1]), [48, 64])
    assert ran.faults == ()


def test_a_loop_without_end_is_cut_off_at_its_line(compiled, chip):
    chip.kw_restrict(0, 0, 200)
    body = "volatile int v = 1;\nwhile (v) { v = 2; } /*!*/\n"
    made = compiled(kernel(body), parameters=2)
    try:
        ran = made.run(X, X)
    finally:
        chip.kw_restrict(0, 0, 0)
    assert ran.only("HANG").line == made.line_of("/*!*/")


def test_blocks_that_write_the_same_scalar_are_only_suspicious(compiled):
    same = run(compiled, "for (int i = 0; i < 16; ++i) zGm.SetValue(i, 2.0f);", blocks=2)
    assert same.errors == [] and "GM_SAME_VALUE_WRITTEN" in same.codes
    other = run(compiled, "zGm.SetValue(3, 1.0f + GetBlockIdx());", blocks=2)
    assert "GM_RACE_BLOCKS" in other.codes
