"""Operations that are not elementwise: calls on whole views."""

from __future__ import annotations

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.emit.lanes import CPP_TYPE
from kernelwright.dsl.emit.place import Place, Scope
from kernelwright.dsl.nodes import (
    Assign,
    GlobalSlice,
    Op,
    ReadScalar,
    Reduce,
    Span,
    Statement,
    Store,
    SyncAll,
    View,
)
from kernelwright.dsl.primitive import Kind
from kernelwright.dsl.types import DType

REDUCERS = {
    "reduce_sum": "Sum{}",
    "reduce_max": "Max{}",
    "reduce_min": "Min{}",
    "reduce_prod": "Product{}",
}


def single_lines(scope: Scope, node: Statement) -> list[str]:
    """The lines of a statement that shares no loop."""
    at = f"  // @dsl:{node.at.line}"
    match node:
        case SyncAll():
            return ["settle();", "#pragma omp barrier" + at]
        case Assign(name=name, value=Reduce(source=source)):
            text = f"product({view_text(scope, source)})"
            text = f"(float)(f16){text}" if scope.dtype(source) is DType.F16 else text
            return [f"{name} = {text};{at}"]
        case Assign(name=name, value=ReadScalar(source=source, type=kind)):
            element = f"*({scope.slice_place(source).base})"
            if scope.tensors[source.tensor].type.dtype.is_float:
                return [f"{name} = number({element});{at}"]
            return [f"{name} = ({'float' if kind is DType.F32 else 'int64_t'}){element};{at}"]
        case Assign(name=name, value=value):
            return [f"{name} = {scope.scalars.text(value)};{at}"]
        case Store(target=target, source=source):
            return [f"add_to({slice_view(scope, target)}, {view_text(scope, source)});{at}"]
        case Op():
            return [*_op(scope, node, at)]
    raise AssertionError(f"{type(node).__name__} is part of a group")


def _op(scope: Scope, node: Op, at: str) -> list[str]:
    views = [item for item in node.operands if isinstance(item, View)]
    dest, source = view_text(scope, node.dest), view_text(scope, views[0])
    match node.name:
        case "gather":
            return [f"gather({dest}, {source}, {view_text(scope, views[1])});{at}"]
        case "strided":
            counts = [item for item in node.operands[1:3] if not isinstance(item, View)]
            numbers = [scope.scalars.text(item) for item in counts]
            return [f"strided({dest}, {source}, {', '.join(numbers)});{at}"]
        case "transpose":
            return [f"transpose({dest}, {source});{at}"]
        case "cumsum" | "cumprod":
            return _scan(scope, node, at, (dest, source))
    axis = node.attribute("axis", 1)
    return [f"reduce({dest}, {source}, {axis}, {REDUCERS[node.name]});{at}"]


def _scan(scope: Scope, node: Op, at: str, views: tuple[str, str]) -> list[str]:
    rank = len(node.dest.extent or ())
    axis = 1 if rank == 1 or node.attribute("axis", -1) in (-1, 1) else 0
    call = f"scan<{'true' if node.name == 'cumprod' else 'false'}>"
    kind = CPP_TYPE[scope.dtype(node.dest)]
    for slot, operand in zip(BUILTINS[node.name].slots, node.operands, strict=False):
        if slot.kind is Kind.CARRY and isinstance(operand, View):
            carry = f"const View<{kind}> carry = {view_text(scope, operand)};"
            return [
                "{",
                f"  {carry}",
                f"  {call}({views[0]}, {views[1]}, &carry, {axis});{at}",
                "}",
            ]
    none = f"(const View<{kind}>*)nullptr"
    return [f"{call}({views[0]}, {views[1]}, {none}, {axis});{at}"]


def view_text(scope: Scope, view: View) -> str:
    """A buffer view as a C++ value."""
    sizes = [scope.scalars.text(size) for size in view.extent or ()]
    return _text(CPP_TYPE[scope.dtype(view)], scope.place(view), sizes)


def slice_view(scope: Scope, part: GlobalSlice) -> str:
    """A slice of global memory as a C++ value."""
    sizes = []
    for axis in part.index:
        if isinstance(axis, Span):
            assert axis.start is not None
            assert axis.stop is not None
            length = f"({scope.scalars.text(axis.stop)} - {scope.scalars.text(axis.start)})"
            sizes.append(length if axis.step == 1 else f"ceil_div({length}, {axis.step})")
    dtype = scope.tensors[part.tensor].type.dtype
    return _text(CPP_TYPE[dtype], scope.slice_place(part), sizes)


def _text(kind: str, place: Place, sizes: list[str]) -> str:
    rows = sizes[0] if len(sizes) == 2 else "1"
    return f"View<{kind}>{{{place.base}, {rows}, {sizes[-1]}, {place.pitch}, {place.step}}}"
