"""How a lowered host function is called: what a `model.py` or a test must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kernelwright.dsl.bind import Number
from kernelwright.dsl.evaluate import evaluate
from kernelwright.dsl.launch import bind_dims
from kernelwright.dsl.nodes import Expr, Param, TensorParam
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.types import DType


class Role(StrEnum):
    """What an argument of the C function is."""

    TENSOR = "tensor"
    """Pointer to a contiguous tensor parameter; written too where it is `inout`."""
    OUTPUT = "output"
    """Pointer to memory for a tensor that is returned; the caller allocates it."""
    DIM = "dim"
    """int64_t value of a dimension name."""
    SCALAR = "scalar"
    """int64_t or double value of a scalar parameter."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the C function, in order.

    Attributes:
        name: Name in the program; outputs are `out0`, `out1`, ...
        dtype: Element type; I64 for int64_t and F32 for double scalars.
        dims: Sizes of a tensor, as expressions over dims, scalars and `consts`.
        is_written: True where the function writes through the pointer.
        default: Default of a scalar parameter, None where it has none.
    """

    name: str
    role: Role
    dtype: DType
    dims: tuple[Expr, ...] = ()
    is_written: bool = False
    default: Number | None = None

    @property
    def shape_text(self) -> tuple[str, ...]:
        """The sizes as Python text over the dimension names, such as `H + 2 * P`."""
        return tuple(expression_text(size) for size in self.dims)


@dataclass(frozen=True, slots=True)
class Signature:
    """The C function `extern "C" void NAME(tensors, outputs, dims, scalars)`.

    A second function `void NAME_check(dims, scalars, int64_t* line)` gives 0, or the line of the
    program whose condition (`tl.check`, `tl.require`, equal dimensions) is false; then NAME does
    nothing. Nor does it where two tensors share memory and one of them is written: a third function
    `void NAME_apart(tensors, outputs, dims, scalars, int64_t* line)` gives the line of the second.

    Attributes:
        name: Name of the C function.
        arguments: Its arguments in order.
        returns: For each tensor that the host function returns, the name of the argument that
            holds it: an output, or a tensor parameter.
        consts: Values of the compile-time parameters, which are built in.
        params: The host function's own parameters.
    """

    name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    consts: Mapping[str, Number]
    params: tuple[Param, ...]

    def of_role(self, role: Role) -> tuple[Argument, ...]:
        """The arguments of one role, in order."""
        return tuple(item for item in self.arguments if item.role is role)

    def dims(self, arguments: Sequence[Any]) -> dict[str, int]:
        """Values of the dimension names, from the host function's arguments.

        Raises:
            LaunchRefused: with E701 where shapes disagree.
        """
        return bind_dims(self.params, {**self.consts, **self.given(arguments)})

    def given(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """The host function's arguments by name, defaults filled in, without compile-time ones."""
        kept = [item for item in self.params if item.name.text not in self.consts]
        values = {
            item.name.text: item.default for item in kept if not isinstance(item, TensorParam)
        }
        values.update(zip((item.name.text for item in kept), arguments, strict=False))
        return values

    def shape(self, argument: Argument, names: Mapping[str, Number]) -> tuple[int, ...]:
        """Sizes of a tensor argument under values of dims and scalars."""
        return tuple(int(evaluate(size, {**self.consts, **names})) for size in argument.dims)


@dataclass(frozen=True, slots=True)
class CppFiles:
    """What lowering to C++ gives.

    Attributes:
        files: Content by file name; `kernel.cpp` is complete.
        signature: How to call it.
    """

    files: Mapping[str, str]
    signature: Signature
