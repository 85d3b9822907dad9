"""Published measurements of Ascend C kernels, and the instruction streams that model them.

Sources (figures only; no code or text is copied):
  docs     CANN documentation, Ascend C best practices (Atlas A2), as measured there
  msop     msopmodeling 1.0.9 (PyPI, Mulan PSL v2): medians of its profiled operators
           (`tests/st/ops_accuracy`) and of its tile instruction tests; see the notice in
           src/kernelwright/emulator/targets/NOTICE
  llm4     CenZhihan/LLM4AscendC, docs/conv3d_mish_tanh_optimization.md (910B2)
  evo      EvoKernel, arXiv 2603.10846, Table 5 (910B2), at 1.61e9 elements
The unit of a row is a microsecond unless it says cycles.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ascendc_timing_streams import (
    MIB,
    Elementwise,
    elementwise,
    matmul,
    read_only,
    scalar_add,
    sliced,
)

from kernelwright.emulator.timing_stream import Launch, Stream


@dataclass(frozen=True)
class Case:
    """One measured row and how the model is asked for it."""

    name: str
    group: str
    source: str
    measured: float
    launch: Launch
    stream: Callable[[], Stream]  # or one for each block, see `streams`
    bytes_per_block: int = 0
    chip: str = "910B1"
    unit: str = "us"
    scale: float = 1.0  # the stream holds this part of the work
    what: str = "duration"  # or the busy time of a pipe, `MTE2`
    fitted: bool = False
    streams: tuple[Stream, ...] = ()


def _add(cores: int, tile: int, *, scale: float = 1.0, **more: object) -> Callable[[], Stream]:
    each = 128 * MIB // cores
    tiles = int(each / tile * scale)
    shape = Elementwise(tile, tiles, 2, ("Add",), item_bytes=2, stride=1024 * MIB, **more)  # type: ignore[arg-type]
    return lambda: elementwise(shape)


def _bank(src1: int, dst: int) -> Callable[[], Stream]:
    def stream() -> Stream:
        one = Stream()
        for _ in range(1000):
            one.vector("Add", 64 * 256, dst=dst, src0=0, src1=src1)
        return one

    return stream


BIG = 384 * MIB
ADD_SHARE = 128 * MIB // 48 // 512 * 512


def documented() -> list[Case]:
    """Rows of the vendor's best practices."""
    add = Launch(48, working_set_bytes=BIG)
    one = Launch(1, working_set_bytes=BIG)
    read = Launch(48, working_set_bytes=288 * MIB)
    share = 288 * MIB // 48
    slices = 72 * MIB // 48
    return [
        Case(
            "Add 8192^2 fp16, 1 core, 8 KB",
            "Add",
            "docs",
            6909,
            one,
            _add(1, 8192, scale=1 / 16),
            scale=1 / 16,
            fitted=True,
        ),
        Case(
            "Add 8192^2 fp16, 1 core, scalars only",
            "Add",
            "docs",
            1.24e6,
            one,
            lambda: scalar_add(1 << 17),
            scale=1 / 512,
            fitted=True,
        ),
        Case("Add 8192^2 fp16, 48 cores, 8 KB", "Add", "docs", 297, add, _add(48, 8192), ADD_SHARE),
        Case(
            "Add 8192^2 fp16, 48 cores, 32 KB",
            "Add",
            "docs",
            262,
            add,
            _add(48, 32768),
            ADD_SHARE,
            fitted=True,
        ),
        Case(
            "Add 8192^2 fp16, double buffer",
            "Add",
            "docs",
            258,
            add,
            _add(48, 32768, buffers=2),
            ADD_SHARE,
        ),
        Case(
            "Add 8192^2 fp16, inputs past L2",
            "Add",
            "docs",
            185,
            add,
            _add(48, 32768, buffers=2, bypass=True),
            ADD_SHARE,
        ),
        Case(
            "Add 8192^2 fp16, no bank conflict",
            "Add",
            "docs",
            182,
            add,
            _add(48, 32768, buffers=2, bypass=True, shift=256),
            ADD_SHARE,
        ),
        Case(
            "GM to UB 302 MB, 128 B copies",
            "read",
            "docs",
            548,
            read,
            lambda: read_only(128, share // 128 // 16),
            share,
            scale=1 / 16,
            what="MTE2",
            fitted=True,
        ),
        Case(
            "GM to UB 302 MB, 8 KB copies",
            "read",
            "docs",
            221,
            read,
            lambda: read_only(8192, share // 8192),
            share,
            what="MTE2",
            fitted=True,
        ),
        Case(
            "GM to UB 302 MB, 128 KB copies",
            "read",
            "docs",
            203,
            read,
            lambda: read_only(131072, share // 131072),
            share,
            what="MTE2",
            fitted=True,
        ),
        Case(
            "GM to UB 302 MB, unaligned",
            "read",
            "docs",
            259,
            read,
            lambda: read_only(131072, share // 131072, offset=32),
            share,
            what="MTE2",
            fitted=True,
        ),
        Case(
            "302 MB read four times, whole",
            "read",
            "docs",
            828,
            read,
            lambda: read_only(131072, share // 131072, passes=4),
            share,
            what="MTE2",
        ),
        Case(
            "302 MB read four times, in slices",
            "read",
            "docs",
            366,
            read,
            lambda: sliced(slices),
            share,
            what="MTE2",
            fitted=True,
        ),
        Case(
            "1000 Add of 64 repeats, no conflict",
            "bank",
            "docs",
            47.8,
            Launch(1),
            _bank(0x10100, 0x20000),
            what="V",
            fitted=True,
        ),
        Case(
            "1000 Add of 64 repeats, read-read",
            "bank",
            "docs",
            83.34,
            Launch(1),
            _bank(0x10000, 0x20000),
            what="V",
            fitted=True,
        ),
        Case(
            "1000 Add of 64 repeats, read-write",
            "bank",
            "docs",
            75.02,
            Launch(1),
            _bank(0x10100, 0x4020),
            what="V",
            fitted=True,
        ),
    ]


MISH = tuple(
    "Abs Muls Exp Adds Ln Add Muls Add Muls Exp Muls Adds Adds Div Mul "
    "Muls Exp Muls Adds Adds Div".split()
)


def fused() -> list[Case]:
    """Rows of generated kernels on a 910B2."""
    total = 118_000_000 * 4 // 4096 * 4096
    rows = []
    for blocks, elements, measured in (
        (32, 2048, 1662),
        (48, 2048, 1121),
        (64, 2048, 1665),
        (32, 4096, 1404),
        (48, 4096, 945),
    ):
        tile = elements * 4
        shape = Elementwise(tile, total // blocks // tile, 1, MISH, buffers=2, stride=1 << 31)
        rows.append(
            Case(
                f"tanh(mish(x)) 118 M fp32, {blocks} blocks of {elements}",
                "fused",
                "llm4",
                measured,
                Launch(blocks, working_set_bytes=2 * total),
                lambda s=shape: elementwise(s),
                total // blocks // 512 * 512,
                "910B2",
            )
        )
    size = 4096 * 393216 * 4
    for name, measured, operations in (
        ("LeakyReLU", 9511, ("Relu",)),
        ("Softsign", 9598, ("Abs", "Adds", "Div")),
    ):
        tile = 32768
        shape = Elementwise(tile, size // 48 // tile // 8, 1, operations, buffers=2, stride=1 << 33)
        rows.append(
            Case(
                f"{name} 1.61e9 fp32",
                "fused",
                "evo",
                measured,
                Launch(48, working_set_bytes=2 * size),
                lambda s=shape: elementwise(s),
                size // 48 // 512 * 512,
                "910B2",
                scale=1 / 8,
                fitted=name == "LeakyReLU",
            )
        )
    return rows


PUBLISHED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def operators() -> list[Case]:
    """Rows of the vendor's own operators; their tiling is not known, ours is double-buffered."""
    rows = []
    for name, table in (("Add", PUBLISHED["add"]), ("Mul", PUBLISHED["mul"])):
        for elements, blocks, measured in table:
            rows.append(
                _operator(
                    f"{name} bf16 {elements}",
                    name,
                    measured,
                    blocks,
                    elements * 2,
                    Elementwise(
                        0,
                        0,
                        2,
                        ("CastBfloatFloat", "CastBfloatFloat", name, "CastBfloatFloat"),
                        compute_ratio=2,
                    ),
                    "910B4-1",
                )
            )
    for elements, blocks, measured, read, written in PUBLISHED["cast"]:
        rows.append(
            _operator(
                f"Cast {elements} {read}->{written} B",
                "Cast",
                measured,
                blocks,
                elements * read,
                Elementwise(
                    0,
                    0,
                    1,
                    ("CastBfloatFloat",),
                    compute_ratio=max(1.0, written / read),
                    out_ratio=written / read,
                ),
                "910B1",
                fitted=(elements, read) in ((64, 4), (16 * 4096, 4)),
            )
        )
    swiglu = (
        "CastBfloatFloat",
        "CastBfloatFloat",
        "Muls",
        "Exp",
        "Adds",
        "Div",
        "Mul",
        "CastBfloatFloat",
    )
    for lines, columns, blocks, measured in PUBLISHED["swiglu"]:
        rows.append(
            _operator(
                f"SwiGlu bf16 {lines}x{columns}",
                "SwiGlu",
                measured,
                blocks,
                lines * columns,
                Elementwise(0, 0, 2, swiglu, compute_ratio=2),
                "910B4-1",
            )
        )
    return rows


def _operator(
    name: str,
    group: str,
    measured: float,
    blocks: int,
    bytes_in: int,
    plan: Elementwise,
    chip: str,
    *,
    fitted: bool = False,
) -> Case:
    each = math.ceil(bytes_in / blocks / 512) * 512
    tile = min(each, 8192)
    tiles = math.ceil(each / tile)
    scale = 1.0
    while tiles * blocks > 200_000:
        tiles, scale = tiles // 8, scale / 8
    shape = Elementwise(
        tile,
        tiles,
        plan.inputs,
        plan.operations,
        compute_ratio=plan.compute_ratio,
        out_ratio=plan.out_ratio,
        buffers=2,
        stride=1 << 33,
    )
    # Profiled inside a whole model: L2 is full of what other operators wrote.
    working_set = int(bytes_in * (plan.inputs + plan.out_ratio)) + (8 << 30)
    return Case(
        f"{name}, {blocks} blocks",
        f"operator {group}",
        "msop",
        measured,
        Launch(blocks, working_set_bytes=working_set),
        lambda: elementwise(shape),
        each,
        chip,
        scale=scale,
        fitted=fitted,
    )


def tiles() -> list[Case]:
    """Rows of single vector instructions on tiles that lie in UB."""
    return [
        Case(
            f"TAdd of {repeats} repeats",
            "tile",
            "msop",
            cycles,
            Launch(1),
            lambda n=repeats: Stream().vector("Add", n * 256, dst=0x20000, src0=0, src1=0x8000),
            what="V",
            unit="cycles",
        )
        for repeats, cycles in PUBLISHED["tadd"]
    ]


def matmuls() -> list[Case]:
    """Rows of cube kernels, on a plain order of tiles; a quarter of the tiles is simulated."""
    rows = []
    for name, source, measured, size, item_bytes, depth in (
        ("Matmul 4096^3 fp32 (hf32), the vendor's", "msop", 836.7, 4096, 4, 32),
        ("Matmul 8192^3 fp16, the best of nine steps", "docs", 4010.0, 8192, 2, 64),
    ):
        tiles = math.ceil(size / 128 * size / 256 / 24)
        part = math.ceil(tiles / 8)
        rows.append(
            Case(
                name,
                "cube",
                source,
                measured,
                Launch(24, working_set_bytes=3 * size * size * item_bytes, cube=True),
                Stream,
                scale=part / tiles,
                streams=tuple(matmul(size, b, part, item_bytes, depth) for b in range(24)),
            )
        )
    return rows


def every_case() -> list[Case]:
    """All rows."""
    return [*documented(), *fused(), *operators(), *tiles(), *matmuls()]
