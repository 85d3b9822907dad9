"""Prints `model.py`: `ModelNew` checks, allocates and calls the kernels; it computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernelwright.core.errors import NotCovered
from kernelwright.synth.constructor import Constructor
from kernelwright.synth.emit import scalars
from kernelwright.synth.graph import Placeholder, Source, Structure
from kernelwright.synth.nest import size_name
from kernelwright.synth.program import Program, Use
from kernelwright.synth.sizes import Size, holder, shape_text, sizes_of
from kernelwright.synth.source import parameters

_HEAD = '''\
{imports}

def _checked(tensor, shape, dtype):
    """Return the tensor in row-major order; the kernel was written for this shape and dtype."""
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        found = f"{{tensor.dtype}} {{tuple(tensor.shape)}}"
        raise ValueError(f"this kernel expects {{dtype}} {{shape}}, not {{found}}")
    return tensor.contiguous()

'''


Calls = Sequence[tuple[str, tuple[str, ...]]]
"""Functions of the C++ with their arguments as text, in the order in which they run."""


def model_source(program: Program, constructor: Constructor, *, calls: Calls) -> str:
    """Return the Python text of a program's module.

    Raises:
        NotCovered: if its arguments or sizes cannot be found at run time.
    """
    body = [f"        {line}" if line else "" for line in _forward(program, constructor, calls)]
    signature = constructor.forward_signature(program.canonical.arguments)
    lines = [
        _HEAD.format(imports="\n".join(_imports(constructor))),
        *constructor.helpers,
        "class ModelNew(nn.Module):",
        *constructor.init(has_state=_has_state(program)),
        f"    def forward({signature}):",
        *body,
        "",
    ]
    return "\n".join(lines)


def _imports(constructor: Constructor) -> list[str]:
    standard = ["import kernel_ops", "import torch", "from torch import nn"]
    return [*standard, *(line for line in constructor.imports if line not in standard), ""]


def _has_state(program: Program) -> bool:
    sources = {p.source for p in program.canonical.placeholders.values()}
    return bool(sources & {Source.PARAMETER, Source.BUFFER})


def _forward(program: Program, constructor: Constructor, calls: Calls) -> Iterator[str]:
    canonical = program.canonical
    names, axes = parameters(program)
    shapes = [output.value.shape for output in canonical.outputs]
    shapes += [canonical.shapes[name] for name in names if name in canonical.placeholders]
    wanted = [*axes, *canonical.axes.primes(a for shape in shapes for d in shape for a in d)]
    sizes = _needed(sizes_of(canonical, names, wanted), wanted)
    numbers = scalars(program)
    for index, value in canonical.baked:
        yield from _baked(constructor.argument(index), value)
    shown = set(names) | {p.name for p in canonical.placeholders.values() if _is_asked(p, sizes)}
    tensors = [p for p in canonical.placeholders.values() if p.name in shown - numbers]
    for tensor in tensors:
        yield f"{holder(tensor)} = {_origin(tensor, constructor)}"
    for size in sizes:
        yield f"{size_name(size.axis)} = {size.text}"
    for tensor in tensors:
        if tensor.name in names:
            shape = shape_text(canonical, canonical.shapes[tensor.name])
            yield f"{tensor.name} = _checked({holder(tensor)}, {shape}, torch.{tensor.dtype})"
    for number in canonical.placeholders.values():
        if number.name in numbers and number.name in names:
            yield f"{number.name} = float({_origin(number, constructor)})"
    yield from _allocated(program)
    for function, arguments in calls:
        yield f"kernel_ops.{function}({', '.join(arguments)})"
    yield f"return {_returned(canonical.structure, iter(program.returned))}"


def _allocated(program: Program) -> Iterator[str]:
    canonical = program.canonical
    for output, name in zip(canonical.outputs, program.returned, strict=False):
        shape = shape_text(canonical, output.value.shape)
        yield f"{name} = torch.empty({shape}, dtype=torch.{program.buffers[name].dtype})"
    for buffer in program.buffers.values():
        if buffer.use is Use.SCRATCH:
            shape = shape_text(canonical, tuple((axis,) for axis in buffer.axes))
            yield f"{buffer.name} = torch.empty({shape}, dtype=torch.{buffer.dtype})"


def _needed(sizes: tuple[Size, ...], wanted: list[int]) -> tuple[Size, ...]:
    """Keep the sizes that are wanted, and those that these are computed from."""
    keep = {size_name(axis) for axis in wanted}
    for size in reversed(sizes):
        if size_name(size.axis) in keep and "//" in size.text:
            keep.update(size.text.replace("(", " ").replace(")", " ").split())
    return tuple(size for size in sizes if size_name(size.axis) in keep)


def _is_asked(placeholder: Placeholder, sizes: tuple[Size, ...]) -> bool:
    return any(size.text.startswith(f"{holder(placeholder)}.") for size in sizes)


def _baked(argument: str, value: object) -> Iterator[str]:
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise NotCovered(f"the argument {argument!r} is a container", fix="pass tensors instead")
    yield f"if {argument} != {value!r}:"
    yield f'    raise ValueError("this kernel was written for {argument} = {value!r}")'


def _origin(placeholder: Placeholder, constructor: Constructor) -> str:
    if isinstance(placeholder.key, int):
        return constructor.argument(placeholder.key)
    parts = placeholder.key.split(".")
    return "self" + "".join(f"[{p}]" if p.isdigit() else f".{p}" for p in parts)


def _returned(structure: Structure, names: Iterator[str]) -> str:
    if structure.kind == "tensor":
        return next(names)
    items = [_returned(item, names) for item in structure.items]
    if structure.kind == "dict":
        pairs = zip(structure.keys, items, strict=True)
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in pairs) + "}"
    if structure.kind == "list":
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
