"""Whole files: imports, constants, inline functions, kernels, host functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from kernelwright.dsl.diagnostics import Diagnostic, Rejected
from kernelwright.dsl.host_nodes import Host, Program
from kernelwright.dsl.nodes import Buffer, Kernel, Literal
from kernelwright.dsl.parse.call import CallParser
from kernelwright.dsl.parse.expression import ExpressionParser
from kernelwright.dsl.parse.host import HostParser
from kernelwright.dsl.parse.inline import InlineFunction
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.scope import BufferSymbol, Scope
from kernelwright.dsl.parse.signature import SignatureParser, dims_of
from kernelwright.dsl.parse.source import Source, source_of, syntax_tree
from kernelwright.dsl.parse.statement import SPACES, StatementParser
from kernelwright.dsl.types import Name, Position

IMPORTS = (
    "import kernelwright.language as tl",
    "from kernelwright import language as tl",
    "from __future__ import annotations",
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What parsing gave.

    Attributes:
        source: The text.
        program: The tree; None where anything was refused.
        found: Diagnostics, in source order.
    """

    source: Source
    program: Program | None
    found: tuple[Diagnostic, ...]


@dataclass(slots=True)
class _File:
    source: Source
    found: list[Diagnostic] = field(default_factory=list)
    constants: dict[str, Literal] = field(default_factory=dict)
    inlines: dict[str, InlineFunction] = field(default_factory=dict)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    def scope(self, *, is_host: bool = False) -> Scope:
        return Scope(dict(self.constants), set(self.lost), is_host)

    def add(self, rejected: Rejected) -> None:
        if rejected.diagnostic.code:
            self.found.append(rejected.diagnostic)


def parse(text: str) -> Parsed:
    """Parse a program from its source text; nothing in it is executed.

    Any text gives a result: what cannot be parsed is in `found`, with codes E100 to E105, E401,
    E405 and E701.
    """
    try:
        return _parsed(source_of(text))
    except RecursionError:
        return Parsed(source_of(text), None, (too_deep(),))


def too_deep() -> Diagnostic:
    """The finding for a program that nests deeper than Python's stack."""
    at = Position(1, 1, 1, 2)
    why = "split long expressions into several assignments"
    return Diagnostic("E100", at, "nested too deeply", "", why)


def _parsed(source: Source) -> Parsed:
    file = _File(source)
    try:
        tree = syntax_tree(file.source)
    except Rejected as error:
        return Parsed(file.source, None, (error.diagnostic,))
    functions: dict[str, list[ast.FunctionDef]] = {"inline": [], "kernel": [], "host": []}
    for item in tree.body:
        try:
            _top_level(file, item, functions)
        except Rejected as error:
            file.add(error)
    for item in functions["inline"]:
        params = tuple(arg.arg for arg in item.args.args)
        file.inlines[item.name] = InlineFunction(item.name, params, tuple(item.body))
    for item in functions["kernel"]:
        _guarded(file, item, _kernel)
    for item in functions["host"]:
        _guarded(file, item, _host)
    if not file.found and not file.kernels:
        at = file.source.at(tree)
        file.found.append(
            Diagnostic(
                "E100",
                at,
                "the file has no kernel",
                why="programs: at least one function under @tl.kernel",
            )
        )
    found = tuple(sorted(file.found, key=lambda item: (item.at.line, item.at.col)))
    if found:
        return Parsed(file.source, None, found)
    return Parsed(
        file.source, Program(tuple(file.kernels.values()), tuple(file.hosts.values())), ()
    )


def _top_level(file: _File, item: ast.stmt, functions: dict[str, list[ast.FunctionDef]]) -> None:
    parser = ExpressionParser(file.source, file.scope())
    match item:
        case ast.Expr(value=ast.Constant(value=str())):
            return
        case ast.Import() | ast.ImportFrom():
            if file.source.written(item).split("#")[0].strip() not in IMPORTS:
                raise parser.reject(
                    "E100",
                    item,
                    "a program imports nothing but the language",
                    why=f"imports: {IMPORTS[0]}",
                    fix=file.source.replace(file.source.at(item), IMPORTS[0]),
                )
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            parsed = parser.scalar(value)
            if not isinstance(parsed, Literal):
                raise parser.reject("E100", item, "a constant of the file is a number")
            if name in file.constants:
                raise parser.reject("E104", item, f"{name} is defined twice")
            file.constants[name] = parsed
        case ast.FunctionDef():
            _function(file, parser, item, functions)
        case _:
            raise parser.reject(
                "E100",
                item,
                "not a part of a program",
                why="programs: imports, constants, and functions under @tl.kernel, "
                "@tl.inline or @tl.host",
            )


