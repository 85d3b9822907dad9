"""THE table of primitives: everything the other parts know about an op, they read here.

One row an op: operands, shape and dtype rule, meaning, target calls, sentence. The parser takes
names and operand counts from it, the checker its rules, the interpreter its meanings, the printers
its calls, and `specification` its text; adding an op starts by adding a row.
"""

from __future__ import annotations

import numpy as np

from kernelwright.dsl import meanings
from kernelwright.dsl.nodes import RegionKind
from kernelwright.dsl.primitive import Builtin, DTypeRule, Keyword, Kind, ShapeRule, Slot
from kernelwright.dsl.rows import (
    F32,
    FLOATS,
    MOVABLE,
    NUMBERS,
    WHOLE,
    A,
    S,
    binary,
    reduction,
    scalar,
    scan,
    unary,
)
from kernelwright.dsl.scalar_functions import SCALAR_FUNCTIONS, ScalarFunction
from kernelwright.dsl.types import DType

_FAST = Keyword("fast", False)
_IMPL = Keyword("impl", "poly", ("poly", "api"))
_X = Slot("x[..]", Kind.GLOBAL)

_MOVES = (
    Builtin(
        "load",
        "Copy a slice of global memory into a buffer, whose valid extent becomes the slice's; with "
        "fill=, elements outside the last dimension read as that number.",
        (_X,),
        None,
        MOVABLE,
        "load",
        "DataCopyPad",
        (Keyword("fill", 0.0),),
        shape=ShapeRule.MOVE,
        region=RegionKind.COPYIN,
    ),
    Builtin(
        "store",
        "Copy a buffer's valid extent to a slice of global memory of the same size.",
        (A,),
        None,
        MOVABLE,
        "store",
        "DataCopyPad",
        shape=ShapeRule.MOVE,
        region=RegionKind.COPYOUT,
    ),
    Builtin(
        "store_add",
        "Add a buffer's valid extent to global memory atomically; the order is not defined.",
        (A,),
        None,
        (DType.F32, DType.F16, DType.I32),
        "store_add",
        "SetAtomicAdd",
        shape=ShapeRule.MOVE,
        region=RegionKind.COPYOUT,
    ),
    unary("copy", "d = a.", np.copy, ascendc="DataCopy", dtypes=MOVABLE),
)

_UNARY = (
    unary("exp", "d = e to the a.", np.exp, ascendc="Exp"),
    unary("ln", "d = natural logarithm of a.", np.log, ascendc="Ln"),
    unary("abs", "d = |a|.", np.abs, ascendc="Abs"),
    unary("neg", "d = -a.", np.negative, ascendc="Muls", dtypes=(*FLOATS, DType.I32)),
    unary("relu", "d = max(a, 0).", meanings.relu, ascendc="Relu", dtypes=(*FLOATS, DType.I32)),
    unary("floor", "d = a rounded down.", np.floor, ascendc="Floor", temporaries=("_t",)),
    unary("ceil", "d = a rounded up.", np.ceil, ascendc="Ceil", temporaries=("_t",)),
    unary(
        "round",
        "d = a rounded to the nearest, ties to even.",
        np.rint,
        ascendc="Round",
        temporaries=("_t",),
    ),
    unary("sqrt", "d = square root of a.", np.sqrt, ascendc="Sqrt"),
    unary(
        "rsqrt",
        "d = 1 / sqrt(a), precise unless fast=True.",
        meanings.rsqrt,
        ascendc="Rsqrt",
        keywords=(_FAST,),
        temporaries=("_t",),
    ),
    unary(
        "recip",
        "d = 1 / a, precise unless fast=True.",
        meanings.recip,
        ascendc="Reciprocal",
        keywords=(_FAST,),
        temporaries=("_t",),
    ),
    unary("tanh", "d = tanh(a).", np.tanh, ascendc="Tanh", keywords=(_IMPL,), temporaries=("_t",)),
    unary(
        "sigmoid",
        "d = 1 / (1 + exp(-a)).",
        meanings.sigmoid,
        ascendc="Sigmoid",
        keywords=(_IMPL,),
        temporaries=("_t",),
    ),
    unary(
        "erf",
        "d = error function of a.",
        meanings.erf,
        ascendc="Erf",
        dtypes=F32,
        keywords=(_IMPL,),
        temporaries=("_x", "_z", "_p"),
    ),
    unary(
        "gelu",
        "d = a * Phi(a), the exact form.",
        meanings.gelu,
        ascendc="Gelu",
        dtypes=F32,
        keywords=(_IMPL,),
        temporaries=("_x", "_z", "_p", "_e"),
    ),
    unary("sin", "d = sin(a).", np.sin, ascendc="Sin", temporaries=("_t", "_u")),
    unary("cos", "d = cos(a).", np.cos, ascendc="Cos", temporaries=("_t", "_u")),
    unary("bitnot", "d = each bit of a flipped.", meanings.bitnot, ascendc="Not", dtypes=WHOLE),
)

