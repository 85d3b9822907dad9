"""Wrong versions of the reference: what careless or dishonest candidates would return.

A task whose inputs and tolerance let one of them pass cannot tell right from wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelwright.core.execution import Distribution, Workload
from kernelwright.core.tensor import leaves
from kernelwright.sandbox.module_fault import ModuleFault
from kernelwright.sandbox.torch_tree import tensors_in
from kernelwright.tasks.inside.compare import distance, has_same_form, is_same
from kernelwright.tasks.inside.draw import Drawn, drawn_args, mapped, with_other_inputs
from kernelwright.tasks.inside.operations import (
    Operation,
    Recorder,
    Tamper,
    Tampering,
    along_another_axis,
    dropped,
    transposed,
    without_bias,
)
from kernelwright.tasks.inside.reference import Reference
from kernelwright.tasks.inside.run import fresh, private, run_exact, run_wide

TILE = 64
"""Elements that `off_by_one_tile` gets wrong, at most."""
MOST_DROPPED = 4
_MOST_TRIES = 8
_VISIBLE = 1e-2
_NEAR = 1e-3
_REDUNDANT = 1e-9
_WIDE = (torch.float32, torch.float64)


class DoesNotApply(Exception):
    """A mutant that this task does not have; the message says why."""


@dataclass(slots=True)
class Mutator:
    """Makes mutants of the reference on one workload.

    Attributes:
        reference: The reference.
        workload: The workload.
        drawn: The same, drawn.
        expected: What the reference returns on it.
    """

    reference: Reference
    workload: Workload
    drawn: Drawn
    expected: Any
    _found: list[Operation] | None = None

    def names(self) -> list[str]:
        """Return the names of all mutants; equal for every workload of a task."""
        fixed = ["zeros", "constant", "other_input", "stale", "half_precision", "off_by_one_tile"]
        sites = [name for name, _ in self._dropped_sites()]
        return [*fixed, "wrong_axis", *(sites or ["dropped_op"])]

    def output(self, name: str) -> Any:
        """Return what one mutant returns.

        Raises:
            DoesNotApply: if the task does not have it.
        """
        if not any(tensor.numel() for tensor in tensors_in(self.expected)):
            raise DoesNotApply("the reference returns no tensor")
        makers = {
            "zeros": self._zeros,
            "constant": self._constant,
            "other_input": self._other_input,
            "stale": self._stale,
            "half_precision": self._half_precision,
            "off_by_one_tile": self._off_by_one_tile,
            "wrong_axis": self._wrong_axis,
        }
        return makers[name]() if name in makers else self._dropped(name)

    def _zeros(self) -> Any:
        return mapped(self.expected, torch.zeros_like)

    def _constant(self) -> Any:
        if all(tensor.numel() < 2 for tensor in tensors_in(self.expected)):
            raise DoesNotApply("the result has one element: other_input is the same question")
        return mapped(self.expected, _flattened)

    def _other_input(self) -> Any:
        return self._on_inputs_of(with_other_inputs(self.workload))

    def _stale(self) -> Any:
        other = replace(self.workload, distribution=Distribution.OFFICIAL, is_strided=False)
        return self._on_inputs_of(with_other_inputs(other, turn=2))

    def _on_inputs_of(self, other: Workload) -> Any:
        args = drawn_args(self.reference, other)
        if is_same(args, self.drawn.args):
            raise DoesNotApply("its inputs do not depend on the seed")
        return self._run(args)

    def _half_precision(self) -> Any:
        if not any(tensor.dtype in _WIDE for tensor in tensors_in(self.expected)):
            raise DoesNotApply("the reference returns no float32")
        for dtype in (torch.float16, torch.bfloat16):
            result = self._run(
                mapped(private(self.drawn.args), lambda tensor: rounded(tensor, dtype)),  # noqa: B023
                mode=RoundedTo(dtype),
                parameters=dtype,
            )
            if _is_as_finite(result, self.expected):
                return result
        return result

    def _off_by_one_tile(self) -> Any:
        if all(tensor.numel() < 2 for tensor in tensors_in(self.expected)):
            raise DoesNotApply("the result has one element")
        return mapped(self.expected, _tile_repeated)

    def _wrong_axis(self) -> Any:
        tampers = list(_other_axes(self._operations()))
        for index, tamper in tampers[:_MOST_TRIES]:
            result = self._tampered(index, tamper)
            if result is not None:
                return result
        if tampers:
            raise DoesNotApply("every other axis changes the shape of the result, or nothing")
        raise DoesNotApply("no operation takes an axis or a square operand")

    def _dropped(self, name: str) -> Any:
        for site, (operation, tamper) in self._dropped_sites():
            if site == name:
                result = self._tampered(operation.index, tamper)
                if result is None:
                    raise DoesNotApply("without it the result is the same, or of another shape")
                if self._is_redundant(operation.index, tamper, result):
                    raise DoesNotApply("in float64 the result is the same without it")
                return result
        raise DoesNotApply("no operation can be left out without changing a shape")

    def _dropped_sites(self) -> list[tuple[str, tuple[Operation, Tamper]]]:
        """Choose what to leave out: one operation of each kind, then their biases."""
        sites: dict[str, tuple[Operation, Tamper]] = {}
        for operation in self._operations():
            if operation.is_droppable:
                sites.setdefault(f"dropped_op: {operation.name}", (operation, dropped))
        for operation in self._operations():
            if operation.has_bias:
                name = f"dropped_op: bias of {operation.name}"
                sites.setdefault(name, (operation, without_bias))
        return list(sites.items())[:MOST_DROPPED]

    def _operations(self) -> list[Operation]:
        if self._found is None:
            recorder = Recorder()
            self._run(self.drawn.args, mode=recorder)
            self._found = recorder.operations
        return self._found

    def _tampered(self, index: int, tamper: Tamper) -> Any:
        """Return the tampered result; None if it fails, changes form, or changes nothing."""
        try:
            result = self._run(self.drawn.args, mode=Tampering(index, tamper))
        except ModuleFault:
            return None
        if not has_same_form(result, self.expected) or is_same(result, self.expected):
            return None
        return result

    def _is_redundant(self, index: int, tamper: Tamper, result: Any) -> bool:
        """Return whether only rounding tells the result from the right one.

        A bias in front of a normalisation cancels: nobody can be blamed for leaving it out.
        """
        if distance(result, self.expected) > _NEAR:
            return False
        exact = run_exact(self.reference, self.workload, self.drawn, self.expected)
        mode = Tampering(index, tamper)
        wide = run_wide(self.reference, self.workload, self.drawn, fresh, mode=mode)
        if exact is None or wide is None or not has_same_form(exact, wide[0]):
            return False
        return distance(wide[0], exact) <= _REDUNDANT

    def _run(
        self,
        args: tuple[Any, ...],
        *,
        mode: AbstractContextManager[Any] | None = None,
        parameters: torch.dtype | None = None,
    ) -> Any:
        module = fresh(self.reference, self.workload, self.drawn)
        if parameters is not None:
            with torch.no_grad():
                for held in (*module.parameters(), *module.buffers()):
                    held.copy_(rounded(held, parameters))
        given = private(args)
        with mode or nullcontext():
            result = self.reference.result_of(module, given, self.workload.seed)
        return private(result)


class RoundedTo(TorchDispatchMode):
    """Rounds the float32 result of every operator to a narrower type while it is entered.

    This is what a kernel gets that keeps its intermediate results in half precision, without
    depending on which half-precision operators this machine has.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one operator and round what it returns."""
        result = func(*args, **(kwargs or {}))
        if func.is_view or torch.Tag.nondeterministic_seeded in func.tags:
            return result
        if "out" in (kwargs or {}) or func._schema.name.endswith("_"):
            return result
        return mapped(result, lambda tensor: rounded(tensor, self._dtype))


def rounded(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a wide floating tensor with values that the narrow type has; others as they are."""
    return tensor.to(dtype).to(tensor.dtype) if tensor.dtype in _WIDE else tensor


