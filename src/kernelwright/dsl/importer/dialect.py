"""The importer: a compatibility tool, not a second language.

Takes:   kernels with pointer arithmetic (`tl.load(ptr + base + tl.arange(0, n), ub)`), `v*` and
         `v*_scalar` operations, work buffers, `alloc_ub`, `extract_scalar` and `program_id`.
Gives:   source text of this language: pointers become flat tensors, work buffers are dropped,
         `program_id` is `core_id`; and the result of checking it.
Leaves:  host functions (they are torch code), and what the checks find: in this dialect a row
         stride of `tile_length * n_tiles` and a whole tile read at the tail are easy to write.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from kernelwright.dsl.check.program import CheckResult, check_source
from kernelwright.dsl.diagnostics import Diagnostic, Rejected, Severity
from kernelwright.dsl.importer.names import DTYPES, OPERATIONS, REDUCTIONS
from kernelwright.dsl.parse.reporter import tl_name
from kernelwright.dsl.parse.source import Source, source_of, syntax_tree
from kernelwright.dsl.print_program import IMPORT


@dataclass(frozen=True, slots=True)
class Imported:
    """What importing gave.

    Attributes:
        text: Source of this language; "" where nothing could be imported.
        notes: What was dropped, assumed or not understood, at lines of the original.
        result: Result of checking `text`; None where there is none.
    """

    text: str
    notes: tuple[Diagnostic, ...]
    result: CheckResult | None


def import_dialect(text: str, *, file: str = "imported.py") -> Imported:
    """Rewrite a program of the dialect and check it; any text gives a result.

    Args:
        file: Name shown in diagnostics of the rewritten program.
    """
    source = source_of(text)
    try:
        tree = syntax_tree(source)
    except Rejected as error:
        return Imported("", (error.diagnostic,), None)
    notes: list[Diagnostic] = []
    parts = [IMPORT]
    for item in tree.body:
        if isinstance(item, ast.FunctionDef) and _is_kernel(item):
            kernel = _Kernel(source, notes)
            parts.append(kernel.rewritten(item))
        elif isinstance(item, ast.FunctionDef):
            notes.append(_note(source, item, f"host function {item.name} is not imported"))
    if len(parts) == 1:
        at = source.at(tree)
        notes.append(Diagnostic("E100", at, "no kernel was found: none calls tl.load or tl.store"))
        return Imported("", tuple(notes), None)
    result = "\n\n\n".join(parts) + "\n"
    return Imported(result, tuple(notes), check_source(result, file=file))


def _is_kernel(item: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Call) and tl_name(node.func) in ("load", "store")
        for node in ast.walk(item)
    )


def _note(source: Source, node: ast.AST, what: str, numbers: str = "") -> Diagnostic:
    return Diagnostic("E100", source.at(node), what, numbers, "", (), Severity.WARNING)


@dataclass(slots=True)
class _Kernel:
    """Rewrites one kernel."""

    source: Source
    notes: list[Diagnostic]
    pointers: dict[str, str] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    extents: dict[str, str] = field(default_factory=dict)
    work: set[str] = field(default_factory=set)
    scalars: dict[str, str] = field(default_factory=dict)

    def rewritten(self, item: ast.FunctionDef) -> str:
        """The kernel as source text of this language."""
        self._find_buffers(item)
        self._find_pointers(item)
        self._find_work(item)
        constants = self._shape_names(item)
        params = ", ".join(self._param(arg, constants) for arg in item.args.args)
        lines = ["@tl.kernel", f"def {item.name}({params}):"]
        lines += ["    " + line for line in self._block(item.body)]
        return "\n".join(lines)

    # --- what the names are ----------------------------------------------------------------------

    def _find_buffers(self, item: ast.FunctionDef) -> None:
        for node in ast.walk(item):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if tl_name(
                    call.func
                ) in ("alloc_ub", "alloc"):
                    self.buffers[name] = self._dtype(call)

    def _dtype(self, call: ast.Call) -> str:
        words = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "dtype")]
        for word in words:
            text = word.value if isinstance(word, ast.Constant) else tl_name(word)
            if isinstance(text, str) and text in DTYPES:
                return DTYPES[text]
        self.notes.append(_note(self.source, call, "no element type given: f32 assumed"))
        return "f32"

    def _find_pointers(self, item: ast.FunctionDef) -> None:
        params = {arg.arg for arg in item.args.args}
        for node in ast.walk(item):
            if not isinstance(node, ast.Call) or tl_name(node.func) not in ("load", "store"):
                continue
            if len(node.args) < 2:
                continue
            buffer = node.args[1].id if isinstance(node.args[1], ast.Name) else ""
            for name in _terms(node.args[0]):
                if isinstance(name, ast.Name) and name.id in params and _is_pointer(name.id, node):
                    self.pointers.setdefault(name.id, self.buffers.get(buffer, "f32"))

    def _find_work(self, item: ast.FunctionDef) -> None:
        used: dict[str, int] = {}
        as_work: dict[str, int] = {}
        for node in ast.walk(item):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used[node.id] = used.get(node.id, 0) + 1
            if isinstance(node, ast.Call) and tl_name(node.func) in REDUCTIONS:
                for arg in node.args[2:]:
                    if isinstance(arg, ast.Name):
                        as_work[arg.id] = as_work.get(arg.id, 0) + 1
        self.work = {
            name for name in self.buffers if as_work.get(name, 0) and used[name] == as_work[name]
        }

    def _shape_names(self, item: ast.FunctionDef) -> set[str]:
        return {
            name.id
            for node in ast.walk(item)
            if isinstance(node, ast.Call) and tl_name(node.func) in ("alloc_ub", "alloc")
            for arg in node.args[:1]
            for name in ast.walk(arg)
            if isinstance(name, ast.Name)
        }

    def _param(self, arg: ast.arg, constants: set[str]) -> str:
        name = arg.arg
        if name in self.pointers:
            return f'{name}: "{self.pointers[name]}[{name}_size]"'
        if name in constants or tl_name(arg.annotation or arg) in ("constexpr", "const"):
            self.notes.append(_note(self.source, arg, f"{name} is a constant: 512 assumed"))
            return f"{name}: tl.const = 512"
        is_float = isinstance(arg.annotation, ast.Name) and arg.annotation.id == "float"
        return f"{name}: tl.f32 = 0.0" if is_float else f"{name}: tl.i64 = 1"

    # --- statements ------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> list[str]:
        lines = [line for item in body for line in self._statement(item)]
        return lines or ["pass"]

    def _statement(self, item: ast.stmt) -> list[str]:
        match item:
            case ast.Expr(value=ast.Call() as call):
                return self._call(call)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                name in self.buffers
            ):
                return self._allocation(name, call)
            case ast.Assign() | ast.AugAssign():
                return [self._expression(item)]
            case ast.For():
                head = f"for {ast.unparse(item.target)} in {self._expression(item.iter)}:"
                return [head, *_indented(self._block(item.body))]
            case ast.If():
                lines = [f"if {self._expression(item.test)}:", *_indented(self._block(item.body))]
                if item.orelse:
                    lines += ["else:", *_indented(self._block(item.orelse))]
                return lines
            case ast.With():
                head = ast.unparse(item.items[0].context_expr)
                return [f"with {head}:", *_indented(self._block(item.body))]
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return []
        self.notes.append(_note(self.source, item, "not understood, left as it is"))
        return ast.unparse(item).split("\n")

    def _allocation(self, name: str, call: ast.Call) -> list[str]:
        if name in self.work:
            self.notes.append(
                _note(self.source, call, f"work buffer {name} is dropped: the compiler makes them")
            )
            return []
        shape = call.args[0] if call.args else ast.Constant(1)
        if isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) == 1:
            shape = shape.elts[0]
        return [f'{name} = tl.ub({ast.unparse(shape)}, "{self.buffers[name]}")']

    def _expression(self, node: ast.AST) -> str:
        """An expression or assignment with the dialect's scalar functions replaced."""
        changed = _Scalars(self.scalars).visit(ast.parse(ast.unparse(node)))
        return ast.unparse(ast.fix_missing_locations(changed))

    def _call(self, call: ast.Call) -> list[str]:
        name = tl_name(call.func)
        if name in ("load", "store"):
            return [self._transfer(name, call)]
        if name in REDUCTIONS and len(call.args) >= 2:
            return self._reduction(REDUCTIONS[name], call)
        if name in OPERATIONS:
            return [self._operation(OPERATIONS[name], call)]
        if name in ("sync_all", "barrier"):
            return ["tl.sync_all()"]
        self.notes.append(_note(self.source, call, f"tl.{name} is not known, left as it is"))
        return [ast.unparse(call)]

    def _operation(self, name: str, call: ast.Call) -> str:
        args = [self._expression(arg) for arg in call.args]
        wants = OPERAND_COUNTS.get(name, 3)
        if len(args) > wants:
            dropped = ", ".join(args[wants:])
            self.notes.append(
                _note(self.source, call, f"count {dropped} is dropped: extents are tracked")
            )
        return f"tl.{name}({', '.join(args[:wants])})"

    def _reduction(self, name: str, call: ast.Call) -> list[str]:
        dest, source = call.args[0], call.args[1]
        if not isinstance(dest, ast.Name):
            self.notes.append(_note(self.source, call, "the result of a reduction is not a buffer"))
            return [ast.unparse(call)]
        scalar = f"{dest.id}_value"
        self.scalars[dest.id] = scalar
        lines = [f"{scalar} = tl.{name}({self._expression(source)})"]
        if dest.id in self.buffers:
            lines.append(f"tl.fill({dest.id}, {scalar}, 1)")
        return lines

    # --- pointers --------------------------------------------------------------------------------

    def _transfer(self, name: str, call: ast.Call) -> str:
        if len(call.args) < 2:
            self.notes.append(_note(self.source, call, f"tl.{name} needs a pointer and a buffer"))
            return ast.unparse(call)
        terms = _terms(call.args[0])
        pointer = next(
            (term.id for term in terms if isinstance(term, ast.Name) and term.id in self.pointers),
            None,
        )
        ranges = [term for term in terms if _is_range(term)]
        buffer = ast.unparse(call.args[1])
        if pointer is None or len(ranges) != 1:
            self.notes.append(_note(self.source, call, "the pointer is not ptr + base + tl.arange"))
            return ast.unparse(call)
        base = [
            self._expression(term)
            for term in terms
            if not _is_range(term) and not (isinstance(term, ast.Name) and term.id == pointer)
        ]
        where = ranges[0]
        assert isinstance(where, ast.Call)
        low, high = (self._expression(arg) for arg in where.args)
        start = " + ".join([*base, *([] if low == "0" else [low])]) or "0"
        stop = " + ".join([*base, high])
        place = f"{pointer}[{start}:{stop}]"
        return f"tl.load({buffer}, {place})" if name == "load" else f"tl.store({place}, {buffer})"


