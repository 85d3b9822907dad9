"""Compare the Ascend C timing model with published measurements: fitted rows and held-out rows.

    python benchmarks/ascendc_timing.py            # compare, print, write results/*.json
    python benchmarks/ascendc_timing.py --fit      # also search for better figures, print them

The fit sees only rows marked `fitted`. It never runs on its own: whoever changes figures writes
them into src/kernelwright/emulator/targets/ and runs the comparison again.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ascendc_timing_rows import Case, every_case

from kernelwright.emulator.targets import Chip, configure, load_chip
from kernelwright.emulator.timing_stream import (
    Launch,
    Pipe,
    Route,
    Stream,
    play,
    runtime_sources,
)

FITTED_FIGURES = (
    "hbm_gbps",
    "hbm_write_gbps",
    "l2_read_gbps",
    "copy_latency_cycles",
    "unaligned_efficiency",
    "burst_overhead_bytes",
    "bank_conflict_cycles",
    "barrier_cycles",
    "scalar_miss_cycles",
    "launch_us",
    "launch_core_us",
)


def build(folder: Path) -> ctypes.CDLL:
    """Compile the timing model alone."""
    target = folder / "libtiming.so"
    command = ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-o", str(target)]
    subprocess.run([*command, *map(str, runtime_sources())], check=True)
    return ctypes.CDLL(str(target))


def simulate(library: ctypes.CDLL, case: Case, stream: Stream) -> float:
    """Return the simulated figure of one case in its unit."""
    report = play(
        library,
        case.launch,
        lambda block: case.streams[block] if case.streams else stream,
        lambda block: (1 << 34) + block * case.bytes_per_block,
    )
    launch_us = _number(report["launch_us"])
    if case.what == "duration":
        inside = _number(report["duration_us"]) - launch_us
        return inside / case.scale + launch_us
    cores = report["cores"]
    assert isinstance(cores, list)
    busy = [_number(core["busy_us"][case.what]) for core in cores]
    longest = max(busy) / case.scale
    return longest * _number(report["clock_mhz"]) if case.unit == "cycles" else longest


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the rank correlation of pairs; ties share their mean rank."""
    left, right = _ranks([a for a, _ in pairs]), _ranks([b for _, b in pairs])
    return statistics.correlation(left, right)


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in range(at, end + 1):
            ranks[order[i]] = (at + end) / 2
        at = end + 1
    return ranks


def chip_of(name: str, figures: Mapping[str, float]) -> Chip:
    """Return a chip with `figures` in place of its fitted ones, where it has none of its own."""
    chip = load_chip(name)
    base = load_chip("910B1")
    changed = {
        key: value for key, value in figures.items() if chip.constants[key] == base.constants[key]
    }
    return replace(chip, constants={**chip.constants, **changed})


def run(
    library: ctypes.CDLL,
    cases: Sequence[Case],
    streams: Mapping[str, Stream],
    figures: Mapping[str, float],
) -> dict[str, float]:
    """Simulate every case; returns its name and figure."""
    found: dict[str, float] = {}
    for name in sorted({case.chip for case in cases}):
        configure(library, chip_of(name, figures))
        for case in cases:
            if case.chip == name:
                found[case.name] = simulate(library, case, streams[case.name])
    return found


def fit(
    library: ctypes.CDLL, rows: Sequence[Case], streams: Mapping[str, Stream]
) -> dict[str, float]:
    """Search figures by coordinate descent on the squared log ratio of `rows`."""
    figures = {name: load_chip("910B1").constants[name] for name in FITTED_FIGURES}

    def loss(trial: Mapping[str, float]) -> float:
        found = run(library, rows, streams, trial)
        return sum(math.log(found[row.name] / row.measured) ** 2 for row in rows)

    best = loss(figures)
    for step in (1.5, 1.2, 1.08, 1.03):
        for _ in range(2):
            for name in FITTED_FIGURES:
                for factor in (step, 1 / step):
                    trial = {**figures, name: figures[name] * factor}
                    if (found := loss(trial)) < best - 1e-6:
                        best, figures = found, trial
        print(f"step {step}: loss {best:.4f}", file=sys.stderr)
    return figures


def folds(
    library: ctypes.CDLL, cases: Sequence[Case], streams: Mapping[str, Stream], count: int
) -> list[dict[str, float]]:
    """Fit to random halves of all rows but tiles and cubes; return the other halves' summaries."""
    rows = [case for case in cases if case.group not in ("tile", "cube")]
    results = []
    for seed in range(count):
        order = list(rows)
        random.Random(seed).shuffle(order)
        half = len(order) // 2
        figures = fit(library, order[:half], streams)
        found = run(library, order[half:], streams, figures)
        results.append(
            summary(
                [{"measured": row.measured, "simulated": found[row.name]} for row in order[half:]]
            )
        )
    return results


