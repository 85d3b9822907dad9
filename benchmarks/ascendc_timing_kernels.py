"""Run published cases as kernels through the whole emulator and compare with their streams.

    python benchmarks/ascendc_timing_kernels.py --cache FOLDER

Each kernel of ascendc_timing_kernels.cpp runs in timing-only mode and once with its values; both
must give the same simulated time.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import subprocess
import time
from pathlib import Path

from kernelwright.emulator.library import kernel_command, runtime
from kernelwright.emulator.targets import configure, load_chip

HERE = Path(__file__).parent
MIB = 1 << 20
SHARE = 128 * MIB // 48 // 512 * 512
READ = 288 * MIB // 48


class KwChip(ctypes.Structure):
    """Sizes as `kw_configure_chip` takes them."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in (
            "ub_bytes", "ub_usable_bytes", "l1_bytes", "l0a_bytes", "l0b_bytes", "l0c_bytes",
            "bt_bytes", "fb_bytes", "vector_cores", "cube_cores", "live_tensors",
        )
    ]  # fmt: skip


class KwLaunch(ctypes.Structure):
    """Options as `kw_launch` takes them."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("blocks", ctypes.c_uint32),
        ("task_type", ctypes.c_uint32),
        ("tiling_key", ctypes.c_uint64),
        ("tiling", ctypes.c_void_p),
        ("tiling_bytes", ctypes.c_uint64),
        *(
            (name, ctypes.c_uint8)
            for name in ("strict_sync", "timing_only", "unchecked", "keep_events", "warm_l2")
        ),
    ]


class Plan(ctypes.Structure):
    """Arguments of the kernels."""

    _fields_ = [
        ("x", ctypes.c_void_p),
        ("y", ctypes.c_void_p),
        ("z", ctypes.c_void_p),
        ("share", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in ("tile", "tiles", "shift", "bypass", "passes")),
    ]


def _add(tile: int, **more: int) -> dict[str, int]:
    return {"share": SHARE, "tile": tile, "tiles": SHARE // tile, **more}


def _read(tile: int, passes: int = 1, scale: int = 1) -> dict[str, int]:
    return {"share": READ, "tile": tile, "tiles": READ // tile // scale, "passes": passes}


# kernel, row of the comparison, tensors, bytes of each, blocks, part of the work, measured us, plan
CASES = (
    ("add_single", "Add, 1 core, 8 KB", 3, 128 * MIB, 1, 16, 6909.0,
     {"share": 128 * MIB, "tile": 8192, "tiles": 1024}),
    ("add_single", "Add, 48 cores, 8 KB", 3, 128 * MIB, 48, 1, 297.0, _add(8192)),
    ("add_single", "Add, 48 cores, 32 KB", 3, 128 * MIB, 48, 1, 262.0, _add(32768)),
    ("add_double", "Add, double buffer", 3, 128 * MIB, 48, 1, 258.0, _add(31744)),
    ("add_double", "Add, inputs past L2", 3, 128 * MIB, 48, 1, 185.0, _add(31744, bypass=1)),
    ("add_double", "Add, no bank conflict", 3, 128 * MIB, 48, 1, 182.0,
     _add(31744, bypass=1, shift=256)),
    ("read_tiles", "GM to UB 302 MB, 128 B copies", 1, 288 * MIB, 48, 16, 548.0,
     _read(128, scale=16)),
    ("read_tiles", "GM to UB 302 MB, 8 KB copies", 1, 288 * MIB, 48, 1, 221.0, _read(8192)),
    ("read_tiles", "GM to UB 302 MB, 128 KB copies", 1, 288 * MIB, 48, 1, 203.0, _read(131072)),
    ("read_tiles", "302 MB read four times, whole", 1, 288 * MIB, 48, 1, 828.0,
     _read(131072, passes=4)),
)  # fmt: skip


def load(cache: Path) -> tuple[ctypes.CDLL, ctypes.CDLL, float]:
    """Return the runtime, the kernels, and the seconds that compiling the kernels took."""
    made = runtime(cache, progress=print)
    output = cache / "ascendc_timing_kernels.so"
    start = time.perf_counter()
    subprocess.run(kernel_command(made, HERE / "ascendc_timing_kernels.cpp", output), check=True)
    seconds = time.perf_counter() - start
    library = ctypes.CDLL(str(made.library), mode=ctypes.RTLD_GLOBAL)
    library.kw_launch.restype = ctypes.c_char_p
    library.kw_launch.argtypes = [ctypes.c_void_p] * 3
    library.kw_gm_register.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p]
    library.kw_gm_unregister.argtypes = [ctypes.c_void_p]
    configure(library, load_chip("910B1"))
    sizes = (196608, 196352, 524288, 65536, 65536, 131072, 1024, 2048, 48, 24, 8)
    library.kw_configure_chip(ctypes.byref(KwChip(*sizes)))
    return library, ctypes.CDLL(str(output)), seconds


def launch(
    library: ctypes.CDLL,
    body: object,
    tensors: list[int],
    blocks: int,
    plan: dict[str, int],
    *,
    timing_only: bool,
) -> tuple[dict[str, object], float]:
    """Run one kernel; returns its report and the seconds of the call."""
    addresses = (tensors + [0, 0])[:3]
    arguments = Plan(*addresses, **plan)
    options = KwLaunch(name=b"timing", blocks=blocks, timing_only=int(timing_only))
    start = time.perf_counter()
    text = library.kw_launch(
        ctypes.cast(body, ctypes.c_void_p), ctypes.byref(arguments), ctypes.byref(options)
    )
    seconds = time.perf_counter() - start
    report = json.loads(text)
    assert isinstance(report, dict)
    return report, seconds


def compare(cache: Path) -> dict[str, object]:
    """Run all cases; returns their rows."""
    library, kernels, compile_s = load(cache)
    rows = []
    for name, title, tensors, size, blocks, part, measured, plan in CASES:
        memory = [mmap.mmap(-1, size) for _ in range(tensors)]
        places = [ctypes.addressof(ctypes.c_char.from_buffer(one)) for one in memory]
        for place in places:
            library.kw_gm_register(place, size, b"tensor")
        body = getattr(kernels, name)
        bare, bare_s = launch(library, body, places, blocks, plan, timing_only=True)
        full, full_s = launch(library, body, places, blocks, plan, timing_only=False)
        for place in places:
            library.kw_gm_unregister(place)
        timing, with_values = bare["timing"], full["timing"]
        assert isinstance(timing, dict)
        assert isinstance(with_values, dict)
        inside = timing["duration_us"] - timing["launch_us"]
        reads = name == "read_tiles"
        simulated = inside * part if reads else inside * part + timing["launch_us"]
        rows.append({
            "name": title, "measured": measured, "simulated": round(simulated, 2),
            "ratio": round(simulated / measured, 3), "faults": len(full["faults"]),
            "same_with_values": timing["duration_us"] == with_values["duration_us"],
            "instructions": bare["instructions"], "wall_timing_only_s": round(bare_s, 3),
            "wall_with_values_s": round(full_s, 3), "model": timing["model"],
        })  # fmt: skip
    return {"simulated": True, "kernel_compile_s": round(compile_s, 2), "rows": rows}


def main() -> None:
    """Run the comparison and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cache", type=Path, required=True, help="where the runtime is built")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    arguments = parser.parse_args()
    result = compare(arguments.cache)
    print(json.dumps(result, indent=1))
    (arguments.out / "ascendc_timing_kernels.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
