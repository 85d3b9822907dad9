"""Draws the inputs and parameters of a workload: the official ones, or others of equal form.

Redrawn tensors keep what the task promises about its inputs: labels and masks, probabilities,
zero patterns (triangular matrices), symmetry and order. Integers and bools always stay official,
because they are often indices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from kernelwright.core.execution import Distribution, ParameterDraw, Workload
from kernelwright.sandbox.module_host import state_of
from kernelwright.tasks.inside.reference import Reference

LARGE_SCALE = 100.0
"""Exponentials overflow float32 above 88: a softmax without its maximum must not survive."""
TINY_SCALE = 0.02
"""Small enough for an epsilon of 1e-5 under a root to show; large enough that an honest exp(x) - 1,
whose error near zero is 6e-8, stays within 1e-5 of the output's scale."""
_TIES = (-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0)
_SPECIAL_EVERY = 128
_SAMPLE = 4096
_MOST_LABELS = 16
_ZERO_SHARE = 0.01
_PARAMETER_SPREAD = 0.5
_STATISTICS = ("running_mean", "running_var")
_PAD = 3
_SALT = 0x9E3779B9
_SEED_MASK = (1 << 63) - 1


@dataclass(slots=True)
class Drawn:
    """A workload in the flesh.

    Attributes:
        init: Arguments of the constructor.
        module: The module with the workload's parameters; run copies of it, never itself.
        args: Arguments of `forward`; run copies of them.
    """

    init: tuple[Any, ...]
    module: torch.nn.Module
    args: tuple[Any, ...]


def drawn(reference: Reference, workload: Workload) -> Drawn:
    """Draw a workload; equal workloads give equal bytes.

    Raises:
        ModuleFault: if the task's own code fails.
    """
    namespace = reference.namespace(workload.sizes)
    init = reference.init_of(namespace, workload.seed)
    module = reference.module_of(namespace, init, workload.seed)
    if workload.parameters is ParameterDraw.RANDOMISED:
        _randomise(module, _generator(workload.seed, 1))
    return Drawn(init, module, drawn_args(reference, workload))


def drawn_args(reference: Reference, workload: Workload) -> tuple[Any, ...]:
    """Draw only the arguments of `forward`."""
    args = reference.inputs_of(reference.namespace(workload.sizes), workload.seed)
    generator = _generator(workload.seed, 2)
    if workload.distribution is not Distribution.OFFICIAL:
        args = tuple(
            mapped(arg, lambda tensor: redrawn(tensor, workload.distribution, generator))
            for arg in args
        )
    if workload.is_strided:
        turn = iter(range(workload.seed % 2, 1 << 30))
        args = tuple(mapped(arg, lambda tensor: restrided(tensor, next(turn))) for arg in args)
    return args


def with_other_inputs(workload: Workload, *, turn: int = 1) -> Workload:
    """Return the workload with inputs of another seed."""
    return replace(workload, seed=(workload.seed + turn * _SALT) & _SEED_MASK)


def mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Return a nest of tuples, lists and dicts with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change) for item in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return value


def redrawn(
    official: torch.Tensor, distribution: Distribution, generator: torch.Generator
) -> torch.Tensor:
    """Return a tensor of the same form, drawn otherwise, that keeps what the official one promises.

    Labels, masks and probabilities come back as they are.
    """
    if not is_redrawable(official):
        return official
    values = _values(official, distribution, generator)
    zero = official == 0
    if float(zero.double().mean()) > _ZERO_SHARE:
        values = values.masked_fill(zero, 0.0)
    if official.dim() >= 2 and official.shape[-1] == official.shape[-2]:
        if torch.equal(official, official.mT):
            upper = values.triu()
            values = upper + values.triu(1).mT
    elif official.dim() == 1 and official.numel() > 8 and bool((official.diff() >= 0).all()):
        values = values.sort().values
    return values.to(official.dtype)