def roofline(
    library: ctypes.CDLL, cases: Sequence[Case], streams: Mapping[str, Stream]
) -> dict[str, dict[str, float]]:
    """Return how far bytes over bandwidth, plus the launch, would get on the held-out kernels."""
    rows: list[dict[str, object]] = []
    for case in cases:
        if case.fitted or case.what != "duration" or case.group == "cube":
            continue
        chip = load_chip(case.chip)
        configure(library, chip)
        stream, apart = streams[case.name], case.bytes_per_block
        timing = play(library, case.launch, lambda _, s=stream: s, lambda b, a=apart: a * b)
        cores = timing["cores"]
        assert isinstance(cores, list)
        moved = sum(core["gm_read_bytes"] + core["gm_written_bytes"] for core in cores) / case.scale
        time_us = moved / chip.constants["hbm_gbps"] / 1e3 + _number(timing["launch_us"])
        rows.append({"group": case.group, "measured": case.measured, "simulated": time_us})
    groups = sorted({str(row["group"]) for row in rows})
    return {
        "all": summary(rows),
        **{group: summary([r for r in rows if r["group"] == group]) for group in groups},
    }


def wall_ns(library: ctypes.CDLL) -> dict[str, float]:
    """Return host nanoseconds of one simulated instruction, less those of an empty record."""
    count = 50_000
    streams = {name: Stream() for name in ("empty", "vector", "copy", "flag", "scalar_gm")}
    for i in range(count):
        streams["empty"].scalar(0)
        streams["vector"].vector("Add", 16384, dst=0x20000, src0=0, src1=0x10000)
        streams["copy"].copy(Route.GM_UB, 8192, i % 1000 * 8192)
        streams["flag"].signal(Pipe.V, 1)
        streams["scalar_gm"].scalar_gm(4 * i, write=False)
    configure(library, load_chip("910B2"))
    best = dict.fromkeys(streams, math.inf)
    for _ in range(7):
        for name, stream in streams.items():
            start = time.perf_counter()
            play(library, Launch(4), lambda _, s=stream: s, lambda block: (1 << 34) + (block << 24))
            best[name] = min(best[name], (time.perf_counter() - start) / count / 4 * 1e9)
    return {name: round(value - best["empty"], 1) for name, value in best.items()}


def summary(rows: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Return error and rank correlation of some rows."""
    ratios = [_number(row["simulated"]) / _number(row["measured"]) for row in rows]
    logs = sorted(abs(math.log(ratio)) for ratio in ratios)
    result = {
        "rows": float(len(rows)),
        "median_error": math.exp(statistics.median(logs)) - 1,
        "mean_error": math.exp(statistics.mean(logs)) - 1,
        "worst_error": math.exp(logs[-1]) - 1,
        "median_ratio": statistics.median(ratios),
    }
    if len(rows) > 2:
        result["spearman"] = spearman(
            [(_number(row["measured"]), _number(row["simulated"])) for row in rows]
        )
    return {key: round(value, 4) for key, value in result.items()}


def report(cases: Sequence[Case], found: Mapping[str, float]) -> dict[str, object]:
    """Return all rows with their summaries, by group and by whether the fit saw them."""
    rows: list[dict[str, object]] = [
        {
            "name": case.name,
            "group": case.group,
            "source": case.source,
            "chip": case.chip,
            "unit": case.unit,
            "measured": case.measured,
            "simulated": round(found[case.name], 3),
            "ratio": round(found[case.name] / case.measured, 3),
            "fitted": case.fitted,
            "model": load_chip(case.chip).version,
        }
        for case in cases
    ]
    held = [row for row in rows if not row["fitted"]]
    groups = sorted({str(row["group"]) for row in held})
    return {
        "simulated": True,
        "fitted": summary([row for row in rows if row["fitted"]]),
        "held_out": summary(held),
        "held_out_us": summary([row for row in held if row["unit"] == "us"]),
        "held_out_groups": {
            group: summary([row for row in held if row["group"] == group]) for group in groups
        },
        "rows": rows,
    }


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--fit", action="store_true", help="search for better figures")
    parser.add_argument("--folds", type=int, default=0, help="fit to that many random halves")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    cases = every_case()
    streams = {case.name: case.stream() for case in cases}
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        if arguments.fit:
            rows = [case for case in cases if case.fitted]
            figures = fit(library, rows, streams)
            print(json.dumps({name: round(value, 4) for name, value in figures.items()}))
            return
        found = run(library, cases, streams, {})
        result = report(cases, found)
        result["roofline"] = roofline(library, cases, streams)
        result["wall_ns"] = wall_ns(library)
        if arguments.folds:
            result["folds"] = folds(library, cases, streams, arguments.folds)
    rows = result["rows"]
    assert isinstance(rows, list)
    for row in rows:
        mark = "fit " if row["fitted"] else "held"
        print(
            f"{mark} {row['ratio']:7.3f} {row['measured']:>10} {row['simulated']:>12} "
            f"{row['unit']:6} {row['name']}"
        )
    for key, value in result.items():
        if key != "rows":
            print(key, json.dumps(value))
    (arguments.out / "ascendc_timing.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
