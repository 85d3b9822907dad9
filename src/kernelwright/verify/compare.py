"""Compare what a candidate returned with what the reference returned, from raw bytes.

This runs in the trusted process, where no candidate code was ever loaded: nothing that a
candidate patches can reach it. The words of a mismatch follow EvoKernel, Appendix F.1.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from kernelwright.core.execution import Expected
from kernelwright.core.task import Tolerance
from kernelwright.core.tensor import ITEM_BYTES, Opaque, Tensor, Tree, leaves
from kernelwright.core.verdict import Category
from kernelwright.verify.arrays import COMPLEX_DTYPES, EXACT_DTYPES, narrowed, stored, widened
from kernelwright.verify.difference import Difference, difference
from kernelwright.verify.tolerance import Allowance, allowance_for


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first way in which outputs disagree, with the words for feedback.

    Attributes:
        category: Kind of the mismatch.
        text: One line; for numbers it is the part that stands behind `Trial n: `.
        rule: The tolerance that was applied, as text; empty for a mismatch of structure.
    """

    category: Category
    text: str
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How outputs are compared: the rule, and what it needs to know of the task.

    Attributes:
        tolerance: Name of the rule.
        reduction_length: Longest reduction on the way to an output, in elements.
        slack: Factor on the strict rule, for expected values that carry an error of their own.
        is_whole: Count every mismatch, instead of stopping at the first ones.
    """

    tolerance: Tolerance
    reduction_length: int = 1
    slack: float = 1.0
    is_whole: bool = True

    def allowance(self, dtype: str) -> Allowance | None:
        """Return what error an output of `dtype` may have, None if it must be equal."""
        if dtype in EXACT_DTYPES:
            return None
        return allowance_for(
            self.tolerance, dtype, reduction_length=self.reduction_length, slack=self.slack
        )


def compare(
    got: Tree, expected: Expected, tolerance: Tolerance, *, slack: float = 1.0
) -> Mismatch | None:
    """Return the first mismatch between outputs and what is expected, None if they agree."""
    how = Comparison(tolerance, expected.reduction_length, slack)
    return _compared(got, expected.outputs, expected.exact, how, "output")


def agrees(got: Tree, expected: Expected, tolerance: Tolerance) -> bool:
    """Whether outputs agree with what is expected; quicker than `compare` where they do not."""
    how = Comparison(tolerance, expected.reduction_length, is_whole=False)
    return _compared(got, expected.outputs, expected.exact, how, "output") is None


def reference_is_within(expected: Expected, tolerance: Tolerance) -> bool:
    """Whether the eager reference itself stays within the tolerance of its float64 form.

    Where there is no float64 form, or the rule does not look at it, the answer is yes.
    """
    how = Comparison(tolerance, expected.reduction_length)
    if expected.exact is None or tolerance is not Tolerance.STRICT:
        return True
    pairs = zip(leaves(expected.outputs), leaves(expected.exact), strict=False)
    for (_, eager), (_, exact) in pairs:
        if not (isinstance(eager, Tensor) and isinstance(exact, Tensor)):
            continue
        if eager.dtype in EXACT_DTYPES or not _is_exact_form(exact, eager):
            continue
        rounded = narrowed(widened(stored(exact), exact.dtype), eager.dtype).tobytes()
        ideal = Tensor(eager.dtype, eager.shape, rounded)
        if difference(eager, ideal, exact, how.allowance(eager.dtype)) is not None:
            return False
    return True


def is_finite(expected: Expected) -> bool:
    """Whether every number of the reference's outputs is finite, in both forms."""
    trees = (expected.outputs, expected.exact)
    tensors = [leaf for tree in trees for _, leaf in leaves(tree) if isinstance(leaf, Tensor)]
    return all(
        bool(np.isfinite(widened(stored(tensor), tensor.dtype)).all())
        for tensor in tensors
        if tensor.dtype not in EXACT_DTYPES
    )


def _compared(got: Tree, eager: Tree, exact: Tree, how: Comparison, path: str) -> Mismatch | None:
    mine, theirs = _type_name(got), _type_name(eager)
    if mine != theirs:
        text = f"type({path}) mismatch: expected {theirs}, got {mine}"
        return Mismatch(Category.TYPE_MISMATCH, text)
    if isinstance(got, Tensor) and isinstance(eager, Tensor):
        return _compared_tensors(got, eager, exact, how, path)
    if isinstance(got, dict) and isinstance(eager, dict):
        return _compared_dicts(got, eager, exact, how, path)
    if isinstance(got, (list, tuple)) and isinstance(eager, (list, tuple)):
        return _compared_sequences(got, eager, exact, how, path)
    if isinstance(got, float) and isinstance(eager, float):
        truth = _scalar(exact) if isinstance(exact, float) else None
        # A Python float is mostly what `.item()` made of a float32, so it is judged as one.
        return _compared_numbers(
            _scalar(got), _scalar(eager), truth, how, path, judged_as="float32"
        )
    if got != eager:
        text = f"value({path}) mismatch: expected {eager!r}, got {got!r}"
        return Mismatch(Category.NUMERICAL_MISMATCH, text)
    return None


