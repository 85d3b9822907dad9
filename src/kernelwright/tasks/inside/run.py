"""Runs the reference on private copies: in its own precision, and in float64."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from kernelwright.core.execution import Workload
from kernelwright.core.tensor import leaves
from kernelwright.sandbox.module_fault import ModuleFault
from kernelwright.sandbox.module_host import state_of
from kernelwright.sandbox.torch_tree import is_equal, raw_bytes, tensors_in
from kernelwright.tasks.inside.draw import Drawn, mapped
from kernelwright.tasks.inside.reference import Reference

Maker: TypeAlias = Callable[[Reference, Workload, Drawn], torch.nn.Module]
_NARROW = (torch.float16, torch.bfloat16, torch.float32)


@dataclass(slots=True)
class Outcome:
    """What the reference returned on a workload.

    Attributes:
        eager: Its result.
        exact: The same in float64, None where there is none.
        mutated: Indices of arguments that it wrote to.
    """

    eager: Any
    exact: Any
    mutated: tuple[int, ...]


def run_eager(
    reference: Reference, workload: Workload, drawn: Drawn
) -> tuple[Any, tuple[int, ...]]:
    """Return the reference's result and the arguments it wrote to.

    Raises:
        ModuleFault: if it fails.
    """
    args = private(drawn.args)
    module = fresh(reference, workload, drawn)
    result = reference.result_of(module, args, workload.seed)
    # A result that is a view of an argument, or of a parameter, must not change afterwards.
    return private(result), _mutated(drawn.args, args)


def run_exact(reference: Reference, workload: Workload, drawn: Drawn, eager: Any) -> Any:
    """Return the result in float64, or None where the reference has no such form.

    Whole numbers in it keep their type: an index may differ from the eager one at a tie.
    """
    for make in (fresh, rebuilt):
        # A copy of a module whose functions close over the original computes in float32.
        result = run_wide(reference, workload, drawn, make)
        exact = None if result is None else _exact(eager, result[0])
        if exact is not None:
            return exact
    return None


def fresh(reference: Reference, workload: Workload, drawn: Drawn) -> torch.nn.Module:
    """Return a copy of the module: some keep state between calls, and no run may see another's."""
    try:
        return copy.deepcopy(drawn.module)
    except (RuntimeError, TypeError):
        return rebuilt(reference, workload, drawn)


def rebuilt(reference: Reference, workload: Workload, drawn: Drawn) -> torch.nn.Module:
    """Return a module constructed anew that holds the same parameters and buffers."""
    namespace = reference.namespace(workload.sizes)
    module = reference.module_of(namespace, private(drawn.init), workload.seed)
    source = state_of(drawn.module)
    with torch.no_grad():
        for name, held in state_of(module).items():
            held.copy_(source[name])
    return module


def private(value: Any, *, is_wide: bool = False) -> Any:
    """Return copies of all tensors with equal strides; `is_wide` makes floats float64."""

    def copied(tensor: torch.Tensor) -> torch.Tensor:
        wide = is_wide and tensor.dtype in _NARROW
        dtype = torch.float64 if wide else tensor.dtype
        if tensor.numel() == 0 or any(stride == 0 for stride in tensor.stride()):
            return tensor.detach().to(dtype, copy=True)
        target = torch.empty_strided(tensor.shape, tensor.stride(), dtype=dtype)
        return target.copy_(tensor.detach())

    return mapped(value, copied)


def run_wide(
    reference: Reference,
    workload: Workload,
    drawn: Drawn,
    make: Maker,
    *,
    mode: AbstractContextManager[Any] | None = None,
) -> tuple[Any] | None:
    """Return what a module computes in float64 in a tuple, None if it refuses.

    Args:
        reference: Whose module it is.
        workload: The workload.
        drawn: The same, drawn.
        make: How to get a module of its own: `fresh` or `rebuilt`.
        mode: What to enter around the call.
    """
    before = torch.get_default_dtype()
    try:
        module = _widened(make(reference, workload, drawn))
        torch.set_default_dtype(torch.float64)
        args = private(drawn.args, is_wide=True)
        with mode or nullcontext():
            return (reference.result_of(module, args, workload.seed),)
    except (ModuleFault, RuntimeError, TypeError):
        return None
    finally:
        torch.set_default_dtype(before)


def _widened(module: torch.nn.Module) -> torch.nn.Module:
    for part in module.modules():
        # Tensors that are plain attributes are not moved by Module.double.
        for name, held in vars(part).items():
            if isinstance(held, torch.Tensor) and held.dtype in _NARROW:
                setattr(part, name, held.double())
    return module.double()


def _exact(eager: Any, wide: Any) -> Any:
    left, right = leaves(eager), leaves(wide)
    if [place for place, _ in left] != [place for place, _ in right]:
        return None
    for (_, near), (_, far) in zip(left, right, strict=True):
        if isinstance(near, torch.Tensor) != isinstance(far, torch.Tensor):
            return None
        if isinstance(near, torch.Tensor):
            # A cast to float32 on the way makes the rest no better than the eager result.
            wanted = torch.float64 if near.dtype in _NARROW else near.dtype
            if near.shape != far.shape or far.dtype is not wanted:
                return None
    return private(wide)


def _mutated(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[int, ...]:
    changed = []
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        pairs = zip(tensors_in(old), tensors_in(new), strict=True)
        if not all(a.shape == b.shape and is_equal(raw_bytes(a), raw_bytes(b)) for a, b in pairs):
            changed.append(index)
    return tuple(changed)
