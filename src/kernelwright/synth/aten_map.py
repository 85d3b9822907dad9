"""Elementwise ATen operators as canonical expressions, in forms that are right at the extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import BOOL, Expr, Exprs

Value: TypeAlias = "Expr | None | bool | int | float | str"
Rule: TypeAlias = Callable[..., "Expr | tuple[Expr | None, ...]"]


def lifted(make: Exprs, value: Value) -> Expr:
    """Return an operand as an expression; Python numbers become constants."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (bool, int, float)):
        return make.const(float(value))
    raise NotCovered(f"the operand {value!r} is no number", fix="rewrite the reference without it")


def _unary(op: str) -> Rule:
    return lambda make, x: make.apply(op, x)


def _binary(op: str) -> Rule:
    return lambda make, x, y: make.apply(op, lifted(make, x), lifted(make, y))


def _compared(op: str) -> Rule:
    return lambda make, x, y: make.compare(op, lifted(make, x), lifted(make, y))


def _logical(op: str) -> Rule:
    return lambda make, x, y: make.make(op, make.mask(x), make.mask(lifted(make, y)), kind=BOOL)


def _add(make: Exprs, x: Value, y: Value, *, alpha: float = 1) -> Expr:
    return make.apply("add", lifted(make, x), make.scaled(lifted(make, y), float(alpha)))


def _sub(make: Exprs, x: Value, y: Value, *, alpha: float = 1) -> Expr:
    return make.apply("sub", lifted(make, x), make.scaled(lifted(make, y), float(alpha)))


def _rsub(make: Exprs, x: Value, y: Value, alpha: float = 1) -> Expr:
    return _sub(make, y, x, alpha=alpha)


def _div(make: Exprs, x: Value, y: Value, *, rounding_mode: str | None = None) -> Expr:
    quotient = make.apply("div", lifted(make, x), lifted(make, y))
    if isinstance(y, (int, float)) and y and math.frexp(y)[0] in {0.5, -0.5}:
        quotient = make.scaled(lifted(make, x), 1.0 / y)
    if rounding_mode is None:
        return quotient
    return make.apply("floor" if rounding_mode == "floor" else "trunc", quotient)


def _pow(make: Exprs, x: Value, y: Value) -> Expr:
    base = lifted(make, x)
    if isinstance(y, (int, float)) and not isinstance(y, bool):
        if y == int(y) and 1 <= abs(y) <= 8:
            power = _whole_power(make, base, abs(int(y)))
            return make.apply("recip", power) if y < 0 else power
        if y in {0.5, -0.5}:
            return make.apply("sqrt" if y > 0 else "rsqrt", base)
    return make.apply("pow", base, lifted(make, y))