def _other_axes(operations: Sequence[Operation]) -> Iterator[tuple[int, Tamper]]:
    """Yield (index, tampering): other axes first, then transposed operands."""
    for operation in operations:
        for by in range(1, operation.axes + 1):
            yield operation.index, along_another_axis(by)
    for operation in operations:
        if operation.can_transpose:
            yield operation.index, transposed


def _flattened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.numel() == 0:
        return tensor
    if tensor.dtype is torch.bool:
        return torch.full_like(tensor, bool(tensor.double().mean() >= 0.5))
    if tensor.is_complex():
        return torch.full_like(tensor, complex(tensor.mean()))
    finite = tensor.double()[torch.isfinite(tensor)]
    mean = float(finite.mean()) if finite.numel() else 0.0
    return torch.full_like(tensor, mean if tensor.is_floating_point() else round(mean))


def _tile_repeated(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.contiguous().reshape(-1).clone()
    tile = min(TILE, flat.numel() // 2)
    if tile:
        stop = _last_difference(flat, tile) + 1
        flat[stop - tile : stop] = flat[stop - 2 * tile : stop - tile].clone()
    return flat.reshape(tensor.shape)


def _last_difference(flat: torch.Tensor, tile: int) -> int:
    """Return the last place at which repeating a tile shows; the last place if none is."""
    wide = flat.double()
    distance = (wide[2 * tile - 1 :] - wide[tile - 1 : -tile]).abs().nan_to_num()
    scale = float(wide[torch.isfinite(wide)].square().mean().sqrt()) if flat.numel() else 0.0
    for least in (_VISIBLE * scale, 0.0):
        places = torch.nonzero(distance > least)
        if places.numel():
            return int(places[-1]) + 2 * tile - 1
    return flat.numel() - 1


def _is_as_finite(result: Any, expected: Any) -> bool:
    pairs = zip(leaves(result), leaves(expected), strict=True)
    return all(
        not isinstance(a, torch.Tensor)
        or not a.is_floating_point()
        or bool((torch.isfinite(a) | ~torch.isfinite(b)).all())
        for (_, a), (_, b) in pairs
    )
