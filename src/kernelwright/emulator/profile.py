"""What the timing model says about a launch, in the words of profilers.

Takes:   the timing part of a launch's report (a dictionary read from JSON).
Gives:   the table of EvoKernel's Appendix F (the vendor profiler's names), the means over passes,
         and a `Profile` with a diagnosed bottleneck.
Leaves:  traces to `trace.py`. Nothing here is measured: every figure is simulated and says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from kernelwright.core.fingerprint import Json
from kernelwright.core.profile import Bottleneck, Profile

PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_AIV = {"vec": "V", "scalar": "S", "mte2": "MTE2", "mte3": "MTE3"}
_AIC = {"mac": "M", "scalar": "S", "mte1": "MTE1", "mte2": "MTE2", "fixpipe": "FIX"}
_SMALL_COPY_BYTES = 16384


def number(record: Mapping[str, Json], key: str) -> float:
    """Return a number of a report, 0 where it is absent."""
    value = record.get(key, 0)
    return float(value) if isinstance(value, int | float) else 0.0


def records(report: Mapping[str, Json], key: str) -> list[Mapping[str, Json]]:
    """Return a list of records of a report."""
    value = report.get(key, [])
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [item for item in value if isinstance(item, Mapping)]


def metrics(timing: Mapping[str, Json]) -> dict[str, float]:
    """Return one pass in the columns of EvoKernel's Appendix F.

    Times are in milliseconds and means over the cores of a kind; ratios are of that mean; cycles
    are summed over the cores; bandwidths are of one core. Columns of a kind of core that the
    launch did not use, and of counters that the model lacks (instruction cache, resource
    conflicts), are 0.

    Source: EvoKernel (arXiv:2603.10846), Appendix F.2.
    """
    cores = records(timing, "cores")
    table: dict[str, float] = {
        "Block Dim": number(timing, "blocks"),
        "Duration(ms)": number(timing, "duration_us") / 1e3,
    }
    for prefix, pipes in (("aic", _AIC), ("aiv", _AIV)):
        kind = [core for core in cores if core.get("kind") == prefix]
        table.update(_kind_columns(prefix, pipes, kind, number(timing, "clock_mhz")))
    table["aicore_time(ms)"] = table.pop("aic_time(ms)")
    table["cube_utilization(%)"] = 100 * table["aic_mac_ratio"]
    return {key: round(value, 4) for key, value in sorted(table.items())}


def _kind_columns(
    prefix: str,
    pipes: Mapping[str, str],
    cores: Sequence[Mapping[str, Json]],
    clock_mhz: float,
) -> dict[str, float]:
    times = [number(core, "end_us") - number(core, "start_us") for core in cores]
    mean_us = statistics.fmean(times) if times else 0.0
    cycles = sum(times) * clock_mhz

    def mean(key: str) -> float:
        return statistics.fmean(number(core, key) for core in cores) if cores else 0.0

    def rate(key: str) -> float:
        return mean(key) / mean_us / 1e3 if mean_us else 0.0

    table = {f"{prefix}_time(ms)": mean_us / 1e3, f"{prefix}_total_cycles": cycles}
    for name, pipe in pipes.items():
        busy_us = statistics.fmean(_busy(core, pipe) for core in cores) if cores else 0.0
        table[f"{prefix}_{name}_time(ms)"] = busy_us / 1e3
        table[f"{prefix}_{name}_ratio"] = busy_us / mean_us if mean_us else 0.0
    table[f"{prefix}_main_mem_read_bw(GB/s)"] = rate("gm_read_bytes")
    table[f"{prefix}_main_mem_write_bw(GB/s)"] = rate("gm_written_bytes")
    table[f"{prefix}_l2_read_bw(GB/s)"] = rate("l2_hit_bytes")
    table[f"{prefix}_l2_write_bw(GB/s)"] = rate("gm_written_bytes")
    table[f"{prefix}_icache_miss_rate"] = 0.0
    if prefix == "aiv":
        table["aiv_ub_read_bw(GB/s)"] = rate("ub_read_bytes")
        table["aiv_ub_write_bw(GB/s)"] = rate("ub_written_bytes")
        total = mean_us * clock_mhz
        table["aiv_vec_bank_cflt_ratio"] = mean("bank_conflict_cycles") / total if total else 0.0
        table["aiv_vec_bankgroup_cflt_ratio"] = (
            mean("group_conflict_cycles") / total if total else 0.0
        )
        table["aiv_vec_resc_cflt_ratio"] = 0.0
    else:
        table["aic_l1_read_bw(GB/s)"] = 0.0
        table["aic_l1_write_bw(GB/s)"] = rate("gm_read_bytes")
    return table


def _busy(core: Mapping[str, Json], pipe: str) -> float:
    busy = core.get("busy_us", {})
    return number(busy, pipe) if isinstance(busy, Mapping) else 0.0


def performance(name: str, passes: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return the report of several passes of one kernel as Appendix F prints it.

    Args:
        name: The kernel's name.
        passes: Timing parts of reports, one a pass (the paper makes three).

    Returns:
        `performance` with max, mean, min and std in milliseconds, and `profiling` with the mean of
        each column; marked as simulated, with the model's version.

    Raises:
        ValueError: if there is no pass.
    """
    if not passes:
        raise ValueError("no pass was made")
    tables = [metrics(timing) for timing in passes]
    times = [table["Duration(ms)"] for table in tables]
    columns = {key: round(statistics.fmean(table[key] for table in tables), 4) for key in tables[0]}
    return {
        "simulated": True,
        "timing_model": str(passes[0].get("model", "")),
        "performance": {
            "max": max(times),
            "mean": statistics.fmean(times),
            "min": min(times),
            "std": statistics.pstdev(times),
        },
        "profiling": {name: columns},
    }


