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
from collections.abc import Callable
from dataclasses import dataclass

from kernelwright.emulator.timing_stream import Launch, Pipe, Route, Stream

MIB = 1 << 20
FREE, FULL = 0, 8  # slots of flags: a buffer is free, a buffer is full


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


@dataclass(frozen=True)
class Elementwise:
    """A tiled kernel: copy in, vector operations, copy out."""

    tile_bytes: int  # of one input tile
    tiles: int
    inputs: int
    operations: tuple[str, ...]
    item_bytes: int = 4
    compute_ratio: float = 1.0  # bytes that operations work on over tile_bytes
    out_ratio: float = 1.0  # bytes stored over tile_bytes
    buffers: int = 1
    shift: int = 0  # bytes by which the second input is moved in UB
    bypass: bool = False
    gm_offset: int = 0
    stride: int = 0  # distance of inputs in GM


def elementwise(shape: Elementwise) -> Stream:
    """Build the stream of the usual CopyIn, Compute, CopyOut loop."""
    stream = Stream()
    for tile in range(shape.tiles):
        turn = tile % shape.buffers
        _copy_in(stream, shape, tile, turn)
        _compute(stream, shape, turn)
        _copy_out(stream, shape, tile, turn)
    return stream


def _buffer(shape: Elementwise, which: int, turn: int) -> int:
    base = (which * shape.buffers + turn) * shape.tile_bytes
    return base + (shape.shift if which == 1 else 0)


def _copy_in(stream: Stream, shape: Elementwise, tile: int, turn: int) -> None:
    for which in range(shape.inputs):
        slot = which * 2 + turn
        stream.wait(Pipe.MTE2, FREE + slot)
        at = shape.gm_offset + which * shape.stride + tile * shape.tile_bytes
        stream.copy(Route.GM_UB, shape.tile_bytes, at, bypass_l2=shape.bypass)
        stream.signal(Pipe.MTE2, FULL + slot)


def _compute(stream: Stream, shape: Elementwise, turn: int) -> None:
    for which in range(shape.inputs):
        stream.wait(Pipe.V, FULL + which * 2 + turn)
    stream.wait(Pipe.V, FREE + 6 + turn)
    size = int(shape.tile_bytes * shape.compute_ratio)
    out = _buffer(shape, shape.inputs, turn)
    first, second = _buffer(shape, 0, turn), _buffer(shape, 1, turn)
    for number, operation in enumerate(shape.operations):
        two = operation in ("Add", "Sub", "Mul", "Div", "Max", "Min")
        stream.vector(
            operation,
            size,
            item_bytes=shape.item_bytes,
            dst=out,
            src0=first if number == 0 else out,
            src1=(second if shape.inputs > 1 else first) if two else -1,
        )
    for which in range(shape.inputs):
        stream.signal(Pipe.V, FREE + which * 2 + turn)
    stream.signal(Pipe.V, FULL + 6 + turn)


def _copy_out(stream: Stream, shape: Elementwise, tile: int, turn: int) -> None:
    if shape.out_ratio == 0:
        return
    stream.wait(Pipe.MTE3, FULL + 6 + turn)
    size = int(shape.tile_bytes * shape.out_ratio)
    at = shape.gm_offset + shape.inputs * shape.stride + tile * size
    stream.copy(Route.UB_GM, size, at)
    stream.signal(Pipe.MTE3, FREE + 6 + turn)


def read_only(tile_bytes: int, copies: int, *, offset: int = 0, passes: int = 1) -> Stream:
    """Build a stream that only reads."""
    stream = Stream()
    for _ in range(passes):
        for copy in range(copies):
            stream.copy(Route.GM_UB, tile_bytes, offset + copy * tile_bytes)
    return stream


def _add(cores: int, tile: int, *, scale: float = 1.0, **more: object) -> Callable[[], Stream]:
    each = 128 * MIB // cores
    tiles = int(each / tile * scale)
    shape = Elementwise(tile, tiles, 2, ("Add",), item_bytes=2, stride=1024 * MIB, **more)  # type: ignore[arg-type]
    return lambda: elementwise(shape)


def _scalar_add(elements: int) -> Stream:
    stream = Stream()
    for i in range(elements):
        for which in range(2):
            stream.scalar_gm(which * 1024 * MIB + which * 8192 + 2 * i, write=False)
        stream.scalar(2)
        stream.scalar_gm(2048 * MIB + 16384 + 2 * i, write=True)
    return stream


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
            lambda: _scalar_add(1 << 17),
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
            lambda: _sliced(slices),
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