def _function(
    file: _File,
    parser: ExpressionParser,
    item: ast.FunctionDef,
    functions: dict[str, list[ast.FunctionDef]],
) -> None:
    kinds = [tl_name(decorator) for decorator in item.decorator_list]
    kind = kinds[0] if len(kinds) == 1 else None
    if kind not in functions:
        file.lost.add(item.name)
        raise parser.reject(
            "E100",
            item,
            f"function {item.name} is not under one of @tl.kernel, @tl.inline, @tl.host",
        )
    names = [other.name for group in functions.values() for other in group]
    if item.name in names:
        raise parser.reject("E104", item, f"{item.name} is defined twice")
    functions[kind].append(item)


def _guarded(file: _File, item: ast.FunctionDef, parse_one: object) -> None:
    assert callable(parse_one)
    try:
        parse_one(file, item)
    except Rejected as error:
        file.add(error)
        file.lost.add(item.name)


def _doc(item: ast.FunctionDef) -> tuple[str | None, list[ast.stmt]]:
    first = item.body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return ast.get_docstring(item), item.body[1:]
    return None, item.body


def _kernel(file: _File, item: ast.FunctionDef) -> None:
    scope = file.scope()
    signature = SignatureParser(file.source, scope)
    if item.returns is not None:
        raise signature.reject(
            "E100",
            item.returns,
            "a kernel gives nothing back",
            why="kernels: results are written by tl.store",
        )
    params = signature.params(item.args)
    dims = dims_of(scope)
    doc, body = _doc(item)
    before = len(file.found)
    buffers, rest = _allocations(file, signature, body)
    statements = StatementParser(CallParser(file.source, scope), file.inlines, file.found)
    block = statements.block(rest)
    at = file.source.at(item)
    head = type(at)(item.lineno, at.col, item.lineno, len(file.source.lines[item.lineno - 1]) + 1)
    file.kernels[item.name] = Kernel(Name(item.name), params, dims, buffers, block, doc, head)
    if len(file.found) > before:
        file.lost.discard(item.name)


def _allocations(
    file: _File, signature: SignatureParser, body: list[ast.stmt]
) -> tuple[tuple[Buffer, ...], list[ast.stmt]]:
    """Take the buffer allocations out of the top level of a kernel."""
    buffers: dict[str, Buffer] = {}
    rest: list[ast.stmt] = []
    for item in body:
        match item:
            case ast.Assign(
                targets=[ast.Name(id=name) as target], value=ast.Call(func=func) as call
            ) if tl_name(func) in SPACES:
                try:
                    if name in signature.scope.symbols:
                        raise signature.reject(
                            "E104", target, f"{name} already names something else"
                        )
                    buffers[name] = signature.buffer(target, call, SPACES[str(tl_name(func))])
                    signature.scope.symbols[name] = BufferSymbol(buffers[name])
                except Rejected as error:
                    file.add(error)
                    signature.scope.lost.add(name)
            case _:
                rest.append(item)
    return tuple(buffers.values()), rest


def _host(file: _File, item: ast.FunctionDef) -> None:
    scope = file.scope(is_host=True)
    signature = SignatureParser(file.source, scope)
    params = signature.params(item.args)
    dims = dims_of(scope)
    if item.returns is None:
        raise signature.reject(
            "E100",
            item,
            f"{item.name} does not say what it returns",
            why='host functions: def f(x: "f32[N]") -> "f32[N]":',
        )
    notes = item.returns.elts if isinstance(item.returns, ast.Tuple) else [item.returns]
    signature.is_closed = True
    returns = tuple(signature.tensor_type(note) for note in notes)
    doc, body = _doc(item)
    parser = HostParser(
        file.source,
        scope,
        is_closed=True,
        kernels=file.kernels,
        found=file.found,
        returns=returns,
    )
    if not body or not isinstance(body[-1], ast.Return):
        raise signature.reject(
            "E100",
            item,
            f"{item.name} does not end with return",
            why="host functions: the last statement returns the tensors",
        )
    block = parser.block(body, is_outermost=True)
    at = file.source.at(item)
    head = type(at)(item.lineno, at.col, item.lineno, len(file.source.lines[item.lineno - 1]) + 1)
    file.hosts[item.name] = Host(Name(item.name), params, dims, returns, block, doc, head)
