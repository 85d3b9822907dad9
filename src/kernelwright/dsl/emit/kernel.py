"""A kernel as one C++ function that every core calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelwright.dsl.emit.group import GroupPrinter
from kernelwright.dsl.emit.lanes import CPP_TYPE
from kernelwright.dsl.emit.place import Scope, buffer_text, new_scope, size_text
from kernelwright.dsl.emit.whole import single_lines
from kernelwright.dsl.lower.ahead import Ahead, fetched_ahead
from kernelwright.dsl.lower.live import Live, live_after
from kernelwright.dsl.lower.plan import Branch, Group, Loop, Plan, Single
from kernelwright.dsl.nodes import (
    Assign,
    CoreRange,
    Iteration,
    Kernel,
    Range,
    StaticRange,
    Tiles,
)
from kernelwright.dsl.types import DType

SCALAR_TYPE = {DType.F32: "float", DType.I64: "int64_t", DType.BOOL: "bool"}


@dataclass(frozen=True, slots=True)
class KernelPrinter:
    """Prints one kernel.

    Attributes:
        live: For each group, by `id`, the buffers read after it.
        ahead: For each group, by `id`, what it fetches ahead.
    """

    scope: Scope
    live: Mapping[int, Live]
    ahead: Mapping[int, Sequence[Ahead]]

    def plan(self, plan: Plan) -> list[str]:
        """The lines of a plan."""
        return [line for item in plan for line in self._item(item)]

    def _item(self, item: Group | Single | Loop | Branch) -> list[str]:
        match item:
            case Group():
                printer = GroupPrinter(self.scope, item, self.live[id(item)])
                return printer.lines(self.ahead[id(item)])
            case Single(statement=statement):
                return single_lines(self.scope, statement)
            case Loop(over=over, body=body, at=at):
                head, first = self._loop(over)
                lines = [*first, *self.plan(body)]
                return [f"{head} {{  // @dsl:{at.line}", *_indented(lines), "}"]
            case Branch(condition=condition, then=then, orelse=orelse, at=at):
                test = self.scope.scalars.text(condition)
                lines = [f"if ({test}) {{  // @dsl:{at.line}", *_indented(self.plan(then))]
                if orelse:
                    lines += ["} else {", *_indented(self.plan(orelse))]
                return [*lines, "}"]

    def _loop(self, over: Iteration) -> tuple[str, list[str]]:
        """The head of a loop, and the lines that give its variables their values."""
        text = self.scope.scalars.text
        match over:
            case CoreRange(var=var, count=count):
                head = f"for (Share w = share({text(count)}, core, cores); w.from < w.to; ++w.from)"
                return head, [f"const int64_t {var} = w.from;"]
            case Range(var=var, start=start, stop=stop):
                limits = f"int64_t {var} = {text(start)}, last = {text(stop)}"
                return f"for ({limits}; {var} < last; ++{var})", []
            case StaticRange(var=var, count=count):
                return f"for (int64_t {var} = 0; {var} < {text(count)}; ++{var})", []
            case Tiles():
                return self._tiles(over)

    def _tiles(self, over: Tiles) -> tuple[str, list[str]]:
        total, tile = self.scope.scalars.text(over.total), self.scope.scalars.text(over.tile)
        count = f"ceil_div({total}, {tile})"
        share = f"share({count}, core, cores)" if over.is_per_core else f"{{0, {count}}}"
        step = "--w.to" if over.is_reversed else "++w.from"
        number = "(w.to - 1)" if over.is_reversed else "w.from"
        start = f"Share w = {share}" if over.is_per_core else f"Share w{share}"
        return f"for ({start}; w.from < w.to; {step})", [
            f"const int64_t {over.offset} = {number} * {tile};",
            f"const int64_t {over.length} = least((int64_t){tile}, {total} - {over.offset});",
        ]


def kernel_lines(kernel: Kernel, name: str, plan: Plan) -> list[str]:
    """The function of a bound kernel.

    Args:
        name: Its C++ name.
    """
    scope = new_scope(kernel)
    body = KernelPrinter(scope, live_after(plan), fetched_ahead(plan)).plan(plan)
    buffers = [buffer_text(item) for item in kernel.buffers if item.name in scope.in_memory]
    locals_ = {item.name: SCALAR_TYPE[item.value.type] for item in _assigns(plan)}
    declared = [f"{kind} {local} = 0;" for local, kind in locals_.items()]
    for what, tensors in (("far", scope.far), ("big", scope.big)):
        found = [item for item in kernel.tensors if item.name in tensors]
        declared += [size_text(item, scope.scalars, what) for item in found]
    settled = ["settle();"] if scope.far else []
    params = [f"{CPP_TYPE[item.type.dtype]}* {item.name}" for item in kernel.tensors]
    params += [f"int64_t {dim}" for dim in kernel.dims]
    params += [f"{SCALAR_TYPE[item.type]} {item.name}" for item in kernel.scalars]
    params += ["int64_t core", "int64_t cores"]
    return [
        f"static void {name}({', '.join(params)}) {{  // @dsl:{kernel.at.line}",
        *_indented([*buffers, *declared, *body, *settled]),
        "}",
    ]


def _assigns(plan: Plan) -> list[Assign]:
    found: list[Assign] = []
    for item in plan:
        match item:
            case Group(members=members):
                found += [member for member in members if isinstance(member, Assign)]
            case Single(statement=Assign() as statement):
                found.append(statement)
            case Loop(body=body):
                found += _assigns(body)
            case Branch(then=then, orelse=orelse):
                found += [*_assigns(then), *_assigns(orelse)]
    return found


def _indented(lines: list[str]) -> list[str]:
    return [line if line.startswith("#") else f"  {line}" for line in lines]