def profile_of(timing: Mapping[str, Json], *, bytes_moved: int = 0) -> Profile:
    """Return a launch as a profile with its bottleneck.

    Args:
        timing: The timing part of its report.
        bytes_moved: Bytes that must cross memory at least once; 0 takes those that did.
    """
    duration_us = number(timing, "duration_us")
    cores = records(timing, "cores")
    moved = bytes_moved or int(
        sum(number(core, "gm_read_bytes") + number(core, "gm_written_bytes") for core in cores)
    )
    bottleneck, advice = diagnose(timing)
    ratios = _longest_core_ratios(timing)
    return Profile(
        backend="ascendc",
        tool=f"emulator {timing.get('model', '')}",
        simulated=True,
        duration_us=duration_us,
        time_split=tuple((name, min(1.0, round(ratio, 4))) for name, ratio in ratios.items()),
        bytes_moved=moved,
        achieved_gbps=moved / duration_us / 1e3 if duration_us else 0.0,
        ceiling_gbps=number(timing, "hbm_gbps"),
        facts=tuple((key, f"{value:g}") for key, value in metrics(timing).items()),
        bottleneck=bottleneck,
        advice=advice,
    )


def _longest_core(timing: Mapping[str, Json]) -> Mapping[str, Json]:
    cores = records(timing, "cores")
    return max(cores, key=lambda core: number(core, "end_us"), default={})


def _longest_core_ratios(timing: Mapping[str, Json]) -> dict[str, float]:
    core = _longest_core(timing)
    time_us = number(core, "end_us") - number(core, "start_us")
    return {pipe: _busy(core, pipe) / time_us if time_us else 0.0 for pipe in PIPES}


