"""Every fault class: a kernel that breaks the rule on a marked line, and its clean twin."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.emulator.core.snippet import kernel

LOAD = "LocalTensor<float> a = in.AllocTensor<float>(); DataCopy(a, xGm, 256);"
READY = LOAD + " in.EnQue(a); a = in.DeQue<float>();"
STORE = "out.EnQue(c); c = out.DeQue<float>(); DataCopy(zGm, c, 256); out.FreeTensor(c);"
MAKE = "LocalTensor<float> c = out.AllocTensor<float>();"


@dataclass(frozen=True)
class Case:
    """A body with a fault on the line marked `/*!*/`, and one without."""

    code: str
    bad: str
    good: str
    severity: str = "error"
    queues: bool = True
    blocks: int = 1
    mode: dict[str, object] = field(default_factory=dict)


CASES = (
    Case(
        "UB_NEARLY_FULL",
        "pipe.InitBuffer(calc, 196400); /*!*/",
        "pipe.InitBuffer(calc, 196352);",
        "warning",
        queues=False,
    ),
    Case(
        "UB_OVER_ALLOCATED",
        "pipe.InitBuffer(in, 1, 98304); pipe.InitBuffer(out, 1, 97280);\n"
        "pipe.InitBuffer(calc, 2048); /*!*/",
        "pipe.InitBuffer(in, 1, 98304); pipe.InitBuffer(out, 1, 97280);",
        "warning",
        queues=False,
    ),
    Case(
        "LOCAL_OUT_OF_RANGE",
        "pipe.InitBuffer(calc, 190000);\nLocalTensor<float> t(TPosition::VECCALC, 196352, 256);\n"
        "DataCopy(t, xGm, 256); /*!*/",
        "pipe.InitBuffer(calc, 190000);\nLocalTensor<float> t(TPosition::VECCALC, 195584, 256);\n"
        "DataCopy(t, xGm, 256);",
        queues=False,
    ),
    Case(
        "BUFFER_OVERRUN",
        LOAD.replace("256", "264") + " /*!*/\n in.FreeTensor(a);",
        LOAD + " in.FreeTensor(a);",
    ),
    Case(
        "BUFFER_OVERREAD",
        READY
        + MAKE
        + "\nLocalTensor<float> big(TPosition::VECCALC, 0, 512); DataCopy(big[256], xGm, 256);"
        "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);\n"
        "LocalTensor<float> t = calc.Get<float>(); Adds(t, a[8], 1.0f, 256); /*!*/\n"
        "in.FreeTensor(a); out.FreeTensor(c);",
        READY
        + "LocalTensor<float> t = calc.Get<float>(); Adds(t, a[8], 1.0f, 248); in.FreeTensor(a);",
        "warning",
    ),
    Case(
        "QUEUE_NOT_INITIALISED",
        "LocalTensor<float> a = in.AllocTensor<float>(); /*!*/",
        "",
        queues=False,
    ),
    Case(
        "LOCAL_NOT_A_TENSOR",
        "LocalTensor<float> t; DataCopy(t, xGm, 256); /*!*/",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm, 256);",
    ),
    Case(
        "LOCAL_WRONG_MEMORY",
        "LocalTensor<float> t(TPosition::A1, 0, 256); DataCopy(t, xGm, 256);\n"
        "SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0);\n"
        "Adds(t, t, 1.0f, 256); /*!*/",
        "LocalTensor<float> t(TPosition::A1, 0, 256); DataCopy(t, xGm, 256);",
    ),
    Case(
        "UB_MISALIGNED",
        READY + MAKE + "\nAdds(c, a[1], 1.0f, 64); /*!*/\n in.FreeTensor(a); out.FreeTensor(c);",
        READY + MAKE + "\nAdds(c, a[8], 1.0f, 64);\n in.FreeTensor(a); out.FreeTensor(c);",
    ),
    Case(
        "LENGTH_TRUNCATED",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm, 100); /*!*/",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm, 104);",
        "warning",
    ),
    Case(
        "COPY_PARAMS",
        "LocalTensor<float> t = calc.Get<float>();\n"
        "DataCopyPad(t, xGm, DataCopyParams{1, 4, 0, 0}, DataCopyPadParams{true, 9, 0, 0}); /*!*/",
        "LocalTensor<float> t = calc.Get<float>();\n"
        "DataCopyPad(t, xGm, DataCopyParams{1, 4, 0, 0}, DataCopyPadParams{true, 0, 7, 0});",
    ),
    Case(
        "UNINITIALISED_READ",
        "LocalTensor<float> t = calc.Get<float>(); " + MAKE + "\n"
        "Adds(c, t, 1.0f, 256); /*!*/\n" + STORE,
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a);" + STORE,
    ),
    Case(
        "UNINITIALISED_TAIL",
        READY.replace("256", "200") + MAKE + "\n"
        "Adds(c, a, 1.0f, 256); /*!*/\n in.FreeTensor(a);" + STORE,
        READY.replace("256", "200")
        + MAKE
        + "Adds(c, a, 1.0f, 200); in.FreeTensor(a);"
        + STORE.replace("256", "200"),
        "warning",
    ),
    Case(
        "RACE_RAW",
        LOAD + MAKE + "\nAdds(c, a, 1.0f, 256); /*!*/\n in.FreeTensor(a);" + STORE,
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a);" + STORE,
    ),
    Case(
        "RACE_RAW",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a);\n"
        "DataCopy(zGm, c, 256); /*!*/\n out.FreeTensor(c);",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a); SetFlag<HardEvent::V_MTE3>(0);"
        "WaitFlag<HardEvent::V_MTE3>(0); DataCopy(zGm, c, 256); out.FreeTensor(c);",
    ),
    Case(
        "RACE_WAR",
        READY + MAKE + "Adds(c, a, 1.0f, 256);\nDataCopy(a, xGm[256], 256); /*!*/\n"
        "in.FreeTensor(a);" + STORE,
        READY + MAKE + "Adds(c, a, 1.0f, 256); SetFlag<HardEvent::V_MTE2>(0);"
        "WaitFlag<HardEvent::V_MTE2>(0); DataCopy(a, xGm[256], 256); in.FreeTensor(a);" + STORE,
    ),
    Case(
        "RACE_WAW",
        READY + MAKE + "LocalTensor<float> t = calc.Get<float>(); Adds(t, a, 1.0f, 256);\n"
        "DataCopy(t, xGm, 256); /*!*/\n in.FreeTensor(a); out.FreeTensor(c);",
        READY + MAKE + "LocalTensor<float> t = calc.Get<float>(); Adds(t, a, 1.0f, 256);\n"
        "PipeBarrier<PIPE_ALL>(); DataCopy(t, xGm, 256); in.FreeTensor(a); out.FreeTensor(c);",
    ),
    Case(
        "BARRIER_MISSING",
        READY + MAKE + "Adds(c, a, 1.0f, 256);\nMuls(c, c, 2.0f, 256); /*!*/\n"
        "in.FreeTensor(a);" + STORE,
        READY + MAKE + "Adds(c, a, 1.0f, 256); PipeBarrier<PIPE_V>(); Muls(c, c, 2.0f, 256);"
        "in.FreeTensor(a);" + STORE,
        mode={"is_strict": True},
    ),
    Case(
        "GM_OUT_OF_BOUNDS",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm[4096 - 128], 256); /*!*/",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm[4096 - 256], 256);",
    ),
    Case(
        "GM_OUT_OF_BOUNDS",
        "float last = xGm.GetValue(4096); /*!*/\n zGm.SetValue(0, last);",
        "float last = xGm.GetValue(4095); zGm.SetValue(0, last);",
    ),
    Case(
        "GM_TAIL_OVERREAD",
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, xGm[4096 - 250], 256); /*!*/",
        "LocalTensor<float> t = calc.Get<float>();"
        "DataCopyPad(t, xGm[4096 - 250], DataCopyExtParams{1, 1000, 0, 0, 0},"
        "DataCopyPadExtParams<float>{false, 0, 0, 0.0f});",
        "warning",
    ),
    Case(
        "GM_RACE_BLOCKS",
        READY + MAKE + "Adds(c, a, 1.0f * GetBlockIdx(), 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>();\nDataCopy(zGm[GetBlockIdx() * 128], c, 256); /*!*/\n"
        "out.FreeTensor(c);",
        READY + MAKE + "Adds(c, a, 1.0f * GetBlockIdx(), 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>(); DataCopy(zGm[GetBlockIdx() * 256], c, 256); out.FreeTensor(c);",
        blocks=2,
    ),
    Case(
        "GM_SAME_VALUE_WRITTEN",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>();\nDataCopy(zGm, c, 256); /*!*/\nout.FreeTensor(c);",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>(); SetAtomicAdd<float>(); DataCopy(zGm, c, 256); SetAtomicNone();"
        "out.FreeTensor(c);",
        "warning",
        blocks=2,
    ),
    Case(
        "GM_LINE_SHARED",
        "zGm.SetValue(GetBlockIdx() * 8, 1.0f); /*!*/",
        "zGm.SetValue(GetBlockIdx() * 16, 1.0f);",
        "warning",
        blocks=2,
    ),
    Case(
        "GM_RACE_PIPES",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>(); DataCopy(zGm, c, 256);\n"
        "LocalTensor<float> t = calc.Get<float>(); DataCopy(t, zGm, 256); /*!*/\n"
        "out.FreeTensor(c);",
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a); out.EnQue(c);"
        "c = out.DeQue<float>(); DataCopy(zGm, c, 256); SetFlag<HardEvent::MTE3_MTE2>(0);"
        "WaitFlag<HardEvent::MTE3_MTE2>(0); LocalTensor<float> t = calc.Get<float>();"
        "DataCopy(t, zGm, 256); out.FreeTensor(c);",
    ),
    Case(
        "GM_MISALIGNED",
        "GlobalTensor<float> odd; odd.SetGlobalBuffer((__gm__ float*)(x + 2));\n"
        "zGm.SetValue(0, odd.GetValue(0)); /*!*/",
        "GlobalTensor<float> odd; odd.SetGlobalBuffer((__gm__ float*)(x + 4));\n"
        "zGm.SetValue(0, odd.GetValue(0));",
        "warning",
    ),
    Case(
        "QUEUE_NO_FREE_BUFFER",
        READY + "LocalTensor<float> b = in.AllocTensor<float>();\n"
        "LocalTensor<float> d = in.AllocTensor<float>(); /*!*/\n in.FreeTensor(b);"
        "in.FreeTensor(d);",
        READY + "LocalTensor<float> b = in.AllocTensor<float>(); in.FreeTensor(a);"
        "LocalTensor<float> d = in.AllocTensor<float>(); in.FreeTensor(b); in.FreeTensor(d);",
    ),
    Case(
        "QUEUE_EMPTY",
        "LocalTensor<float> a = in.DeQue<float>(); /*!*/",
        READY + "in.FreeTensor(a);",
    ),
    Case(
        "QUEUE_FULL",
        "TQue<TPosition::VECIN, 1> one; pipe.InitBuffer(one, 2, 256);\n"
        "LocalTensor<float> a = one.AllocTensor<float>(); one.EnQue(a);\n"
        "LocalTensor<float> b = one.AllocTensor<float>(); one.EnQue(b); /*!*/\n"
        "a = one.DeQue<float>(); one.FreeTensor(a); b = one.DeQue<float>(); one.FreeTensor(b);",
        "TQue<TPosition::VECIN, 2> one; pipe.InitBuffer(one, 2, 256);\n"
        "LocalTensor<float> a = one.AllocTensor<float>(); one.EnQue(a);\n"
        "LocalTensor<float> b = one.AllocTensor<float>(); one.EnQue(b);\n"
        "a = one.DeQue<float>(); one.FreeTensor(a); b = one.DeQue<float>(); one.FreeTensor(b);",
    ),
    Case(
        "QUEUE_FOREIGN_TENSOR",
        "LocalTensor<float> a = in.AllocTensor<float>(); in.EnQue(a); a = in.DeQue<float>();\n"
        "out.FreeTensor(a); /*!*/\n in.FreeTensor(a);",
        "LocalTensor<float> a = in.AllocTensor<float>(); in.EnQue(a); a = in.DeQue<float>();\n"
        "in.FreeTensor(a);",
    ),
    Case(
        "TENSOR_FREED_TWICE",
        READY + "in.FreeTensor(a);\n in.FreeTensor(a); /*!*/",
        READY + "in.FreeTensor(a);",
    ),
    Case(
        "TENSOR_NOT_FREED",
        READY.replace("LocalTensor", "/*!*/ LocalTensor"),
        READY + "in.FreeTensor(a);",
    ),
    Case(
        "TENSOR_USED_AFTER_FREE",
        READY + MAKE + "in.FreeTensor(a);\nAdds(c, a, 1.0f, 256); /*!*/\n" + STORE,
        READY + MAKE + "Adds(c, a, 1.0f, 256); in.FreeTensor(a);" + STORE,
    ),
    Case(
        "TOO_MANY_LIVE_TENSORS",
        "TQue<TPosition::VECIN, 9> q; pipe.InitBuffer(q, 9, 64); LocalTensor<float> t;\n"
        "for (int i = 0; i < 9; ++i) {\n t = q.AllocTensor<float>(); /*!*/\n q.EnQue(t); }\n"
        "for (int i = 0; i < 9; ++i) { t = q.DeQue<float>(); q.FreeTensor(t); }",
        "TQue<TPosition::VECIN, 8> q; pipe.InitBuffer(q, 8, 64); LocalTensor<float> t;\n"
        "for (int i = 0; i < 8; ++i) { t = q.AllocTensor<float>(); q.EnQue(t); }\n"
        "for (int i = 0; i < 8; ++i) { t = q.DeQue<float>(); q.FreeTensor(t); }",
    ),
    Case(
        "LIVE_TENSORS_UNQUEUED",
        "TQue<TPosition::VECIN, 1> q; pipe.InitBuffer(q, 9, 64); LocalTensor<float> t[9];\n"
        "for (int i = 0; i < 9; ++i) t[i] = q.AllocTensor<float>(); /*!*/\n"
        "for (int i = 0; i < 9; ++i) q.FreeTensor(t[i]);",
        "TQue<TPosition::VECCALC, 1> q; pipe.InitBuffer(q, 9, 64); LocalTensor<float> t[9];\n"
        "for (int i = 0; i < 9; ++i) t[i] = q.AllocTensor<float>();\n"
        "for (int i = 0; i < 9; ++i) q.FreeTensor(t[i]);",
        "warning",
    ),
    Case(
        "TOO_MANY_BUFFERS",
        "TQue<TPosition::VECIN, 1> q; pipe.InitBuffer(q, 60, 64); /*!*/",
        "TQue<TPosition::VECIN, 1> q; pipe.InitBuffer(q, 59, 64);",
    ),
    Case("EVENT_ID", "SetFlag<HardEvent::MTE2_V>(8); /*!*/", ""),
    Case(
        "EVENT_SET_TWICE",
        "SetFlag<HardEvent::MTE2_V>(1);\n SetFlag<HardEvent::MTE2_V>(1); /*!*/\n"
        "WaitFlag<HardEvent::MTE2_V>(1); WaitFlag<HardEvent::MTE2_V>(1);",
        "SetFlag<HardEvent::MTE2_V>(1); SetFlag<HardEvent::MTE2_V>(2);"
        "WaitFlag<HardEvent::MTE2_V>(1); WaitFlag<HardEvent::MTE2_V>(2);",
    ),
    Case(
        "EVENT_NOT_WAITED",
        "SetFlag<HardEvent::MTE3_V>(1); /*!*/",
        "SetFlag<HardEvent::MTE3_V>(1); WaitFlag<HardEvent::MTE3_V>(1);",
        "warning",
    ),
    Case(
        "DEAD_WAIT",
        "wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); /*!*/",
        "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
    ),
    Case("SYNC_PARTIAL", "if (GetBlockIdx() != 1) SyncAll(); /*!*/", "SyncAll();", blocks=3),
    Case("SYNC_TOO_MANY_BLOCKS", "SyncAll(); /*!*/", "", blocks=49),
    Case(
        "SYNC_WORKSPACE",
        "GlobalTensor<int32_t> w; w.SetGlobalBuffer((__gm__ int32_t*)z, 8);\n"
        "LocalTensor<int32_t> u = calc.Get<int32_t>(); SyncAll(w, u); /*!*/",
        "GlobalTensor<int32_t> w; w.SetGlobalBuffer((__gm__ int32_t*)z, 16);\n"
        "LocalTensor<int32_t> u = calc.Get<int32_t>(); SyncAll(w, u);",
        blocks=2,
    ),
    Case("CROSS_FLAG", "CrossCoreWaitFlag(16); /*!*/", ""),
    Case(
        "HANG",
        "CrossCoreWaitFlag(3); /*!*/",
        "CrossCoreSetFlag<0, PIPE_MTE3>(3); CrossCoreWaitFlag(3);",
    ),
    Case(
        "MASK",
        READY + MAKE + "\nAdd(c, a, a, (uint64_t)65, 1, {1, 1, 1, 8, 8, 8}); /*!*/\n"
        "in.FreeTensor(a); out.FreeTensor(c);",
        READY + MAKE + "Add(c, a, a, (uint64_t)64, 1, {1, 1, 1, 8, 8, 8}); in.FreeTensor(a);"
        "out.FreeTensor(c);",
    ),
    Case(
        "COUNT",
        READY + MAKE + "\nAdd(c, a, a, -4); /*!*/\n in.FreeTensor(a); out.FreeTensor(c);",
        READY + MAKE + "\nAdd(c, a, a, 4); in.FreeTensor(a); out.FreeTensor(c);",
    ),
    Case(
        "OVERLAP",
        READY + "\nAdds(a[8], a, 1.0f, 64); /*!*/\n in.FreeTensor(a);",
        READY + "Adds(a, a, 1.0f, 64); Adds(a[64], a, 1.0f, 64); in.FreeTensor(a);",
    ),
    Case(
        "ASSERTION",
        "ASCENDC_ASSERT(GetBlockNum() == 2); /*!*/",
        "ASCENDC_ASSERT(GetBlockNum() == 1);",
    ),
    Case("TRAP", "Trap(); /*!*/", ""),
    Case(
        "CRASH",
        "volatile int* nowhere = nullptr; *nowhere = 1; /*!*/",
        "volatile int here = 0; *&here = 1;",
    ),
)


@pytest.fixture(scope="module")
def kernels(compiled_together):
    """The kernels of all cases, in one library: by number and whether they keep the rule."""
    sources = {
        f"case_{number}_{word}": kernel(body, queues=case.queues)
        for number, case in enumerate(CASES)
        for word, body in (("bad", case.bad), ("good", case.good))
    }
    return compiled_together(sources, parameters=2)


def ran(made, case: Case):
    arrays = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
    return made.run(*arrays, names="xz", blocks=case.blocks, **case.mode)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.code for case in CASES])
def test_a_broken_rule_is_reported_once_with_its_line(kernels, number):
    case, made = CASES[number], kernels[f"case_{number}_bad"]
    outcome = ran(made, case)
    found = [fault for fault in outcome.faults if fault.code == case.code]
    assert len(found) == 1, [fault.text for fault in outcome.faults]
    assert found[0].severity == case.severity
    assert found[0].line == made.line_of("/*!*/"), found[0].text
    assert found[0].block in range(case.blocks)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.code for case in CASES])
def test_the_clean_twin_has_no_fault(kernels, number):
    outcome = ran(kernels[f"case_{number}_good"], CASES[number])
    assert outcome.faults == (), [fault.text for fault in outcome.faults]
