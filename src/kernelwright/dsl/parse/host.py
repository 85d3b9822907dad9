"""Host functions, from Python's syntax tree to nodes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from kernelwright.dsl.diagnostics import Diagnostic, Rejected
from kernelwright.dsl.host_nodes import (
    Empty,
    Hole,
    HostAssign,
    HostBlock,
    HostCheck,
    HostIf,
    HostStatement,
    HostValue,
    Launch,
    Reshape,
    Return,
    TensorRef,
    Workspace,
)
from kernelwright.dsl.nodes import (
    ConstParam,
    Expr,
    Kernel,
    Param,
    RefKind,
    ScalarParam,
    TensorParam,
    TensorType,
)
from kernelwright.dsl.parse.host_value import HostValueParser
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import ScalarSymbol, TensorSymbol
from kernelwright.dsl.parse.source import nearest, nearest_one
from kernelwright.dsl.types import DType, Name


@dataclass(slots=True, kw_only=True)
class HostParser(HostValueParser):
    """Parses the body of one host function against the kernels of the file."""

    kernels: Mapping[str, Kernel]
    found: list[Diagnostic]
    returns: tuple[TensorType, ...]

    def block(self, body: list[ast.stmt], *, is_outermost: bool = False) -> HostBlock:
        """Parse the statements of one block; refused ones are reported and left out."""
        nodes: list[HostStatement] = []
        for item in body:
            try:
                if isinstance(item, ast.Return) and not (is_outermost and item is body[-1]):
                    raise self.reject(
                        "E100", item, "return is the last statement of a host function"
                    )
                nodes += self._statement(item)
            except Rejected as error:
                if error.diagnostic.code:
                    self.found.append(error.diagnostic)
                self.scope.lost |= {
                    node.id
                    for node in ast.walk(item)
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                }
        return tuple(nodes)

    def _statement(self, node: ast.stmt) -> list[HostStatement]:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
                return []
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return [self._assign(node, name, value)]
            case ast.If():
                condition = self.condition(node.test)
                return [
                    HostIf(
                        condition,
                        self.block(node.body),
                        self.block(node.orelse),
                        self.at(node.test),
                    )
                ]
            case ast.Expr(value=ast.Call(func=ast.Subscript()) as call):
                return [self._launch(call)]
            case ast.Expr(value=ast.Call() as call) if tl_name(call.func) == "check":
                return [self._check(call)]
            case ast.Return(value=value) if value is not None:
                return [self._return(node, value)]
        raise self.reject(
            "E100",
            node,
            "not a statement of a host function",
            why="host statements: assignments, if / else, tl.check(cond, message), "
            "kernel[cores](...), return",
        )

    def _assign(self, node: ast.stmt, name: str, value: ast.expr) -> HostAssign:
        old = self.scope.symbols.get(name)
        if old is not None and not (isinstance(old, ScalarSymbol) and old.kind is RefKind.LOCAL):
            raise self.reject(
                "E104",
                node,
                f"{name} already names something else",
                why="names: parameters, dimensions and tensors are never assigned",
            )
        parsed = self.value(value)
        match parsed:
            case Empty(type=kind) | Workspace(type=kind) | Reshape(type=kind):
                self.scope.symbols[name] = TensorSymbol(kind)
            case TensorRef():
                raise self.reject("E104", node, "a tensor has one name only")
            case Hole():
                self.scope.symbols[name] = ScalarSymbol(RefKind.LOCAL, DType.I64)
            case _:
                self.scope.symbols[name] = ScalarSymbol(RefKind.LOCAL, parsed.type)
        self.scope.lost.discard(name)
        return HostAssign(Name(name), parsed, self.at(node))

    def _check(self, call: ast.Call) -> HostCheck:
        text = (
            call.args[1].value
            if len(call.args) == 2 and isinstance(call.args[1], ast.Constant)
            else None
        )
        if not isinstance(text, str) or call.keywords:
            raise self.reject("E103", call, "tl.check takes a condition and a message")
        return HostCheck(self.condition(call.args[0]), text, self.at(call))

    def _return(self, node: ast.stmt, value: ast.expr) -> Return:
        items = value.elts if isinstance(value, ast.Tuple) else [value]
        if len(items) != len(self.returns):
            raise self.reject(
                "E103",
                node,
                f"this function gives {len(self.returns)} tensors",
                numbers=f"{len(items)} returned",
            )
        values = tuple(self.tensor(item) for item in items)
        for item, tensor, wants in zip(items, values, self.returns, strict=True):
            self._same_type(item, tensor, wants, "the caller")
        return Return(values, self.at(node))

    # --- launches --------------------------------------------------------------------------------

    def _launch(self, call: ast.Call) -> Launch:
        func = call.func
        assert isinstance(func, ast.Subscript)
        name = (
            func.value.id if isinstance(func.value, ast.Name) else self.source.written(func.value)
        )
        kernel = self.kernels.get(name)
        if kernel is None:
            better = nearest_one(name, self.kernels)
            fix = self.source.replace(self.at(func.value), better) if better else ()
            raise self.reject(
                "" if name in self.scope.lost else "E102",
                func,
                f"unknown kernel {name!r}{nearest(name, self.kernels)}",
                fix=fix,
            )
        cores = self.integer(func.slice, "the number of cores")
        given = self._arguments(call, kernel)
        arguments = tuple(
            (param.name, self._argument(given[param.name.text], param))
            for param in kernel.params
            if param.name.text in given
        )
        for param in kernel.params:
            missing = param.name.text not in given
            if missing and (isinstance(param, TensorParam) or param.default is None):
                code = "E101" if isinstance(param, ConstParam) else "E103"
                raise self.reject(
                    code,
                    call,
                    f"{kernel.name.text} gets no value for {param.name.text}",
                    why="launch: every parameter without a default is given",
                )
        return Launch(kernel.name, cores, arguments, self.at(call))

    def _arguments(self, call: ast.Call, kernel: Kernel) -> dict[str, ast.expr]:
        names = [param.name.text for param in kernel.params]
        if len(call.args) > len(names) or any(isinstance(arg, ast.Starred) for arg in call.args):
            raise self.reject("E103", call, f"{kernel.name.text} has {len(names)} parameters")
        given = dict(zip(names, call.args, strict=False))
        for word in call.keywords:
            if word.arg is None or word.arg not in names or word.arg in given:
                raise self.reject(
                    "E103",
                    word.value,
                    f"{kernel.name.text} has no parameter "
                    f"{word.arg!r} left{nearest(str(word.arg), names)}",
                )
            given[word.arg] = word.value
        return given

    def _argument(self, node: ast.expr, param: Param) -> HostValue:
        value = self.value(node)
        is_tensor = isinstance(value, Empty | Workspace | TensorRef | Reshape)
        if isinstance(param, TensorParam) != is_tensor:
            wants = "a tensor" if isinstance(param, TensorParam) else "a number"
            raise self.reject("E401", node, f"{param.name.text} is {wants}")
        if isinstance(param, TensorParam):
            self._same_type(node, value, param.type, param.name.text)
        elif isinstance(param, ScalarParam) and not isinstance(value, Hole):
            assert not isinstance(value, Empty | Workspace | TensorRef | Reshape)
            self._same_scalar(node, value, param)
        return value

    def _same_type(
        self, node: ast.expr, value: HostValue, wants: TensorType, receiver: str
    ) -> None:
        kind: TensorType | None = None
        match value:
            case TensorRef(name=name):
                symbol = self.scope.symbols[name.text]
                kind = symbol.type if isinstance(symbol, TensorSymbol) else None
            case Empty(type=found) | Workspace(type=found) | Reshape(type=found):
                kind = found
        if kind is None:
            return
        if kind.dtype is not wants.dtype or len(kind.dims) != len(wants.dims):
            raise self.reject(
                "E701",
                node,
                f"{receiver} gets a tensor of another type",
                numbers=f"{wants.dtype} of rank {len(wants.dims)} wanted, "
                f"{kind.dtype} of rank {len(kind.dims)} given",
                why="tensors: element type and rank agree; tl.view changes the shape",
            )

    def _same_scalar(self, node: ast.expr, value: Expr, param: ScalarParam) -> None:
        if param.type is DType.I64 and value.type is not DType.I64:
            raise self.reject("E401", node, f"{param.name.text} is an integer")
        if value.type is DType.BOOL:
            raise self.reject("E401", node, f"{param.name.text} is a number")
