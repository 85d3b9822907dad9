"""The table of scalar functions: what may be called in a scalar expression or in host code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A function of scalar expressions, or of host code.

    Attributes:
        least, most: Operand count; `most` None is any number.
        where: "kernel", "host" or "both".
        gives: "f32", "i64", or "like" the operands (f32 where one of them is).
    """

    name: str
    least: int
    most: int | None
    where: str
    gives: str
    doc: str


SCALAR_FUNCTIONS: dict[str, ScalarFunction] = {
    row.name: row
    for row in (
        ScalarFunction("min", 2, None, "both", "like", "Smallest of its operands."),
        ScalarFunction("max", 2, None, "both", "like", "Largest of its operands."),
        ScalarFunction("abs", 1, 1, "both", "like", "Absolute value."),
        ScalarFunction("sqrt", 1, 1, "both", "f32", "Square root."),
        ScalarFunction("exp", 1, 1, "both", "f32", "e to the power of its operand."),
        ScalarFunction("log", 1, 1, "both", "f32", "Natural logarithm."),
        ScalarFunction("core_id", 0, 0, "kernel", "i64", "Number of this core, from 0."),
        ScalarFunction(
            "num_cores",
            0,
            0,
            "both",
            "i64",
            "Cores of this launch; in host code, cores of the device.",
        ),
        ScalarFunction("cdiv", 2, 2, "both", "i64", "Quotient rounded up."),
        ScalarFunction("align_up", 2, 2, "both", "i64", "First multiple of b that is >= a."),
        ScalarFunction("align_down", 2, 2, "both", "i64", "Last multiple of b that is <= a."),
        ScalarFunction("ub_bytes", 0, 0, "host", "i64", "Bytes of the vector memory of a core."),
    )
}
"""Functions of scalars by their name after `tl.`."""
