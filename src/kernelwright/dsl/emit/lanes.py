"""Elementwise operations on vectors: what each row of the builtins table is in C++.

Floats (f32, f16, bf16) are computed as f32 and rounded to the buffer's type after each operation,
as the interpreter does; whole numbers are computed in 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.dsl.nodes import Op
from kernelwright.dsl.types import DType

CPP_TYPE: Mapping[DType, str] = {
    DType.F32: "float",
    DType.F16: "f16",
    DType.BF16: "bf16",
    DType.I64: "int64_t",
    DType.I32: "int32_t",
    DType.I16: "int16_t",
    DType.I8: "int8_t",
    DType.U8: "uint8_t",
    DType.BOOL: "uint8_t",
    DType.MASK: "int8_t",
}
"""How an element lies in memory; a mask is 0 or -1."""

ITEM_BYTES = {dtype: 1 if dtype is DType.MASK else dtype.item_bytes for dtype in CPP_TYPE}

_SAME: Mapping[str, str] = {
    "copy": "{0}",
    "bitnot": "~{0}",
    "max": "v_max({0}, {1})",
    "min": "v_min({0}, {1})",
    "maxs": "v_max({0}, {1})",
    "mins": "v_min({0}, {1})",
    "clamp": "v_min(v_max({0}, {1}), {2})",
    "add": "v_add({0}, {1})",
    "adds": "v_add({0}, {1})",
    "sub": "v_sub({0}, {1})",
    "subs": "v_sub({0}, {1})",
    "rsubs": "v_sub({0}, {1})",
    "mul": "v_mul({0}, {1})",
    "muls": "v_mul({0}, {1})",
    "select": "pick({0}, {1}, {2})",
    "fill": "{0}",
}
_WHOLE: Mapping[str, str] = {
    **_SAME,
    "neg": "v_sub(vi{{}}, {0})",
    "relu": "v_max({0}, vi{{}})",
    "bitand": "({0} & {1})",
    "bitor": "({0} | {1})",
    "shl": "v_shl({0}, {1})",
    "shr": "v_shr({0}, {1})",
    "iota": "v_add({0}, lanes() + (int32_t)j)",
}
_REAL: Mapping[str, str] = {
    **_SAME,
    "neg": "-{0}",
    "relu": "v_max({0}, vf{{}})",
    "abs": "v_abs({0})",
    "exp": "v_exp({0})",
    "ln": "v_ln({0})",
    "floor": "v_floor({0})",
    "ceil": "v_ceil({0})",
    "round": "v_rint({0})",
    "sqrt": "v_sqrt({0})",
    "rsqrt": "1.0f / v_sqrt({0})",
    "recip": "1.0f / {0}",
    "tanh": "v_tanh({0})",
    "sigmoid": "v_sigmoid({0})",
    "erf": "v_erf({0})",
    "gelu": "v_gelu({0})",
    "sin": "v_sin({0})",
    "cos": "v_cos({0})",
    "div": "{0} / {1}",
    "divs": "{0} / {1}",
    "rdivs": "{0} / {1}",
    "leaky_relu": "pick({0} > vf{{}}, {0}, {1} * {0})",
    "axpy": "{2} + {1} * {0}",
    "iota": "{0} + __builtin_convertvector(lanes() + (int32_t)j, vf)",
}
_COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_ROUND = {"rint": "v_rint", "floor": "v_floor", "ceil": "v_ceil", "trunc": "v_trunc"}
_LIMITS: Mapping[DType, tuple[str, str, str]] = {
    DType.I32: ("-2147483648.0f", "2147483648.0f", "2147483647"),
    DType.I16: ("-32768.0f", "32767.0f", "32767"),
    DType.I8: ("-128.0f", "127.0f", "127"),
    DType.U8: ("0.0f", "255.0f", "255"),
    DType.BOOL: ("0.0f", "255.0f", "255"),
}


def vector_type(dtype: DType) -> str:
    """The vector that holds elements of a type."""
    return "vf" if dtype.is_float else "vi"


def result_of(node: Op, values: list[str], dtype: DType, source: DType) -> str:
    """The C++ expression of an operation.

    Args:
        values: Operands as vectors, in slot order; the destination's old content last, for
            operations that update it.
        dtype: Element type of the destination.
        source: Element type of the first buffer operand.
    """
    if node.name == "cast":
        return _cast(values[0], source, dtype, str(node.attribute("round", "none")))
    if node.name == "cmp":
        return f"{values[0]} {_COMPARE[str(node.attribute('op', 'lt'))]} {values[1]}"
    table = _REAL if dtype.is_float else _WHOLE
    text = table[node.name].format(*values)
    is_exact = node.name in ("copy", "select", "max", "min")
    return text if is_exact else rounded(text, dtype)


def rounded(text: str, dtype: DType) -> str:
    """A value rounded to an element type."""
    if dtype is DType.F16:
        return f"as_f16({text})"
    if dtype is DType.BF16:
        return f"as_bf16({text})"
    return f"as_i16({text})" if dtype is DType.I16 else text


def _cast(value: str, source: DType, dest: DType, rounding: str) -> str:
    if dest.is_float:
        real = value if source.is_float else f"__builtin_convertvector({value}, vf)"
        return real if source in (dest, DType.I8, DType.U8) else rounded(real, dest)
    low, high, top = _LIMITS[dest]
    if source.is_float:
        return f"saturated({_ROUND.get(rounding, 'v_rint')}({value}), {low}, {high}, {top})"
    if ITEM_BYTES[dest] == 4:
        return value
    least = low.removesuffix(".0f")
    return f"v_max(v_min({value}, all_i({top})), all_i({least}))"


def scalar_vector(text: str, dtype: DType) -> str:
    """A scalar in all lanes, converted to an element type first."""
    if dtype is DType.F16:
        return f"all((float)(f16)({text}))"
    if dtype.is_float:
        return f"all((float)({text}))"
    return f"all_i(({CPP_TYPE[dtype]})({text}))"
