"""Host functions at work: shapes bound to names, conditions checked, kernels launched.

The arrays are whatever the caller uses (they need `shape` and `reshape`); what a launch does with
them is the caller's: the interpreter runs it, the C++ back end calls the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernelwright.dsl.bind import Number
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.host_nodes import (
    Empty,
    Hole,
    Host,
    HostAssign,
    HostBlock,
    HostCheck,
    HostIf,
    HostValue,
    Launch,
    Program,
    Reshape,
    Return,
    TensorRef,
    Workspace,
)
from kernelwright.dsl.nodes import (
    Kernel,
    Param,
    Ref,
    RefKind,
    Require,
    TensorParam,
    TensorType,
)
from kernelwright.dsl.print_expression import expression_text, type_text
from kernelwright.dsl.types import DType


class HostArray(Protocol):
    """What a host function needs of a tensor."""

    @property
    def shape(self) -> Sequence[int]:
        """Sizes, outermost first."""
        ...

    def reshape(self, *shape: Any) -> Any:
        """The same elements in the same order under another shape."""
        ...


Allocate = Callable[[DType, tuple[int, ...], bool], Any]
"""Makes a tensor: element type, shape, and whether it is zero (else its content is not defined)."""


@dataclass(frozen=True, slots=True)
class LaunchCall:
    """One launch, all names bound.

    Attributes:
        kernel: The kernel, its compile-time parameters not replaced yet.
        cores: Number of cores, at least 1.
        consts: Values of the compile-time parameters.
        scalars: Values of the run-time scalar parameters.
        dims: Values of the dimension names.
        tensors: One array a tensor parameter, by name, of the parameter's rank.
    """

    kernel: Kernel
    cores: int
    consts: Mapping[str, Number]
    scalars: Mapping[str, Number]
    dims: Mapping[str, int]
    tensors: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Device:
    """What a host function may ask of the machine.

    Attributes:
        cores: Number of vector cores.
        ub_bytes: Bytes of vector memory a core.
    """

    cores: int = 1
    ub_bytes: int = 196608


def run_host(
    program: Program,
    name: str,
    arguments: Sequence[Any],
    *,
    launch: Callable[[LaunchCall], None],
    allocate: Allocate,
    device: Device = Device(),
    schedule: Mapping[str, int] | None = None,
) -> tuple[Any, ...]:
    """Call the host function `name` and return the tensors it gives.

    Args:
        arguments: One a parameter, in order; trailing ones with defaults may be left out.
        launch: Runs one launch to its end.
        schedule: Values of schedule holes by name; others take their defaults.

    Raises:
        LaunchRefused: with E701 where shapes disagree, E702 where a condition is false.
        KeyError: if there is no such host function.
    """
    host = program.host(name)
    names = _bound_arguments(host, arguments)
    names.update({"tl.num_cores": device.cores, "tl.ub_bytes": device.ub_bytes})
    call = _HostCall(program, names, launch, allocate, schedule or {})
    result = call.block(host.body)
    if result is None:
        raise LaunchRefused("E701", f"{name} returned nothing", fix="end it with return")
    for kind, array in zip(host.returns, result, strict=True):
        wants = tuple(int(evaluate(dim, names)) for dim in kind.dims)
        if tuple(array.shape) != wants:
            raise LaunchRefused(
                "E701",
                f"{name} returns shape {tuple(array.shape)}, declared {type_text(kind)} is {wants}",
                fix="make the type of the result and the returned tensor agree",
            )
    return tuple(result)


def _bound_arguments(host: Host, arguments: Sequence[Any]) -> dict[str, Any]:
    if len(arguments) > len(host.params):
        raise LaunchRefused(
            "E701",
            f"{host.name.text} takes {len(host.params)} arguments, {len(arguments)} given",
            fix="see its parameters",
        )
    names: dict[str, Any] = {}
    for number, param in enumerate(host.params):
        if number < len(arguments):
            names[param.name.text] = arguments[number]
        elif isinstance(param, TensorParam) or param.default is None:
            raise LaunchRefused(
                "E701", f"{host.name.text} gets no value for {param.name.text}", fix="give one"
            )
        else:
            names[param.name.text] = param.default
    names.update(bind_dims(host.params, names))
    return names


def bind_dims(params: Sequence[Param], given: Mapping[str, Any]) -> dict[str, int]:
    """Values of the dimension names of `params`, from the shapes of the arrays in `given`.

    Args:
        given: Arrays and scalars by parameter name.

    Raises:
        LaunchRefused: with E701 where ranks, repeated names or expressions disagree.
    """
    dims: dict[str, int] = {}
    tensors = [param for param in params if isinstance(param, TensorParam)]
    for param in tensors:
        shape = tuple(given[param.name.text].shape)
        if len(shape) != len(param.type.dims):
            raise LaunchRefused(
                "E701",
                f"{param.name.text} has shape {shape}, its type is {type_text(param.type)}",
                fix="reshape it",
            )
        for dim, size in zip(param.type.dims, shape, strict=True):
            if not isinstance(dim, Ref) or dim.kind is not RefKind.DIM:
                continue
            if dims.setdefault(dim.name.text, int(size)) != size:
                raise LaunchRefused(
                    "E701",
                    f"{dim.name.text} is {dims[dim.name.text]} and {size}: "
                    f"{param.name.text} has shape {shape}",
                    fix="give tensors that agree",
                )
    scalars = {
        param.name.text: given[param.name.text]
        for param in params
        if not isinstance(param, TensorParam)
    }
    for param in tensors:
        _check_dims(param.name.text, param.type, given[param.name.text].shape, {**scalars, **dims})
    return dims


def _check_dims(
    name: str, kind: TensorType, shape: Sequence[int], names: Mapping[str, Number]
) -> None:
    for dim, size in zip(kind.dims, shape, strict=True):
        wants = evaluate(dim, names)
        if wants != size:
            raise LaunchRefused(
                "E701",
                f"{name} has shape {tuple(shape)}: {expression_text(dim)} is {wants}, not {size}",
                fix="give a tensor of that shape",
            )


def bound_launch(kernel: Kernel, cores: int, given: Mapping[str, Any]) -> LaunchCall:
    """A launch of `kernel` with every name bound and every `tl.require` checked.

    Args:
        given: Arrays and scalars by parameter name; parameters not named take their defaults.

    Raises:
        LaunchRefused: with E701 where shapes disagree, E702 where a requirement is false.
    """
    values: dict[str, Any] = {}
    for param in kernel.params:
        value = given.get(param.name.text)
        if value is None and not isinstance(param, TensorParam):
            value = param.default
        if value is None:
            raise LaunchRefused(
                "E701", f"{kernel.name.text} gets no value for {param.name.text}", fix="give one"
            )
        values[param.name.text] = value
    dims = bind_dims(kernel.params, values)
    for name, size in dims.items():
        if size < 1:
            raise LaunchRefused(
                "E701",
                f"{name} is {size}; {kernel.name.text} needs at least 1",
                fix="launch it on min(cores, elements) cores, which is none for empty tensors",
            )
    consts = {item.name.text: values[item.name.text] for item in kernel.consts}
    scalars = {item.name.text: values[item.name.text] for item in kernel.scalars}
    for statement in kernel.body:
        if isinstance(statement, Require) and not evaluate(
            statement.condition, {**dims, **consts, **scalars, "tl.num_cores": cores}
        ):
            text = expression_text(statement.condition)
            raise LaunchRefused(
                "E702",
                f"{kernel.name.text} requires {text}, which is false for { {**dims, **consts} }",
                fix="choose another schedule or kernel",
            )
    tensors = {item.name.text: values[item.name.text] for item in kernel.tensors}
    return LaunchCall(kernel, max(1, cores), consts, scalars, dims, tensors)


@dataclass(slots=True)
class _HostCall:
    program: Program
    names: dict[str, Any]
    launch: Callable[[LaunchCall], None]
    allocate: Allocate
    schedule: Mapping[str, int]

    def block(self, block: HostBlock) -> list[Any] | None:
        """Run the statements; the tensors of `return` where one is met."""
        for statement in block:
            match statement:
                case HostAssign(name=name, value=value):
                    self.names[name.text] = self.value(value)
                case Launch():
                    self._launch(statement)
                case HostIf(condition=condition, then=then, orelse=orelse):
                    self.block(then if evaluate(condition, self.names) else orelse)
                case HostCheck(condition=condition, message=message):
                    if not evaluate(condition, self.names):
                        raise LaunchRefused(
                            "E702",
                            f"{message} ({expression_text(condition)} is false)",
                            fix="call it with other shapes",
                        )
                case Return(values=values):
                    return [self.value(item) for item in values]
        return None

    def _launch(self, node: Launch) -> None:
        kernel = self.program.kernel(node.kernel.text)
        given = {name.text: self.value(value) for name, value in node.arguments}
        cores = int(evaluate(node.cores, self.names))
        if cores >= 1:
            self.launch(bound_launch(kernel, cores, given))

    def value(self, node: HostValue) -> Any:
        """Value of a tensor, a schedule hole or a scalar."""
        match node:
            case Hole():
                return hole_value(node, self.schedule)
            case TensorRef(name=name):
                if name.text not in self.names:
                    raise LaunchRefused(
                        "E701",
                        f"{name.text} was not made on this path",
                        fix="make it before the if",
                    )
                return self.names[name.text]
            case Empty(type=kind):
                return self.allocate(kind.dtype, self._shape(kind), False)
            case Workspace(type=kind, is_zero=is_zero):
                return self.allocate(kind.dtype, self._shape(kind), is_zero)
            case Reshape(source=source, type=kind):
                return self._reshaped(self.value(source), kind)
            case _:
                return evaluate(node, self.names)

    def _shape(self, kind: TensorType) -> tuple[int, ...]:
        shape = tuple(int(evaluate(dim, self.names)) for dim in kind.dims)
        if any(size < 0 for size in shape):
            raise LaunchRefused(
                "E701", f"{type_text(kind)} is {shape}", fix="check the shapes first"
            )
        return shape

    def _reshaped(self, array: Any, kind: TensorType) -> Any:
        shape = self._shape(kind)
        if _count(array.shape) != _count(shape):
            raise LaunchRefused(
                "E701",
                f"{tuple(array.shape)} cannot be viewed as {shape}",
                fix="a view keeps the number of elements",
            )
        return array.reshape(shape)


def _count(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= int(size)
    return total


def hole_value(hole: Hole, schedule: Mapping[str, int]) -> int:
    """The value a schedule gives to a hole, or its default.

    Raises:
        LaunchRefused: with E702 where the value breaks the hole's own limits.
    """
    value = schedule.get(hole.name, hole.default)
    if not hole_admits(hole, value):
        raise LaunchRefused(
            "E702",
            f"{hole.name}={value} is outside the limits of the hole",
            fix=f"its default is {hole.default}",
        )
    return value


def hole_admits(hole: Hole, value: int) -> bool:
    """True where `value` respects multiple_of, choices, min and max."""
    return (
        (hole.multiple_of is None or (hole.multiple_of > 0 and value % hole.multiple_of == 0))
        and (hole.choices is None or value in hole.choices)
        and (hole.minimum is None or value >= hole.minimum)
        and (hole.maximum is None or value <= hole.maximum)
    )


__all__ = [
    "Device",
    "LaunchCall",
    "LaunchRefused",
    "bind_dims",
    "bound_launch",
    "hole_admits",
    "hole_value",
    "run_host",
]
