"""Loads a compiled kernel and runs it on the emulated chip. In a child: it is untrusted code."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.core.fingerprint import Json

BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _LaunchOptions(ctypes.Structure):
    """`KwLaunch` of runtime/chip.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("blocks", ctypes.c_uint32),
        ("task_type", ctypes.c_uint32),
        ("tiling_key", ctypes.c_uint64),
        ("tiling", ctypes.c_void_p),
        ("tiling_bytes", ctypes.c_uint64),
        ("strict_sync", ctypes.c_uint8),
        ("timing_only", ctypes.c_uint8),
        ("unchecked", ctypes.c_uint8),
        ("keep_events", ctypes.c_uint8),
        ("warm_l2", ctypes.c_uint8),
        ("uses_matmul", ctypes.c_uint8),
    ]


@dataclass(frozen=True, slots=True)
class Operand:
    """A range of global memory that a kernel gets.

    Attributes:
        name: What faults call it.
        address: Where it starts.
        size_bytes: How long it is.
    """

    name: str
    address: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchMode:
    """How a launch is run.

    Attributes:
        blocks: Number of blocks.
        task_type: Which cores a block takes (`KERNEL_TYPE_...` as its number), None: as declared.
        tiling_key: What `TILING_KEY_IS` compares with.
        is_strict: Whether dependent vector instructions need `PipeBarrier<PIPE_V>`.
        is_timing_only: Whether values are skipped.
        is_unchecked: Whether race and initialisation checks are skipped.
        keeps_events: Whether the timeline is recorded.
        uses_matmul: Whether blocks are MIX 1:2 unless the kernel declares another type.
    """

    blocks: int = 1
    task_type: int | None = None
    tiling_key: int = 0
    is_strict: bool = False
    is_timing_only: bool = False
    is_unchecked: bool = False
    keeps_events: bool = False
    uses_matmul: bool = False


def load_runtime(library: Path) -> ctypes.CDLL:
    """Load the runtime so that kernels find it."""
    runtime = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    runtime.kw_gm_register.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p]
    runtime.kw_gm_unregister.argtypes = [ctypes.c_void_p]
    runtime.kw_launch.argtypes = [BODY, ctypes.c_void_p, ctypes.POINTER(_LaunchOptions)]
    runtime.kw_launch.restype = ctypes.c_char_p
    return runtime


def launch(
    runtime: ctypes.CDLL,
    entry: ctypes._CFunctionType,  # noqa: SLF001 - the type of a library's function
    operands: Sequence[Operand],
    mode: LaunchMode,
    *,
    name: str = "",
) -> Mapping[str, Json]:
    """Run `entry(void** args)` with the operands' addresses; return the report."""
    args = (ctypes.c_void_p * len(operands))(*(operand.address for operand in operands))
    tiling = operands[-1] if operands and operands[-1].name == "tiling" else None
    options = _LaunchOptions(
        name.encode(), mode.blocks, 0 if mode.task_type is None else mode.task_type + 1,
        mode.tiling_key, tiling.address if tiling else None, tiling.size_bytes if tiling else 0,
        mode.is_strict, mode.is_timing_only, mode.is_unchecked, mode.keeps_events, False,
        mode.uses_matmul,
    )  # fmt: skip
    for operand in operands:
        runtime.kw_gm_register(operand.address, operand.size_bytes, operand.name.encode())
    try:
        text = runtime.kw_launch(
            ctypes.cast(entry, BODY), ctypes.cast(args, ctypes.c_void_p), ctypes.byref(options)
        )
    finally:
        for operand in operands:
            runtime.kw_gm_unregister(operand.address)
    document = json.loads(text)
    assert isinstance(document, dict)
    return document