def diagnose(timing: Mapping[str, Json]) -> tuple[Bottleneck, str]:
    """Return what limits a launch, and one sentence on what to try.

    The core that ends last decides: a pipe that is busy for most of its time is the limit; if none
    is busy for half of it, the pipes wait for each other. Launches that end before their own start
    cost, and launches that leave most of the chip idle, are told apart first.
    """
    duration_us, launch_us = number(timing, "duration_us"), number(timing, "launch_us")
    if not duration_us:
        return Bottleneck.UNKNOWN, ""
    if launch_us > duration_us / 2:
        return (
            Bottleneck.LAUNCH,
            f"{launch_us:.1f} of {duration_us:.1f} us start the kernel: use fewer blocks, or fuse",
        )
    idle = _idle_cores(timing, duration_us)
    if idle:
        return Bottleneck.OCCUPANCY, idle
    ratios = _longest_core_ratios(timing)
    groups = {
        Bottleneck.MEMORY: max(ratios["MTE2"], ratios["MTE3"]),
        Bottleneck.VECTOR: ratios["V"],
        Bottleneck.CUBE: max(ratios["M"], ratios["MTE1"], ratios["FIX"]),
        Bottleneck.SCALAR: ratios["S"],
    }
    limit = max(groups, key=lambda key: groups[key])
    if groups[limit] < 0.5:
        return (
            Bottleneck.SYNC,
            f"no pipe is busy for more than {groups[limit]:.0%} of the time: "
            "use two buffers a queue, larger tiles, or fewer barriers",
        )
    return limit, _advice(limit, ratios, _longest_core(timing))


def _idle_cores(timing: Mapping[str, Json], duration_us: float) -> str:
    active, chip = number(timing, "active_cores"), number(timing, "chip_cores")
    if chip and active <= chip / 2 and duration_us > 10 * number(timing, "launch_us"):
        return f"{active:.0f} of {chip:.0f} cores work: use more blocks"
    cores = records(timing, "cores")
    if len(cores) < 2:
        return ""
    per_core = [number(core, "end_us") - number(core, "start_us") for core in cores]
    longest = max(number(core, "end_us") for core in cores)
    used = sum(per_core) / (max(1.0, min(chip, len(cores))) * longest) if longest else 1.0
    if used < 0.6:
        return f"cores work for {used:.0%} of the launch on average: give each block the same work"
    return ""


def _advice(limit: Bottleneck, ratios: Mapping[str, float], core: Mapping[str, Json]) -> str:
    if limit is Bottleneck.MEMORY:
        return _memory_advice(ratios, core)
    if limit is Bottleneck.VECTOR:
        cycles = number(core, "vector_cycles")
        lost = number(core, "group_conflict_cycles") + number(core, "bank_conflict_cycles")
        if cycles and lost > 0.2 * cycles:
            return (
                f"bank conflicts take {lost / cycles:.0%} of the vector cycles: move one source "
                "by 256 bytes, and the result to another 64 KiB"
            )
        return f"the vector pipe is busy for {ratios['V']:.0%}: use fewer instructions an element"
    if limit is Bottleneck.SCALAR:
        accesses = number(core, "scalar_gm_accesses")
        if accesses:
            return f"{accesses:.0f} scalar accesses to global memory: copy tiles and use vectors"
        return f"the scalar unit is busy for {ratios['S']:.0%}: larger tiles, fewer calls"
    return f"the cube is busy for {ratios['M']:.0%}: larger base tiles keep operands in L1"


def _memory_advice(ratios: Mapping[str, float], core: Mapping[str, Json]) -> str:
    pipe, key = (
        ("MTE2", "gm_read_bytes")
        if ratios["MTE2"] >= ratios["MTE3"]
        else (
            "MTE3",
            "gm_written_bytes",
        )
    )
    counts = core.get("instructions", {})
    copies = number(counts, pipe) if isinstance(counts, Mapping) else 0.0
    size = number(core, key) / copies if copies else 0.0
    if 0 < size < _SMALL_COPY_BYTES:
        return f"{pipe} moves {size:.0f} bytes a copy: copies of 16 KiB or more run at full speed"
    return f"{pipe} is busy for {ratios[pipe]:.0%}: read each byte once, keep what is read again"
