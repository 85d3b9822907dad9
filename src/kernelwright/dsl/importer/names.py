"""Names of the dialect and what they are called here."""

from __future__ import annotations

DTYPES = {
    "float32": "f32", "float": "f32", "f32": "f32", "fp32": "f32",
    "float16": "f16", "half": "f16", "f16": "f16", "fp16": "f16",
    "bfloat16": "bf16", "bf16": "bf16",
    "int32": "i32", "i32": "i32", "int16": "i16", "i16": "i16",
    "int8": "i8", "i8": "i8", "uint8": "u8", "u8": "u8", "bool": "bool",
}  # fmt: skip
"""Element types, with or without `tl.`."""

_UNARY = {"exp": "exp", "ln": "ln", "log": "ln", "abs": "abs", "sqrt": "sqrt", "rsqrt": "rsqrt",
          "rec": "recip", "relu": "relu", "neg": "neg", "tanh": "tanh", "sigmoid": "sigmoid",
          "erf": "erf", "gelu": "gelu", "copy": "copy", "cast": "cast"}  # fmt: skip
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "max": "max", "min": "min"}
_SCALAR = {name: f"{name}s" for name in _BINARY}

OPERATIONS = {
    **{f"v{name}": ours for name, ours in (_UNARY | _BINARY).items()},
    **{f"v{name}_scalar": ours for name, ours in _SCALAR.items()},
    **{f"v{name}s": ours for name, ours in _SCALAR.items()},
    "duplicate": "fill",
    "vdup": "fill",
}
"""Operations on buffers, destination first in both languages."""

REDUCTIONS = {
    f"{prefix}{name}": f"reduce_{name}"
    for prefix in ("reduce_", "vreduce_")
    for name in ("sum", "max", "min")
}
"""Reductions `(destination, source, work)`: here they give a scalar and need no work buffer."""
