"""Host functions in the program tree: shapes, schedule holes and launches around the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kernelwright.dsl.nodes import Expr, Kernel, Param, TensorType
from kernelwright.dsl.types import NOWHERE, Name, Position


@dataclass(frozen=True, slots=True)
class Hole:
    """A schedule hole, `tl.param(name, default=...)`: a search or a schedule file may give another
    value that respects `multiple_of`, `choices`, `minimum` and `maximum`."""

    name: str
    default: int
    multiple_of: int | None = None
    choices: tuple[int, ...] | None = None
    minimum: int | None = None
    maximum: int | None = None
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Empty:
    """`tl.empty(type)`: a new tensor whose content is not defined."""

    type: TensorType
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Workspace:
    """`tl.workspace(type, zero=False)`: scratch in global memory for this call only."""

    type: TensorType
    is_zero: bool = False
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class TensorRef:
    """A tensor that the host function holds: a parameter or one it made."""

    name: Name
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Reshape:
    """`tl.view(x, type)`: the same elements in the same order under another shape."""

    source: TensorRef
    type: TensorType
    at: Position = field(default=NOWHERE, compare=False)


Tensor: TypeAlias = Empty | Workspace | TensorRef | Reshape
HostValue: TypeAlias = Expr | Hole | Tensor


@dataclass(frozen=True, slots=True)
class HostAssign:
    """Give a host name a value."""

    name: Name
    value: HostValue
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """`kernel[cores](...)`. A full sync of global memory before and after.

    Attributes:
        arguments: One a kernel parameter that the call gives, by parameter name, in the kernel's
            order; a parameter not named here takes its default.
    """

    kernel: Name
    cores: Expr
    arguments: tuple[tuple[Name, HostValue], ...]
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class HostIf:
    """`condition` is a BOOL scalar of dims, parameters and host names."""

    condition: Expr
    then: HostBlock
    orelse: HostBlock = ()
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class HostCheck:
    """`tl.check(condition, message)`: refuse the call with `message` unless it holds."""

    condition: Expr
    message: str
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """The last statement of a host function: the tensors it gives back."""

    values: tuple[Tensor, ...]
    at: Position = field(default=NOWHERE, compare=False)


HostStatement: TypeAlias = HostAssign | Launch | HostIf | HostCheck | Return
HostBlock: TypeAlias = tuple[HostStatement, ...]


@dataclass(frozen=True, slots=True)
class Host:
    """A host function: integer arithmetic, tensors, launches.

    Attributes:
        dims: Dimension names of the parameters, in order of first appearance.
        returns: Types of the tensors given back.
    """

    name: Name
    params: tuple[Param, ...]
    dims: tuple[Name, ...]
    returns: tuple[TensorType, ...]
    body: HostBlock
    doc: str | None = None
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """One source file: its kernels and host functions, in order, inline functions expanded and
    module constants replaced by their values."""

    kernels: tuple[Kernel, ...]
    hosts: tuple[Host, ...] = ()

    def kernel(self, name: str) -> Kernel:
        """The kernel called `name` in the source.

        Raises:
            KeyError: if there is none.
        """
        return {kernel.name.text: kernel for kernel in self.kernels}[name]

    def host(self, name: str) -> Host:
        """The host function called `name` in the source.

        Raises:
            KeyError: if there is none.
        """
        return {host.name.text: host for host in self.hosts}[name]
