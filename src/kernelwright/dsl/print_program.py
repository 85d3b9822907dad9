"""A program tree as source text, so that `parse(print_program(program)).program == program`.

Leaves out what the tree does not keep: comments, inline functions (they are expanded) and the
constants of the file (they are replaced by their values).
"""

from __future__ import annotations

from collections.abc import Iterator

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
    Assign,
    Block,
    Buffer,
    ConstParam,
    CoreRange,
    For,
    If,
    Iteration,
    Kernel,
    Literal,
    Load,
    Op,
    Param,
    Range,
    Region,
    Require,
    ScalarParam,
    Statement,
    StaticRange,
    Store,
    SyncAll,
    TensorParam,
    Tiles,
)
from kernelwright.dsl.print_expression import (
    expression_text,
    literal_text,
    operand_text,
    slice_text,
    type_text,
    view_text,
)
from kernelwright.dsl.types import DType

INDENT = "    "
IMPORT = "import kernelwright.language as tl"


def print_program(program: Program) -> str:
    """The whole program as a source file."""
    parts = [IMPORT]
    parts += ["\n".join(_kernel(kernel)) for kernel in program.kernels]
    parts += ["\n".join(_host(host)) for host in program.hosts]
    return "\n\n\n".join(parts) + "\n"


def print_kernel(kernel: Kernel) -> str:
    """One kernel as source text."""
    return "\n".join(_kernel(kernel)) + "\n"


def _kernel(kernel: Kernel) -> Iterator[str]:
    yield "@tl.kernel"
    yield f"def {kernel.name.text}({_params(kernel.params)}):"
    yield from _doc(kernel.doc)
    body = [_buffer(buffer) for buffer in kernel.buffers]
    body += _block(kernel.body, 1)
    yield from (INDENT + line for line in body) if body else [INDENT + "pass"]


def _doc(doc: str | None) -> Iterator[str]:
    if doc is None:
        return
    lines = doc.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    yield f'{INDENT}"""{lines[0]}' + ('"""' if len(lines) == 1 else "")
    if len(lines) > 1:
        yield from (INDENT + line if line else "" for line in lines[1:])
        yield f'{INDENT}"""'


def _params(params: tuple[Param, ...]) -> str:
    return ", ".join(_param(param) for param in params)


def _param(param: Param) -> str:
    match param:
        case TensorParam(name=name, type=kind):
            return f'{name.text}: "{type_text(kind)}"'
        case ConstParam(name=name, default=default):
            text = f"{name.text}: tl.const"
        case ScalarParam(name=name, type=scalar, default=default):
            text = f"{name.text}: tl.{scalar}"
    return text if default is None else f"{text} = {literal_text(default)}"


def _buffer(buffer: Buffer) -> str:
    axes = ", ".join(expression_text(axis) for axis in buffer.shape)
    shape = axes if len(buffer.shape) == 1 else f"({axes})"
    depth = (
        "" if buffer.depth == Literal(1, DType.I64) else f", buf={expression_text(buffer.depth)}"
    )
    return f'{buffer.name.text} = tl.{buffer.space}({shape}, "{buffer.dtype}"{depth})'


def _block(block: Block, depth: int) -> list[str]:
    """Lines of a block, relative to its own indentation."""
    lines = [line for statement in block for line in statement_lines(statement)]
    return lines or (["pass"] if depth > 1 else [])


def statement_lines(statement: Statement) -> list[str]:
    """Lines of one statement, without outer indentation."""
    match statement:
        case For(over=over, body=body):
            return [_loop(over), *_indented(body)]
        case If(condition=condition, then=then, orelse=orelse):
            lines = [f"if {expression_text(condition)}:", *_indented(then)]
            return [*lines, "else:", *_indented(orelse)] if orelse else lines
        case Region(kind=kind, body=body, label=label):
            name = "" if label is None else f'"{label}"'
            return [f"with tl.{kind}({name}):", *_indented(body)]
        case _:
            return [simple_text(statement)]


def _indented(block: Block) -> list[str]:
    return [INDENT + line for line in _block(block, 2)]


