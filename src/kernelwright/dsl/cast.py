"""Casts: which the vector unit has, and the chains that make the others."""

from __future__ import annotations

from functools import cache

from kernelwright.dsl.types import DType

DIRECT: dict[DType, tuple[DType, ...]] = {
    DType.F32: (DType.F16, DType.BF16, DType.I32, DType.I16),
    DType.F16: (DType.F32, DType.I32, DType.I16, DType.I8, DType.U8),
    DType.BF16: (DType.F32, DType.I32),
    DType.I32: (DType.F32, DType.I16),
    DType.I16: (DType.F16, DType.F32),
    DType.I8: (DType.F16,),
    DType.U8: (DType.F16,),
}
"""Casts of one instruction (vector unit of the 910B)."""


@cache
def cast_chain(source: DType, dest: DType) -> tuple[DType, ...] | None:
    """Element types on the way from `source` to `dest`, both included; None where there is none.

    The shortest chain; bool is u8.
    """
    start = DType.U8 if source is DType.BOOL else source
    goal = DType.U8 if dest is DType.BOOL else dest
    if start is goal:
        return (source, dest)
    chains: list[tuple[DType, ...]] = [(start,)]
    seen: set[DType] = {start}
    while chains:
        longer: list[tuple[DType, ...]] = []
        for chain in chains:
            for step in DIRECT.get(chain[-1], ()):
                if step is goal:
                    return (*chain, step)
                if step not in seen:
                    seen.add(step)
                    longer.append((*chain, step))
        chains = longer
    return None
