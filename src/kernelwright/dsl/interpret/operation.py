"""Operations on arrays of the valid extents: the table's meanings, with element types around them.

Takes:   operands as arrays and scalars.
Gives:   the result in the destination's element type, and the new carry of a scan.
Leaves:  memory, extents and poison to the core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.dsl.builtins import BUILTINS, REDUCTIONS
from kernelwright.dsl.interpret.element import NUMPY, Array, cast
from kernelwright.dsl.nodes import Op
from kernelwright.dsl.primitive import ShapeRule
from kernelwright.dsl.recipes import RECIPES
from kernelwright.dsl.types import DType

SCANS = ("cumsum", "cumprod")
ELEMENTWISE = (ShapeRule.SAME, ShapeRule.BROADCAST)


class IndexOutside(Exception):
    """A gather or strided index outside its source.

    Attributes:
        numbers: The index and the size.
    """

    def __init__(self, numbers: str) -> None:
        super().__init__(numbers)
        self.numbers = numbers


def computed(
    node: Op, operands: list[Any], *, dtype: DType, source: DType, old: Array | None, size: Any
) -> tuple[Array, Array | None]:
    """Result of an operation, and the new carry of a scan.

    Args:
        operands: Arrays of the valid extents, and scalars.
        dtype: Element type of the destination.
        source: Element type of the first buffer operand.
        old: The destination's content, for operations that update it.
        size: The destination's extent where the counts or a slice give it.

    Raises:
        IndexOutside: where `gather` or `strided` leaves its source.
    """
    if node.name == "copy":
        return operands[0].copy(), None
    if node.name == "cast":
        return cast(operands[0], source, dtype, str(node.attribute("round", "none"))), None
    kind = NUMPY[source if node.name == "cmp" else dtype].type
    if node.name == "fill":
        return np.full(size, _scalar(kind, operands[0])), None
    if node.name == "iota":
        return (_scalar(kind, operands[0]) + np.arange(size[0], dtype=kind)).astype(kind), None
    _check_indices(node, operands)
    counts = node.name == "strided"
    values = [
        item if isinstance(item, np.ndarray) or counts else _scalar(kind, item) for item in operands
    ]
    meaning = BUILTINS[node.name].meaning
    assert meaning is not None
    if old is not None:
        values.insert(0, old)
    if dtype is DType.F16 and BUILTINS[node.name].shape in ELEMENTWISE and node.name not in SCANS:
        values = [_widened(item) for item in values]
    if node.name in SCANS:
        running, carry = meaning(values[0], node.attribute("axis", -1), *values[1:])
        return running, carry
    result = meaning(*values, **_keywords(node))
    return np.asarray(result).astype(NUMPY[dtype], copy=False), None


def _scalar(kind: Any, item: Any) -> Any:
    """A scalar in an element type; whole numbers wrap, as sums of elements do."""
    if not issubclass(kind, np.signedinteger):
        return kind(item)
    half = 1 << (8 * np.dtype(kind).itemsize - 1)
    return kind((int(item) + half) % (2 * half) - half)


def _widened(item: Any) -> Any:
    """An f16 operand as f32: an operation of several steps rounds to f16 once, at its end."""
    return item.astype(np.float32) if getattr(item, "dtype", None) == np.float16 else item


def _keywords(node: Op) -> dict[str, Any]:
    if node.name in REDUCTIONS:
        return {"axis": node.attribute("axis", 1)}
    if node.name == "cmp":
        return {"op": node.attribute("op", "lt")}
    return {}


def _check_indices(node: Op, operands: list[Any]) -> None:
    if node.name == "gather":
        low, high = int(operands[1].min()), int(operands[1].max())
    elif node.name == "strided":
        _, low, step, count = operands
        high = low + (count - 1) * step
    else:
        return
    if low < 0 or high >= operands[0].size:
        raise IndexOutside(f"elements {low} to {high} of {operands[0].size}")


def repeats(node: Op, shape: tuple[int, ...], dtype: DType) -> int:
    """Steps of the vector unit (256 B each) that an operation takes, by its basic operations."""
    row = -(-shape[-1] * dtype.item_bytes // 256) if shape else 1
    rows = shape[0] if len(shape) == 2 else 1
    return rows * row * len(RECIPES.get(node.name, ("",)))
