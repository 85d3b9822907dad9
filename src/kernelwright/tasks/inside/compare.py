"""Questions about two results of a reference: are they the same, and does one make a fair test."""

from __future__ import annotations

import math
from typing import Any

import torch

from kernelwright.core.execution import Distribution
from kernelwright.core.tensor import leaves

_SHARE_OF_TOLERANCE = 0.5
_MOST_NON_FINITE = 0.5
_TOLERANCES = {torch.float16: 1e-3, torch.bfloat16: 1e-2}


def is_same(one: Any, other: Any) -> bool:
    """Return whether two results are equal bit for bit, NaN in the same places included."""
    left, right = leaves(one), leaves(other)
    if [place for place, _ in left] != [place for place, _ in right]:
        return False
    return all(_same_leaf(a, b) for (_, a), (_, b) in zip(left, right, strict=True))


def has_same_form(one: Any, other: Any) -> bool:
    """Return whether two results have equal structure, shapes and types."""
    left, right = leaves(one), leaves(other)
    return [(place, _form(leaf)) for place, leaf in left] == [
        (place, _form(leaf)) for place, leaf in right
    ]


def distance(one: Any, other: Any) -> float:
    """Return the largest error of one result, relative to the scale of each tensor of the other."""
    largest = 0.0
    for (_, a), (_, b) in zip(leaves(one), leaves(other), strict=True):
        if not isinstance(b, torch.Tensor) or b.numel() == 0:
            continue
        error = (a.double() - b.double()).abs().max()
        scale = b.double().square().mean().sqrt()
        largest = max(largest, float((error / scale).nan_to_num(nan=torch.inf)))
    return largest


def unfairness(
    distribution: Distribution,
    *,
    official: Any,
    eager: Any,
    exact: Any,
    reduction_length: int,
) -> str:
    """Say why a workload would be no fair test of a candidate; empty if it is one.

    Args:
        distribution: How its inputs are drawn.
        official: The reference's result on the official workload.
        eager: Its result on this workload.
        exact: The same in float64, None where there is none.
        reduction_length: Longest reduction on the way.
    """
    before, after = leaves(official), leaves(eager)
    if [(p, _kind(leaf)) for p, leaf in before] != [(p, _kind(leaf)) for p, leaf in after]:
        return "the reference returns another structure"
    twins = leaves(exact) if exact is not None else [("", None)] * len(after)
    for (place, old), (_, new), (_, twin) in zip(before, after, twins, strict=True):
        if not isinstance(new, torch.Tensor):
            continue
        is_special = distribution is Distribution.SPECIAL
        reason = _unpropagated(new, twin) if is_special else _degenerate(old, new)
        reason = reason or _unstable(new, twin, reduction_length)
        if reason:
            return f"{place}: {reason}"
    return ""


def _degenerate(old: torch.Tensor, new: torch.Tensor) -> str:
    if not (new.is_floating_point() or new.is_complex()):
        return ""
    finite = torch.isfinite(new)
    if not bool(finite.all()):
        was_finite = torch.isfinite(old)
        if old.shape != new.shape:
            is_worse = bool(was_finite.all())
        else:
            is_worse = bool((was_finite & ~finite).any())
        if is_worse:
            return "not finite where the official inputs give finite values"
    if is_constant(new) and not is_constant(old):
        return "every element is the same"
    return ""


def is_constant(value: torch.Tensor) -> bool:
    """Return whether a tensor of several elements holds one value only."""
    return value.numel() > 1 and bool((value == value.reshape(-1)[0]).all())


def _unpropagated(new: torch.Tensor, twin: torch.Tensor | None) -> str:
    """Special values are fair only if both precisions agree where they come out."""
    if twin is None or not new.is_floating_point():
        return "there is no float64 result to tell where special values belong"
    if not torch.equal(torch.isnan(new), torch.isnan(twin)):
        return "NaN comes out in other places in float64"
    infinite = torch.isinf(new)
    if not torch.equal(infinite, torch.isinf(twin)) or not torch.equal(
        new[infinite].sign().double(), twin[infinite].sign()
    ):
        return "infinities come out in other places in float64"
    share = 1.0 - float(torch.isfinite(new).double().mean()) if new.numel() else 0.0
    return "most of the result is not finite" if share > _MOST_NON_FINITE else ""


def _unstable(new: torch.Tensor, twin: torch.Tensor | None, reduction_length: int) -> str:
    """A result that its own rounding moves by half the tolerance is no yardstick."""
    if twin is None:
        return ""
    if not new.is_floating_point():
        return "" if torch.equal(new, twin) else "float64 gives other whole numbers"
    finite = torch.isfinite(new) & torch.isfinite(twin)
    wide, exact = new.double()[finite], twin[finite]
    if exact.numel() == 0:
        return ""
    scale = float(exact.square().mean().sqrt())
    error = float((wide - exact).abs().max())
    return (
        ""
        if error <= _SHARE_OF_TOLERANCE * strict_tolerance(new.dtype, reduction_length) * scale
        else "the reference's own rounding is near the tolerance"
    )


def strict_tolerance(dtype: torch.dtype, reduction_length: int) -> float:
    """Return the strict tolerance, relative to the scale of the output."""
    return _TOLERANCES.get(dtype, min(1e-5 * math.sqrt(reduction_length), 1e-4))


def _same_leaf(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return type(a) is type(b) and (a == b or a != a)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    return bool(((a == b) | (torch.isnan(a) & torch.isnan(b))).all())


def _form(leaf: Any) -> object:
    return (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, torch.Tensor) else type(leaf)


def _kind(leaf: Any) -> object:
    return (leaf.dim(), leaf.dtype) if isinstance(leaf, torch.Tensor) else type(leaf)
