"""How far an answer may lie from the right one, by the name of the rule and the dtype."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernelwright.core.task import Tolerance
from kernelwright.verify.arrays import EXACT_DTYPES, Floats

STRICT_BASE: Mapping[str, tuple[float, float]] = {
    "float64": (1e-12, 1e-10),
    "complex128": (1e-12, 1e-10),
    "float32": (1e-5, 1e-4),
    "complex64": (1e-5, 1e-4),
    "float16": (1e-3, 1e-3),
    "bfloat16": (1e-2, 1e-2),
}
"""(tolerance of one operation, cap for long reductions) relative to the output's scale."""

FLOORS: Mapping[str, float] = {
    "float64": 2.3e-308,
    "complex128": 2.3e-308,
    "float32": 1.2e-38,
    "complex64": 1.2e-38,
    "float16": 1.2e-7,
    "bfloat16": 1.2e-38,
}
"""Differences below this are rounding at the end of the dtype's range, or flushed subnormals."""

_HALF = frozenset({"float16", "bfloat16"})
EVOKERNEL_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True)
class Allowance:
    """The error that one output may have.

    Attributes:
        name: The rule it comes from.
        relative: Part of the magnitude that an element may be off.
        absolute: Part that does not depend on the element; times the scale if `is_scaled`.
        is_scaled: Whether `absolute` is relative to the scale of the element's row.
        floor: Differences up to this never count.
    """

    name: Tolerance
    relative: float
    absolute: float
    is_scaled: bool
    floor: float = 0.0

    def limit(self, magnitude: Floats, scale: Floats) -> Floats:
        """Return the largest error allowed at each element; `magnitude` is overwritten.

        Args:
            magnitude: Absolute expected values, of shape (rows, numbers).
            scale: The scale of each row, of shape (rows, 1).
        """
        magnitude *= self.relative
        if not self.is_scaled:
            magnitude += self.absolute
            return magnitude
        return np.maximum(magnitude, np.maximum(scale * self.absolute, self.floor), out=magnitude)

    @property
    def text(self) -> str:
        """The rule as feedback states it, in the structure of EvoKernel, Appendix F.1."""
        if self.is_scaled:
            return f"atol={self.absolute:.3g}*scale, rtol={self.relative:.3g} (strict)"
        return f"atol={self.absolute:g}, rtol={self.relative:g}"


def allowance_for(
    tolerance: Tolerance, dtype: str, *, reduction_length: int = 1, slack: float = 1.0
) -> Allowance:
    """Return the allowance of a rule for outputs of a floating `dtype`.

    Integers and bools are exact under every rule and never come here.

    Args:
        tolerance: Name of the rule.
        dtype: The output's dtype, floating or complex.
        reduction_length: Longest reduction on the way to the output, in elements.
        slack: Factor on the strict rule, for expected values that carry an error of their own.
    """
    if dtype in EXACT_DTYPES:
        raise ValueError(f"{dtype} is compared exactly")
    if tolerance is Tolerance.STRICT:
        base, cap = STRICT_BASE[dtype]
        size = slack * min(base * math.sqrt(max(reduction_length, 1)), cap)
        return Allowance(tolerance, size, size, is_scaled=True, floor=FLOORS[dtype])
    if tolerance is Tolerance.OFFICIAL:
        size = 1e-2 if dtype in _HALF else 1e-4
    else:
        size = EVOKERNEL_TOLERANCE
    return Allowance(tolerance, size, size, is_scaled=False)
