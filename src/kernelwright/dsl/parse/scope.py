"""What the names of one function stand for while it is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.dsl.nodes import (
    Buffer,
    ConstParam,
    Expr,
    Literal,
    RefKind,
    ScalarParam,
    TensorParam,
    TensorType,
)
from kernelwright.dsl.types import DType


@dataclass(frozen=True, slots=True)
class ScalarSymbol:
    """A name that stands for a scalar.

    Attributes:
        first: For a scalar of the body, the value it was first given.
    """

    kind: RefKind
    type: DType
    first: Expr | None = None


@dataclass(frozen=True, slots=True)
class TensorSymbol:
    """A name that stands for a tensor in global memory."""

    type: TensorType


@dataclass(frozen=True, slots=True)
class BufferSymbol:
    """A name that stands for an on-chip buffer."""

    buffer: Buffer


Symbol = ScalarSymbol | TensorSymbol | BufferSymbol | Literal


@dataclass(slots=True)
class Scope:
    """Names of one kernel or host function.

    Attributes:
        symbols: What each name stands for; module constants are literals.
        lost: Names whose definition was refused: a use of one is not a second error.
        is_host: True in a host function.
    """

    symbols: dict[str, Symbol] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    is_host: bool = False

    def declare(self, param: TensorParam | ConstParam | ScalarParam) -> None:
        """Add a parameter."""
        match param:
            case TensorParam(name=name, type=tensor_type):
                self.symbols[name.text] = TensorSymbol(tensor_type)
            case ConstParam(name=name, default=default):
                self.symbols[name.text] = ScalarSymbol(RefKind.CONST, const_type(default))
            case ScalarParam(name=name, type=scalar_type):
                self.symbols[name.text] = ScalarSymbol(RefKind.PARAM, scalar_type)

    def scalar_names(self) -> list[str]:
        """Names usable in a scalar expression."""
        return [
            name
            for name, symbol in self.symbols.items()
            if isinstance(symbol, ScalarSymbol | Literal)
        ]

    def buffer_names(self) -> list[str]:
        """Names of buffers."""
        return [name for name, symbol in self.symbols.items() if isinstance(symbol, BufferSymbol)]

    def tensor_names(self) -> list[str]:
        """Names of tensors."""
        return [name for name, symbol in self.symbols.items() if isinstance(symbol, TensorSymbol)]


def const_type(default: int | float | bool | None) -> DType:
    """Type of a compile-time parameter: that of its default, an integer where it has none."""
    if isinstance(default, bool):
        return DType.BOOL
    return DType.F32 if isinstance(default, float) else DType.I64
