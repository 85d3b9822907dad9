"""How the vector unit computes what it has no instruction for: each op as basic ops.

A recipe is text in the language's own terms: `d` is the destination, the operands go by the names
of the builtins table, `t0` `t1` ... are scratch buffers of the destination's shape. A destination
is not written before the last use of a source it may share memory with, so every recipe works in
place. `fill` takes no count here: it fills what the operation writes.
"""

from __future__ import annotations

_ERF_P = 0.3275911
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""erf(x) = 1 - (a1 t + ... + a5 t^5) exp(-x^2), t = 1 / (1 + p x), to 1.5e-7 for x >= 0.

Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
"""

_ERF_STEPS = (
    "abs(t0, a)",
    # The sign: +-1 but for numbers so small that erf of them is lost in rounding anyway.
    "muls(t1, a, 1e30)",
    "maxs(t1, t1, -1.0)",
    "mins(t1, t1, 1.0)",
    f"muls(d, t0, {_ERF_P})",
    "adds(d, d, 1.0)",
    "fill(t2, 1.0)",
    "div(d, t2, d)",
    "mul(t0, t0, t0)",
    "muls(t0, t0, -1.0)",
    "exp(t0, t0)",
    f"muls(t2, d, {_ERF[4]})",
    f"adds(t2, t2, {_ERF[3]})",
    "mul(t2, t2, d)",
    f"adds(t2, t2, {_ERF[2]})",
    "mul(t2, t2, d)",
    f"adds(t2, t2, {_ERF[1]})",
    "mul(t2, t2, d)",
    f"adds(t2, t2, {_ERF[0]})",
    "mul(t2, t2, d)",
    "mul(t2, t2, t0)",
    "muls(t2, t2, -1.0)",
    "adds(t2, t2, 1.0)",
    "mul(d, t2, t1)",
)

RECIPES: dict[str, tuple[str, ...]] = {
    "neg": ("muls(d, a, -1)",),
    "subs": ("adds(d, a, -s)",),
    "rsubs": ("muls(d, a, -1)", "adds(d, d, s)"),
    "divs": ("fill(t0, s)", "div(d, a, t0)"),
    "rdivs": ("fill(t0, s)", "div(d, t0, a)"),
    "clamp": ("maxs(d, a, lo)", "mins(d, d, hi)"),
    "rsqrt": ("sqrt(t0, a)", "fill(d, 1.0)", "div(d, d, t0)"),
    "recip": ("fill(t0, 1.0)", "div(d, t0, a)"),
    "sigmoid": (
        "muls(t0, a, -1.0)",
        "exp(t0, t0)",
        "adds(t0, t0, 1.0)",
        "fill(d, 1.0)",
        "div(d, d, t0)",
    ),
    # tanh(x) = 1 - 2 / (exp(2 x) + 1): exp may overflow to infinity, which gives 1.
    "tanh": (
        "muls(t0, a, 2.0)",
        "exp(t0, t0)",
        "adds(t0, t0, 1.0)",
        "fill(d, -2.0)",
        "div(d, d, t0)",
        "adds(d, d, 1.0)",
    ),
    "erf": _ERF_STEPS,
    "gelu": (
        "muls(t3, a, 0.7071067811865476)",
        *(
            step.replace("(d", "(t3").replace(" d", " t3").replace(" a", " t3")
            for step in _ERF_STEPS
        ),
        "adds(t3, t3, 1.0)",
        "mul(d, t3, a)",
        "muls(d, d, 0.5)",
    ),
}
"""Steps of each composed op; an op not named here is basic."""

KEPT_WHOLE = {"fast": True, "impl": "api"}
"""Keywords that ask for the target's own instruction or library call instead of the recipe."""