def simple_text(statement: Statement) -> str:
    """A statement that holds no block, as one line.

    Raises:
        TypeError: for a statement that holds a block.
    """
    match statement:
        case Assign(name=name, value=value):
            return f"{name.text} = {expression_text(value)}"
        case Load(dest=dest, source=source, fill=fill):
            extra = "" if fill is None else f", fill={expression_text(fill)}"
            return f"tl.load({view_text(dest)}, {slice_text(source)}{extra})"
        case Store(target=target, source=view, is_atomic_add=is_atomic):
            call = "store_add" if is_atomic else "store"
            return f"tl.{call}({slice_text(target)}, {view_text(view)})"
        case Op():
            return _op(statement)
        case Require(condition=condition):
            return f"tl.require({expression_text(condition)})"
        case SyncAll():
            return "tl.sync_all()"
    raise TypeError(f"{type(statement).__name__} holds a block")


def _op(op: Op) -> str:
    given = [view_text(op.dest), *(operand_text(item) for item in op.operands)]
    for name, value in op.attributes:
        text = f'"{value}"' if isinstance(value, str) else literal_text(value)
        given.append(text if (op.name, name) == ("cmp", "op") else f"{name}={text}")
    return f"tl.{op.name}({', '.join(given)})"


def _loop(over: Iteration) -> str:
    match over:
        case CoreRange(var=var, count=count):
            return f"for {var.text} in tl.core_range({expression_text(count)}):"
        case StaticRange(var=var, count=count):
            return f"for {var.text} in tl.static_range({expression_text(count)}):"
        case Range(var=var, start=start, stop=stop):
            ends = [expression_text(start), expression_text(stop)]
            if start == Literal(0, DType.I64):
                del ends[0]
            return f"for {var.text} in range({', '.join(ends)}):"
        case Tiles():
            name = "core_tiles" if over.is_per_core else "tiles"
            extra = ", reverse=True" if over.is_reversed else ""
            ends = [expression_text(over.total), expression_text(over.tile)]
            names = f"{over.offset.text}, {over.length.text}"
            return f"for {names} in tl.{name}({', '.join(ends)}{extra}):"


# --- host functions ------------------------------------------------------------------------------


def _host(host: Host) -> Iterator[str]:
    returns = ", ".join(f'"{type_text(kind)}"' for kind in host.returns)
    if len(host.returns) > 1:
        returns = f"({returns})"
    yield "@tl.host"
    yield f"def {host.name.text}({_params(host.params)}) -> {returns}:"
    yield from _doc(host.doc)
    body = _host_block(host.body)
    yield from (INDENT + line for line in body) if body else [INDENT + "pass"]


def _host_block(block: HostBlock) -> list[str]:
    lines: list[str] = []
    for statement in block:
        match statement:
            case HostAssign(name=name, value=value):
                lines.append(f"{name.text} = {_host_value(value)}")
            case Launch():
                lines.append(_launch(statement))
            case HostCheck(condition=condition, message=message):
                text = message.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
                lines.append(f'tl.check({expression_text(condition)}, "{text}")')
            case Return(values=values):
                lines.append("return " + ", ".join(_host_value(value) for value in values))
            case HostIf(condition=condition, then=then, orelse=orelse):
                lines.append(f"if {expression_text(condition)}:")
                lines += [INDENT + line for line in _host_block(then) or ["pass"]]
                if orelse:
                    lines.append("else:")
                    lines += [INDENT + line for line in _host_block(orelse)]
    return lines


def _launch(launch: Launch) -> str:
    given = ", ".join(f"{name.text}={_host_value(value)}" for name, value in launch.arguments)
    return f"{launch.kernel.text}[{expression_text(launch.cores)}]({given})"


def _host_value(value: HostValue) -> str:
    match value:
        case Hole():
            return hole_text(value)
        case Empty(type=kind):
            return f'tl.empty("{type_text(kind)}")'
        case Workspace(type=kind, is_zero=is_zero):
            return f'tl.workspace("{type_text(kind)}"{", zero=True" if is_zero else ""})'
        case TensorRef(name=name):
            return name.text
        case Reshape(source=source, type=kind):
            return f'tl.view({source.name.text}, "{type_text(kind)}")'
        case _:
            return expression_text(value)


def hole_text(hole: Hole) -> str:
    """A schedule hole as it stands in a program."""
    words = [
        ("default", hole.default),
        ("multiple_of", hole.multiple_of),
        ("choices", hole.choices),
        ("min", hole.minimum),
        ("max", hole.maximum),
    ]
    given = ", ".join(f"{name}={value!r}" for name, value in words if value is not None)
    return f'tl.param("{hole.name}", {given})'