OPERAND_COUNTS = dict.fromkeys(
    "exp ln abs sqrt rsqrt recip relu neg copy tanh sigmoid erf cast gelu".split(), 2
)
"""Operands of the imported operations, destination included, where it is not three."""


class _Scalars(ast.NodeTransformer):
    """Replaces the dialect's scalar functions."""

    def __init__(self, scalars: dict[str, str]) -> None:
        self.scalars = scalars

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rename `program_id`, `num_programs` and `extract_scalar`."""
        self.generic_visit(node)
        name = tl_name(node.func)
        if name == "program_id":
            return ast.parse("tl.core_id()", mode="eval").body
        if name == "num_programs":
            return ast.parse("tl.num_cores()", mode="eval").body
        if name == "extract_scalar" and node.args and isinstance(node.args[0], ast.Name):
            known = self.scalars.get(node.args[0].id)
            return ast.Name(known, ast.Load()) if known else node
        is_builtin = isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
        if is_builtin:
            node.func = ast.parse(f"tl.{ast.unparse(node.func)}", mode="eval").body
        return node


def _terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and tl_name(node.func) == "arange" and len(node.args) == 2


def _is_pointer(name: str, call: ast.Call) -> bool:
    first = _terms(call.args[0])[0]
    return name.endswith("_ptr") or (isinstance(first, ast.Name) and first.id == name)


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