_BINARY = (
    binary("add", "d = a + b.", np.add, "Add", NUMBERS),
    binary("sub", "d = a - b.", np.subtract, "Sub", NUMBERS),
    binary("mul", "d = a * b.", np.multiply, "Mul", (*FLOATS, DType.I32)),
    binary("div", "d = a / b, correctly rounded.", np.divide, "Div", FLOATS),
    binary("max", "d = larger of a and b.", np.maximum, "Max", NUMBERS),
    binary("min", "d = smaller of a and b.", np.minimum, "Min", NUMBERS),
    binary("bitand", "d = bitwise a and b.", np.bitwise_and, "And", WHOLE),
    binary("bitor", "d = bitwise a or b.", np.bitwise_or, "Or", WHOLE),
)

_SCALAR = (
    scalar("adds", "d = a + s.", np.add, "Adds"),
    scalar("subs", "d = a - s.", np.subtract, "Adds"),
    scalar("muls", "d = a * s.", np.multiply, "Muls", dtypes=(*FLOATS, DType.I32)),
    scalar(
        "divs",
        "d = a / s, correctly rounded.",
        np.divide,
        "Div",
        dtypes=FLOATS,
        temporaries=("_t",),
    ),
    scalar("maxs", "d = larger of a and s.", np.maximum, "Maxs"),
    scalar("mins", "d = smaller of a and s.", np.minimum, "Mins"),
    scalar("rsubs", "d = s - a.", meanings.reversed_subtract, "Adds", slots=(S, A)),
    scalar(
        "rdivs",
        "d = s / a, correctly rounded.",
        meanings.reversed_divide,
        "Div",
        slots=(S, A),
        dtypes=FLOATS,
        temporaries=("_t",),
    ),
    scalar(
        "clamp",
        "d = min(max(a, lo), hi).",
        meanings.clamp,
        "Mins",
        slots=(A, Slot("lo", Kind.SCALAR), Slot("hi", Kind.SCALAR)),
    ),
    scalar(
        "leaky_relu",
        "d = a where a > 0, s * a elsewhere.",
        meanings.leaky_relu,
        "LeakyRelu",
        dtypes=FLOATS,
    ),
    scalar("axpy", "d = d + s * a.", meanings.axpy, "Axpy", dtypes=FLOATS, reads_dest=True),
    scalar("shl", "d = a shifted left by s bits.", np.left_shift, "ShiftLeft", dtypes=WHOLE),
    scalar(
        "shr",
        "d = a shifted right by s bits, keeping the sign.",
        np.right_shift,
        "ShiftRight",
        dtypes=WHOLE,
    ),
)

