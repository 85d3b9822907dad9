"""Instruction streams that model the kernels whose measured times are published."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.emulator.timing_stream import Pipe, Route, Stream

MIB = 1 << 20
FREE, FULL = 0, 8  # slots of flags: a buffer is free, a buffer is full


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


def scalar_add(elements: int) -> Stream:
    stream = Stream()
    for i in range(elements):
        for which in range(2):
            stream.scalar_gm(which * 1024 * MIB + which * 8192 + 2 * i, write=False)
        stream.scalar(2)
        stream.scalar_gm(2048 * MIB + 16384 + 2 * i, write=True)
    return stream


def sliced(slice_bytes: int) -> Stream:
    stream = Stream()
    for part in range(4):
        stream.records.extend(
            read_only(32768, slice_bytes // 32768, offset=part * slice_bytes, passes=4).records
        )
    return stream


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