def _sliced(slice_bytes: int) -> Stream:
    stream = Stream()
    for part in range(4):
        stream.records.extend(
            read_only(32768, slice_bytes // 32768, offset=part * slice_bytes, passes=4).records
        )
    return stream


MISH = tuple(
    "Abs Muls Exp Adds Ln Add Muls Add Muls Exp Muls Adds Adds Div Mul Muls Exp Muls Adds Adds Div".split()
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


ADD = (  # elements, blocks, median us: bfloat16 Add of equal shapes on a 910B4-1
    (4096 * 7168, 40, 138.09),
    (4096 * 4096, 40, 93.62),
    (4096 * 2048, 40, 45.03),
    (3840 * 1152, 40, 15.77),
    (1920 * 1152, 40, 12.0),
    (4096 * 512, 40, 11.9),
    (4096 * 64, 40, 8.58),
    (128 * 1152, 40, 6.12),
    (8 * 7168, 38, 5.54),
    (8 * 4096, 32, 3.23),
    (8 * 2048, 16, 2.36),
    (8 * 512, 4, 2.04),
    (8 * 64, 1, 1.28),
)
MUL = (
    (4096 * 1024, 40, 21.01),
    (32768 * 128, 40, 20.3),
    (16384 * 10, 40, 11.02),
    (65536 * 8, 40, 10.94),
    (4096 * 64, 40, 3.22),
    (64 * 128, 8, 2.9),
    (8 * 1024, 8, 2.86),
    (8 * 64, 1, 1.48),
)
CAST = (  # elements, blocks, median us, bytes in, bytes out: Cast on a 910B1
    (1024 * 4096, 48, 18.57, 4, 2),
    (512 * 4096, 48, 11.75, 4, 2),
    (512 * 1024, 48, 7.82, 2, 4),
    (256 * 4096, 48, 7.58, 2, 4),
    (384 * 2048, 48, 7.54, 2, 4),
    (256 * 4096, 48, 7.28, 4, 2),
    (384 * 512, 48, 7.24, 2, 4),
    (16 * 4096, 47, 6.7, 4, 2),
    (129280, 46, 6.44, 2, 4),
    (16384, 16, 3.2, 2, 4),
    (4 * 4096, 16, 2.5, 4, 2),
    (4096, 4, 1.72, 2, 4),
    (4096, 4, 1.46, 4, 2),
    (64, 1, 1.21, 4, 4),
)
SWIGLU = (  # rows, columns of the input, blocks, median us: bfloat16 on a 910B4-1
    (458880, 4096, 40, 4957.58),
    (3585, 4608, 40, 43.16),
    (3585, 512, 40, 16.22),
    (256, 4096, 40, 13.08),
    (1, 4608, 1, 4.61),
    (1, 512, 1, 3.66),
)


def operators() -> list[Case]:
    """Rows of the vendor's own operators; their tiling is not known, ours is double-buffered."""
    rows = []
    for name, table in (("Add", ADD), ("Mul", MUL)):
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
    for elements, blocks, measured, read, written in CAST:
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
    for lines, columns, blocks, measured in SWIGLU:
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


TADD = (  # repeats (each with a read-read conflict), median cycles: tiles in UB, 910B
    (8, 62.3),
    (12, 61.4),
    (16, 77.4),
    (24, 87.4),
    (32, 102.3),
    (48, 131.8),
    (64, 161.2),
    (96, 225.1),
    (128, 290.6),
    (192, 430.8),
    (256, 558.9),
    (384, 815.6),
    (512, 1072.1),
    (768, 1598.0),
    (1024, 2112.7),
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
        for repeats, cycles in TADD
    ]


def matmul(size: int, block: int, tiles: int, item_bytes: int, depth: int) -> Stream:
    """Build one core's part of a matmul in 128 x 256 tiles, double-buffered in L1 and L0."""
    stream = Stream()
    step = depth * 4  # k of one load to L1
    row, column = divmod(block, 6)  # cores that share rows of A or columns of B
    turn = 0
    for tile in range(tiles):
        for load in range(size // step):
            l1 = load % 2
            stream.wait(Pipe.MTE2, l1)
            at = ((tile * 4 + row) * 128 * size % (size * size) + load * step) * item_bytes
            stream.copy(Route.GM_L1, step * item_bytes, at, rows=128, gm_stride=size * item_bytes)
            at = (1 << 32) + (load * step * size + (column * 256) % size) * item_bytes
            stream.copy(Route.GM_L1, 256 * item_bytes, at, rows=step, gm_stride=size * item_bytes)
            stream.signal(Pipe.MTE2, 2 + l1)
            stream.wait(Pipe.MTE1, 2 + l1)
            for _ in range(4):
                turn ^= 1
                stream.wait(Pipe.MTE1, 4 + turn)
                stream.copy(Route.L1_L0A, 128 * depth * item_bytes)
                stream.copy(Route.L1_L0B, 256 * depth * item_bytes)
                stream.signal(Pipe.MTE1, 6 + turn)
                stream.wait(Pipe.M, 6 + turn)
                stream.cube(128, depth, 256, item_bytes=item_bytes, hf32=item_bytes == 4)
                stream.signal(Pipe.M, 4 + turn)
            stream.signal(Pipe.MTE1, l1)
        stream.signal(Pipe.M, 8)
        stream.wait(Pipe.FIX, 8)
        stream.copy(Route.L0C_GM, 256 * item_bytes, 1 << 33, rows=128, gm_stride=size * item_bytes)
    return stream


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