_OTHERS = (
    Builtin(
        "cast",
        "d = a in the element type of d; from float to integer, round= says how.",
        (A,),
        None,
        MOVABLE,
        "cast",
        "Cast",
        (Keyword("round", "none", ("none", "rint", "floor", "ceil", "trunc")),),
        dtype=DTypeRule.CAST,
    ),
    Builtin(
        "cmp",
        'd (a mask) = a op b for each element; op is "lt" "le" "gt" "ge" "eq" "ne".',
        (A, Slot("b_or_s", Kind.EITHER)),
        meanings.compare,
        (*FLOATS, DType.I32),
        "cmp",
        "Compare",
        (Keyword("op", "lt", ("lt", "le", "gt", "ge", "eq", "ne")),),
        dtype=DTypeRule.MASK,
    ),
    Builtin(
        "select",
        "d = a where the mask is set, b elsewhere.",
        (Slot("m", Kind.MASK), A, Slot("b_or_s", Kind.EITHER)),
        meanings.select,
        FLOATS,
        "select",
        "Select",
    ),
    Builtin(
        "fill",
        "Set the valid extent of d to n (or n rows of m) and every element to s; through a slice, "
        "no counts are given and only the slice is set.",
        (S, Slot("n", Kind.COUNT, is_optional=True), Slot("m", Kind.COUNT, is_optional=True)),
        meanings.fill,
        NUMBERS,
        "fill",
        "Duplicate",
        shape=ShapeRule.COUNTS,
    ),
    Builtin(
        "iota",
        "Set the valid extent of d to n and its elements to start, start + 1, ...",
        (Slot("start", Kind.SCALAR), Slot("n", Kind.COUNT)),
        meanings.iota,
        (DType.I32, DType.F32),
        "iota",
        "CreateVecIndex",
        shape=ShapeRule.COUNTS,
    ),
    Builtin(
        "gather",
        "d[k] = a[index[k]]; the index counts elements of a and must be inside it.",
        (A, Slot("index", Kind.INDEX)),
        meanings.gather,
        (*NUMBERS, DType.BF16),
        "gather",
        "Gather",
        shape=ShapeRule.INDEX,
        dtype=DTypeRule.INDEX,
        temporaries=("_bytes",),
    ),
    Builtin(
        "strided",
        "d = a[start], a[start + step], ..., n elements; the extent of d becomes n.",
        (A, Slot("start", Kind.COUNT), Slot("step", Kind.COUNT), Slot("n", Kind.COUNT)),
        meanings.strided,
        (*NUMBERS, DType.BF16),
        "strided",
        "Gather",
        shape=ShapeRule.COUNTS,
        temporaries=("_index",),
    ),
    Builtin(
        "transpose",
        "d = rows of a as columns; a and d are two buffers of rank 2.",
        (A,),
        meanings.transpose,
        FLOATS,
        "transpose",
        "Transpose",
        shape=ShapeRule.TRANSPOSE,
        temporaries=("_t",),
    ),
    scan(
        "cumsum",
        "d = running sum of a along the axis, started from carry, which becomes the "
        "last running sum.",
        meanings.cumsum,
        "CumSum",
    ),
    scan(
        "cumprod",
        "d = running product of a along the axis, started from carry, which becomes "
        "the last running product.",
        meanings.cumprod,
        "",
    ),
)

_REDUCTIONS = (
    reduction(
        "reduce_sum",
        "Sum along the axis; as a value, the sum of all.",
        meanings.reduce_sum,
        "ReduceSum",
    ),
    reduction(
        "reduce_max",
        "Largest along the axis; as a value, the largest of all.",
        meanings.reduce_max,
        "ReduceMax",
    ),
    reduction(
        "reduce_min",
        "Smallest along the axis; as a value, the smallest of all.",
        meanings.reduce_min,
        "ReduceMin",
    ),
    reduction(
        "reduce_prod",
        "Product along the axis; as a value, the product of all.",
        meanings.reduce_prod,
        "Mul",
    ),
)

BUILTINS: dict[str, Builtin] = {
    row.name: row for row in (*_MOVES, *_UNARY, *_BINARY, *_SCALAR, *_REDUCTIONS, *_OTHERS)
}
"""Every primitive by its name after `tl.`."""

REDUCTIONS = tuple(row.name for row in _REDUCTIONS)
"""Those that may also stand in a scalar expression, `v = tl.reduce_sum(a)`."""

__all__ = [
    "BUILTINS",
    "REDUCTIONS",
    "SCALAR_FUNCTIONS",
    "Builtin",
    "DTypeRule",
    "Keyword",
    "Kind",
    "ScalarFunction",
    "ShapeRule",
    "Slot",
]