def is_redrawable(official: torch.Tensor) -> bool:
    """Return whether a tensor holds free real numbers: no indices, labels, masks, probabilities."""
    if not official.is_floating_point() or official.numel() < 2:
        return False
    sample = official.reshape(-1)[:_SAMPLE].double()
    if torch.equal(sample, sample.round()) and torch.unique(sample).numel() <= _MOST_LABELS:
        return False
    if official.dim() == 0 or official.shape[-1] < 2 or float(sample.min()) < 0:
        return True
    rows = official.reshape(-1, official.shape[-1])[:_SAMPLE].double().sum(-1)
    return not bool(((rows - 1).abs() < 1e-3).all())


def restrided(tensor: torch.Tensor, turn: int) -> torch.Tensor:
    """Return equal values in another layout: transposed storage, or rows with gaps, by turns."""
    if tensor.numel() < 2 or not tensor.is_contiguous():
        return tensor
    shape = tuple(tensor.shape)
    if len(shape) >= 2 and turn % 2 == 0 and min(shape[-2:]) > 1:
        order = (*shape[:-2], shape[-1], shape[-2])
        strides = list(_row_major(order))
        strides[-1], strides[-2] = strides[-2], strides[-1]
    elif len(shape) >= 2:
        strides = list(_row_major((*shape[:-1], shape[-1] + _PAD)))
    else:
        strides = [2]
    target = torch.empty_strided(shape, strides, dtype=tensor.dtype)
    return target.copy_(tensor)


def _values(
    official: torch.Tensor, distribution: Distribution, generator: torch.Generator
) -> torch.Tensor:
    shape = tuple(official.shape)
    wide = torch.float64 if official.dtype is torch.float64 else torch.float32
    if distribution is Distribution.TIES:
        picks = torch.randint(0, len(_TIES), shape, generator=generator)
        return torch.tensor(_TIES, dtype=wide)[picks]
    values = torch.randn(shape, generator=generator, dtype=wide)
    if distribution is Distribution.LARGE:
        return values * LARGE_SCALE
    if distribution is Distribution.TINY:
        return values * TINY_SCALE
    if distribution is Distribution.SPECIAL:
        _sprinkle(values, official.dtype, generator)
    return values


def _sprinkle(values: torch.Tensor, dtype: torch.dtype, generator: torch.Generator) -> None:
    subnormal = torch.finfo(dtype).tiny / 4
    special = (float("inf"), float("-inf"), float("nan"), -0.0, 0.0, subnormal)
    flat = values.view(-1)
    count = min(flat.numel() // 2, max(len(special), flat.numel() // _SPECIAL_EVERY))
    places = torch.randint(0, flat.numel(), (count,), generator=generator)
    kinds = torch.arange(count) % len(special)
    flat[places] = torch.tensor(special, dtype=values.dtype)[kinds]


def _randomise(module: torch.nn.Module, generator: torch.Generator) -> None:
    """Redraw parameters and batch statistics around their official scale.

    Other buffers stay: a causal mask or a position table is part of the operator, and a kernel may
    compute it instead of reading it.
    """
    learned = {id(parameter) for parameter in module.parameters()}
    with torch.no_grad():
        for name, held in state_of(module).items():
            is_statistic = name.rpartition(".")[2] in _STATISTICS
            if held.is_floating_point() and (id(held) in learned or is_statistic):
                held.copy_(_around(held, generator))
                if name.endswith("running_var"):
                    held.abs_().add_(0.1)


def _around(held: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    noise = torch.randn(tuple(held.shape), generator=generator)
    wide = held.detach().double()
    spread = float(wide.std(correction=0)) if held.numel() > 1 else 0.0
    # Constants (zero biases, scales of one) are the values that a candidate could leave out.
    return noise * (spread or _PARAMETER_SPREAD) + float(wide.mean()) if held.numel() else held


def _row_major(shape: tuple[int, ...]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]


def _generator(seed: int, stream: int) -> torch.Generator:
    return torch.Generator().manual_seed((seed * 4 + stream) & _SEED_MASK)