def _whole_power(make: Exprs, base: Expr, exponent: int) -> Expr:
    if exponent == 1:
        return base
    half = make.apply("square", _whole_power(make, base, exponent // 2))
    return make.apply("mul", half, base) if exponent % 2 else half


def _clamp(make: Exprs, x: Expr, low: Value = None, high: Value = None) -> Expr:
    if low is not None:
        x = make.apply("max", x, lifted(make, low))
    return x if high is None else make.apply("min", x, lifted(make, high))


def _relu(make: Exprs, x: Expr) -> Expr:
    return make.apply("max", x, make.const(0.0))


def _leaky_relu(make: Exprs, x: Expr, slope: float = 0.01) -> Expr:
    return make.where(make.compare("gt", x, make.const(0.0)), x, make.scaled(x, slope))


def _prelu(make: Exprs, x: Expr, slope: Expr) -> Expr:
    if any(slope.shape) and len(slope.shape) == 1 and len(x.shape) > 1:
        slope = make.viewed(slope, (slope.shape[0], *((),) * (len(x.shape) - 2)))
    return make.where(make.compare("gt", x, make.const(0.0)), x, make.apply("mul", x, slope))


def _gelu(make: Exprs, x: Expr, *, approximate: str = "none") -> Expr:
    if approximate == "tanh":
        cubic = make.apply("mul", make.apply("square", x), make.scaled(x, 0.044715))
        inner = make.scaled(make.apply("add", x, cubic), math.sqrt(2.0 / math.pi))
        bell = make.apply("tanh", inner)
    else:
        # 1 + erf is what counts, so erf needs an absolute accuracy only: one polynomial less.
        bell = make.apply("erf_flat", make.scaled(x, math.sqrt(0.5)))
    return make.apply("mul", make.scaled(x, 0.5), make.shifted(bell, 1.0))


def _silu(make: Exprs, x: Expr) -> Expr:
    return make.apply("mul", x, make.apply("sigmoid", x))


def _softplus(make: Exprs, x: Expr, beta: float = 1, threshold: float = 20) -> Expr:
    scaled = make.scaled(x, float(beta))
    if threshold > 80:
        raise NotCovered("softplus beyond 80 overflows", fix="use a threshold of at most 80")
    curve = make.scaled(make.apply("log1p", make.apply("exp", scaled)), 1.0 / float(beta))
    return make.where(make.compare("gt", scaled, make.const(float(threshold))), x, curve)


def _mish(make: Exprs, x: Expr) -> Expr:
    # With e = exp(x): tanh(log(1 + e)) = n / (n + 2), n = e (e + 2).
    e = make.apply("exp", x)
    n = make.apply("mul", e, make.shifted(e, 2.0))
    curve = make.apply("mul", x, make.apply("div", n, make.shifted(n, 2.0)))
    return make.where(make.compare("gt", x, make.const(20.0)), x, curve)


def _log_sigmoid(make: Exprs, x: Expr) -> Expr:
    tail = make.apply("log1p", make.apply("exp", make.apply("neg", make.apply("abs", x))))
    return make.apply("sub", make.apply("min", x, make.const(0.0)), tail)


def _elu(make: Exprs, x: Expr, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Expr:
    curve = make.scaled(make.apply("expm1", make.scaled(x, float(input_scale))), alpha * scale)
    return make.where(make.compare("gt", x, make.const(0.0)), make.scaled(x, float(scale)), curve)


def _hardtanh(make: Exprs, x: Expr, low: float = -1.0, high: float = 1.0) -> Expr:
    return _clamp(make, x, low, high)


def _hardsigmoid(make: Exprs, x: Expr) -> Expr:
    return make.scaled(_clamp(make, make.shifted(x, 3.0), 0.0, 6.0), 1.0 / 6.0)


def _hardswish(make: Exprs, x: Expr) -> Expr:
    return make.apply("mul", x, _hardsigmoid(make, x))


def _hardshrink(make: Exprs, x: Expr, edge: float = 0.5) -> Expr:
    inside = make.compare("le", make.apply("abs", x), make.const(edge))
    return make.where(inside, make.const(0.0), x)


def _softshrink(make: Exprs, x: Expr, edge: float = 0.5) -> Expr:
    small = make.where(
        make.compare("lt", x, make.const(-edge)), make.shifted(x, edge), make.scaled(x, 0.0)
    )
    return make.where(make.compare("gt", x, make.const(edge)), make.shifted(x, -edge), small)


def _threshold(make: Exprs, x: Expr, edge: float, value: float) -> Expr:
    return make.where(make.compare("le", x, make.const(edge)), make.const(value), x)


def _where(make: Exprs, condition: Expr, yes: Value, no: Value) -> Expr:
    return make.where(condition, lifted(make, yes), lifted(make, no))


def _masked_fill(make: Exprs, x: Expr, mask: Expr, value: Value) -> Expr:
    return make.where(mask, lifted(make, value), x)


def _xlogy(make: Exprs, x: Value, y: Value) -> Expr:
    left, right = lifted(make, x), lifted(make, y)
    product = make.apply("mul", left, make.apply("log", right))
    is_zero = make.compare("eq", left, make.const(0.0))
    zero = make.where(make.make("isnan", make.number(right), kind=BOOL), right, make.const(0.0))
    return make.where(is_zero, zero, product)


def _lerp(make: Exprs, x: Expr, y: Expr, weight: Value) -> Expr:
    return make.apply("add", x, make.apply("mul", lifted(make, weight), make.apply("sub", y, x)))


def _addcmul(make: Exprs, x: Expr, a: Expr, b: Expr, *, value: float = 1) -> Expr:
    return make.apply("add", x, make.scaled(make.apply("mul", a, b), float(value)))


def _addcdiv(make: Exprs, x: Expr, a: Expr, b: Expr, *, value: float = 1) -> Expr:
    return make.apply("add", x, make.apply("div", make.scaled(a, float(value)), b))


def _same(make: Exprs, x: Expr, *_: Value, **__: Value) -> Expr:
    return x


def _filled(make: Exprs, x: Expr, value: Value, **__: Value) -> Expr:
    return make.viewed(lifted(make, value), x.shape)


def _zeros_like(make: Exprs, x: Expr, **__: Value) -> Expr:
    return make.viewed(make.const(0.0), x.shape)


def _ones_like(make: Exprs, x: Expr, **__: Value) -> Expr:
    return make.viewed(make.const(1.0), x.shape)


_UNARY = (
    "neg abs exp log log1p expm1 sqrt rsqrt erf tanh sigmoid floor ceil trunc round sin cos".split()
)
MAP_RULES: Mapping[str, Rule] = {
    **{name: _unary(name) for name in _UNARY},
    **{name: _compared(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    "reciprocal": _unary("recip"),
    "square": _unary("square"),
    "sign": lambda make, x: make.apply("sign", x),
    "exp2": lambda make, x: make.apply("exp", make.scaled(x, math.log(2.0))),
    "log2": lambda make, x: make.scaled(make.apply("log", x), 1.0 / math.log(2.0)),
    "log10": lambda make, x: make.scaled(make.apply("log", x), 1.0 / math.log(10.0)),
    "erfc": lambda make, x: make.apply("sub", make.const(1.0), make.apply("erf", x)),
    "isnan": lambda make, x: make.make("isnan", make.number(x), kind=BOOL),
    "logical_not": lambda make, x: make.make("not", make.mask(x), kind=BOOL),
    "bitwise_not": lambda make, x: make.make("not", make.mask(x), kind=BOOL),
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "bitwise_and": _logical("and"),
    "bitwise_or": _logical("or"),
    "add": _add,
    "sub": _sub,
    "rsub": _rsub,
    "mul": _binary("mul"),
    "div": _div,
    "maximum": _binary("max"),
    "minimum": _binary("min"),
    "max": _binary("max"),
    "min": _binary("min"),
    "pow": _pow,
    "clamp": _clamp,
    "clamp_min": lambda make, x, low: _clamp(make, x, low),
    "clamp_max": lambda make, x, high: _clamp(make, x, None, high),
    "relu": _relu,
    "relu6": lambda make, x: _clamp(make, x, 0.0, 6.0),
    "leaky_relu": _leaky_relu,
    "_prelu_kernel": _prelu,
    "prelu": _prelu,
    "gelu": _gelu,
    "silu": _silu,
    "mish": _mish,
    "softplus": _softplus,
    "log_sigmoid_forward": lambda make, x: (_log_sigmoid(make, x), None),
    "log_sigmoid": _log_sigmoid,
    "elu": _elu,
    "celu": lambda make, x, alpha=1.0: _elu(make, x, float(alpha), 1.0, 1.0 / float(alpha)),
    "scalar_tensor": lambda make, value, **_: lifted(make, value),
    "hardtanh": _hardtanh,
    "hardsigmoid": _hardsigmoid,
    "hardswish": _hardswish,
    "hardshrink": _hardshrink,
    "softshrink": _softshrink,
    "threshold": _threshold,
    "where": _where,
    "masked_fill": _masked_fill,
    "xlogy": _xlogy,
    "lerp": _lerp,
    "addcmul": _addcmul,
    "addcdiv": _addcdiv,
    "clone": _same,
    "detach": _same,
    "contiguous": _same,
    "alias": _same,
    "lift_fresh_copy": _same,
    "_to_copy": _same,
    "full_like": _filled,
    "zeros_like": _zeros_like,
    "ones_like": _ones_like,
}
"""ATen operator without its overload, to the function that expresses it."""
