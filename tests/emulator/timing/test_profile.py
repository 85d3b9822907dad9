"""A launch in the columns of the paper's profiler, diagnosed, and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.core.profile import Bottleneck
from kernelwright.emulator.profile import diagnose, metrics, performance, profile_of
from kernelwright.emulator.timing_stream import Launch, Pipe, Route, Stream
from kernelwright.emulator.trace import trace_of, write_trace

from .conftest import Simulate
from .test_pipes import pipeline

PAPER_COLUMNS = """
Block Dim, Duration(ms), aic_fixpipe_ratio, aic_fixpipe_time(ms), aic_icache_miss_rate,
aic_l1_read_bw(GB/s), aic_l1_write_bw(GB/s), aic_l2_read_bw(GB/s), aic_l2_write_bw(GB/s),
aic_mac_ratio, aic_mac_time(ms), aic_main_mem_read_bw(GB/s), aic_main_mem_write_bw(GB/s),
aic_mte1_ratio, aic_mte1_time(ms), aic_mte2_ratio, aic_mte2_time(ms), aic_scalar_ratio,
aic_scalar_time(ms), aic_total_cycles, aicore_time(ms), aiv_icache_miss_rate,
aiv_l2_read_bw(GB/s), aiv_l2_write_bw(GB/s), aiv_main_mem_read_bw(GB/s),
aiv_main_mem_write_bw(GB/s), aiv_mte2_ratio, aiv_mte2_time(ms), aiv_mte3_ratio,
aiv_mte3_time(ms), aiv_scalar_ratio, aiv_scalar_time(ms), aiv_time(ms), aiv_total_cycles,
aiv_ub_read_bw(GB/s), aiv_ub_write_bw(GB/s), aiv_vec_bank_cflt_ratio,
aiv_vec_bankgroup_cflt_ratio, aiv_vec_ratio, aiv_vec_resc_cflt_ratio, aiv_vec_time(ms),
cube_utilization(%)
"""


def test_the_columns_are_those_of_the_paper(simulate: Simulate) -> None:
    paper = {" ".join(name.split()) for name in PAPER_COLUMNS.split(",")}
    assert set(metrics(simulate(pipeline(2)))) == paper


def test_ratios_are_busy_time_over_core_time(simulate: Simulate) -> None:
    report = simulate(pipeline(2), Launch(4))
    table = metrics(report)
    assert table["Block Dim"] == 4
    assert 0.5 < table["aiv_vec_ratio"] <= 1
    assert table["aiv_vec_time(ms)"] == pytest.approx(
        table["aiv_vec_ratio"] * table["aiv_time(ms)"], abs=1e-4
    )
    assert table["aic_mac_ratio"] == 0


def test_passes_are_averaged_and_marked_as_simulated(simulate: Simulate) -> None:
    passes = [simulate(pipeline(buffers)) for buffers in (1, 2)]
    result = performance("Custom", passes)
    times = [float(one["duration_us"]) / 1e3 for one in passes]  # type: ignore[arg-type]
    assert result["simulated"] is True
    assert str(result["timing_model"]).startswith("ascend-timing 1 910B2 ")
    spread = result["performance"]
    assert isinstance(spread, dict)
    assert spread["mean"] == pytest.approx(sum(times) / 2, abs=1e-4)
    assert spread["min"] < spread["mean"] < spread["max"]


def test_no_pass_is_an_error() -> None:
    with pytest.raises(ValueError, match="no pass"):
        performance("Custom", [])


def busy_vectors() -> Stream:
    stream = Stream()
    for _ in range(400):
        stream.vector("Add", 64 * 256, dst=0x20000, src0=0, src1=0x10000)
    return stream


def big_reads(size: int) -> Stream:
    stream = Stream()
    for copy in range((1 << 21) // size):
        stream.copy(Route.GM_UB, size, copy * size)
    return stream


def scalar_loop() -> Stream:
    stream = Stream()
    for i in range(8000):
        stream.scalar_gm(4 * i, write=False)
    return stream


def back_and_forth() -> Stream:
    stream = Stream()
    for turn in range(400):
        stream.copy(Route.GM_UB, 64, 4096 * turn).signal(Pipe.MTE2, 1).wait(Pipe.V, 1)
        stream.vector("Muls", 256 * 64, dst=0, src0=0).signal(Pipe.V, 2).wait(Pipe.MTE3, 2)
        stream.copy(Route.UB_GM, 64, (1 << 25) + 4096 * turn)
        stream.signal(Pipe.MTE3, 3).wait(Pipe.MTE2, 3).wait(Pipe.S, 3).scalar(300)
    return stream


@pytest.mark.parametrize(
    ("stream", "blocks", "limit", "hint"),
    [
        (busy_vectors(), 48, Bottleneck.VECTOR, "bank conflicts"),
        (big_reads(32768), 48, Bottleneck.MEMORY, "MTE2 is busy"),
        (big_reads(1024), 48, Bottleneck.MEMORY, "1024 bytes a copy"),
        (scalar_loop(), 48, Bottleneck.SCALAR, "8000 scalar accesses"),
        (back_and_forth(), 48, Bottleneck.SYNC, "two buffers"),
        (big_reads(32768), 4, Bottleneck.OCCUPANCY, "4 of 48 cores"),
        (Stream().vector("Muls", 256, dst=0, src0=0), 48, Bottleneck.LAUNCH, "start the kernel"),
    ],
    ids=["vector", "memory", "small copies", "scalar", "sync", "occupancy", "launch"],
)
def test_the_limit_is_diagnosed(
    simulate: Simulate, stream: Stream, blocks: int, limit: Bottleneck, hint: str
) -> None:
    found, advice = diagnose(simulate(stream, Launch(blocks)))
    assert found is limit, advice
    assert hint in advice


def test_a_profile_says_that_it_is_simulated_and_by_what(simulate: Simulate) -> None:
    report = simulate(big_reads(32768), Launch(48))
    profile = profile_of(report)
    assert profile.simulated
    assert profile.tool.startswith("emulator ascend-timing 1 910B2 ")
    assert profile.bytes_moved == 48 << 21
    assert 0.5 < profile.achieved_gbps / profile.ceiling_gbps < 1.0
    assert all(0 <= part <= 1 for _, part in profile.time_split)


def test_a_trace_holds_every_event_on_its_pipe(simulate: Simulate, tmp_path: Path) -> None:
    report = simulate(pipeline(2, tiles=4), Launch(2, keep_events=True))
    write_trace(tmp_path / "trace.json", report, {0: ("kernel_src", 17)})
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = [row for row in trace["traceEvents"] if row["ph"] == "X"]
    assert len(events) == 2 * 4 * (1 + 8 + 1)
    assert {event["cat"] for event in events} == {"MTE2", "V", "MTE3"}
    assert all(event["dur"] > 0 and event["ts"] >= 0 for event in events)
    assert events[0]["args"] == {
        "block": 0,
        "simulated": True,
        "path": "kernel_src",
        "line": 17,
    }
    names = {
        (row["pid"], row["tid"]): row["args"]["name"]
        for row in trace["traceEvents"]
        if row["name"] == "thread_name"
    }
    assert all(names[event["pid"], event["tid"]] == event["cat"] for event in events)
    assert trace["otherData"]["simulated"] is True


def test_copies_of_one_pipe_do_not_start_before_each_other(simulate: Simulate) -> None:
    trace = trace_of(simulate(pipeline(2), Launch(keep_events=True)))
    assert isinstance(trace, dict)
    starts = [row["ts"] for row in trace["traceEvents"] if row.get("cat") == "MTE2"]
    assert starts == sorted(starts)


def test_a_launch_without_events_has_no_trace(simulate: Simulate) -> None:
    with pytest.raises(ValueError, match="keep_events"):
        trace_of(simulate(pipeline(1)))