def _compared_sequences(
    got: list[Tree] | tuple[Tree, ...],
    eager: list[Tree] | tuple[Tree, ...],
    exact: Tree,
    how: Comparison,
    path: str,
) -> Mismatch | None:
    if len(got) != len(eager):
        return _length_mismatch(len(got), len(eager), path)
    inner = exact if isinstance(exact, (list, tuple)) and len(exact) == len(eager) else None
    for index, (mine, theirs) in enumerate(zip(got, eager, strict=True)):
        truth = None if inner is None else inner[index]
        found = _compared(mine, theirs, truth, how, f"{path}[{index}]")
        if found is not None:
            return found
    return None


def _compared_dicts(
    got: dict[str, Tree], eager: dict[str, Tree], exact: Tree, how: Comparison, path: str
) -> Mismatch | None:
    if len(got) != len(eager):
        return _length_mismatch(len(got), len(eager), path)
    if got.keys() != eager.keys():
        text = f"keys({path}) mismatch: expected {sorted(eager)}, got {sorted(got)}"
        return Mismatch(Category.TYPE_MISMATCH, text)
    inner = exact if isinstance(exact, dict) else {}
    for key, theirs in eager.items():
        found = _compared(got[key], theirs, inner.get(key), how, f"{path}[{key!r}]")
        if found is not None:
            return found
    return None


def _compared_tensors(
    got: Tensor, eager: Tensor, exact: Tree, how: Comparison, path: str
) -> Mismatch | None:
    if got.shape != eager.shape:
        text = f"{path}.shape mismatch: expected {eager.shape}, got {got.shape}"
        return Mismatch(Category.SHAPE_MISMATCH, text)
    if got.dtype != eager.dtype:
        text = f"{path}.dtype mismatch: expected {eager.dtype}, got {got.dtype}"
        return Mismatch(Category.DTYPE_MISMATCH, text)
    if memoryview(got.data).nbytes != got.size_bytes:
        text = f"{path} holds {memoryview(got.data).nbytes} bytes, needs {got.size_bytes}"
        return Mismatch(Category.CRASH, text)
    truth = exact if isinstance(exact, Tensor) and _is_exact_form(exact, eager) else None
    return _compared_numbers(got, eager, truth, how, path)


def _compared_numbers(
    got: Tensor,
    eager: Tensor,
    exact: Tensor | None,
    how: Comparison,
    path: str,
    *,
    judged_as: str | None = None,
) -> Mismatch | None:
    if how.tolerance is not Tolerance.STRICT:
        # The benchmark's own rules know no float64 reference.
        exact = None
    allowance = how.allowance(judged_as or got.dtype)
    found = difference(got, eager, exact, allowance, is_whole=how.is_whole)
    if found is None:
        return None
    rule = "atol=0, rtol=0" if allowance is None else allowance.text
    return Mismatch(Category.NUMERICAL_MISMATCH, _words(found, path), rule)


def _words(found: Difference, path: str) -> str:
    share = 100.0 * found.mismatched / max(found.total, 1)
    box = ", ".join(f"{low}:{high}" for low, high in found.box)
    text = (
        f"{found.mismatched}/{found.total} mismatched ({share:.2f}%), "
        f"max_abs={found.max_abs:.6g}, max_rel={found.max_rel:.6g}, "
        f"Bounding box: {path}{f'[{box}]' if box else ''}"
    )
    if found.not_finite:
        text += f", {found.not_finite} not finite where the reference is"
    return text


def _is_exact_form(exact: Tensor, eager: Tensor) -> bool:
    if exact.shape != eager.shape:
        return False
    if eager.dtype in EXACT_DTYPES:
        return exact.dtype == eager.dtype
    if eager.dtype in COMPLEX_DTYPES:
        return exact.dtype in COMPLEX_DTYPES
    return exact.dtype not in EXACT_DTYPES | COMPLEX_DTYPES and exact.dtype in ITEM_BYTES


def _length_mismatch(got: int, expected: int, path: str) -> Mismatch:
    text = f"len({path}) mismatch: expected {expected}, got {got}"
    return Mismatch(Category.LENGTH_MISMATCH, text)


def _scalar(value: float) -> Tensor:
    return Tensor("float64", (), struct.pack("<d", value))


def _type_name(tree: Tree) -> str:
    return tree.type_name if isinstance(tree, Opaque) else type(tree).__name__
