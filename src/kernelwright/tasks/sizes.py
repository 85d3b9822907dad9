"""The sizes that a task file names: found and rewritten as text, never by running the file.

A size is a positive whole number that stands alone in a module-level assignment (`rows = 4096`,
`shape = (128, 4096)`, `rows = 16 * 1024`, `rows, columns = 64, 128`) or in a tensor factory inside
`get_inputs` (`torch.rand(128, 4096)`). A number that is computed from other names is no size: it
follows them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_FACTORIES = frozenset(
    {"rand", "randn", "zeros", "ones", "empty", "full", "randint", "rand_like", "normal"}
)
_MOST_BITS = 64


@dataclass(frozen=True, slots=True)
class Size:
    """One size of a task file.

    Attributes:
        name: The variable; `shape[1]` for an element of a tuple or list; `get_inputs[0]` for the
            first literal size inside `get_inputs`.
        value: What the file says.
        line: 1-based line.
        start: Offset of the expression in the UTF-8 source, in bytes.
        end: Offset behind it.
    """

    name: str
    value: int
    line: int
    start: int
    end: int


def sizes_in(source: str) -> tuple[Size, ...]:
    """Return the sizes of a task file in the order of the file.

    A name that is assigned twice is left out: which assignment counts is not knowable here.

    Raises:
        SyntaxError: if the source is no Python.
    """
    tree = ast.parse(source)
    starts = _line_starts(source)
    found: list[Size] = []
    for name, node in (*_assigned(tree), *_drawn(tree)):
        value = _constant(node)
        if value is not None and value > 0:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            found.append(Size(name, value, node.lineno, start, end))
    names = [size.name for size in found]
    return tuple(size for size in found if names.count(size.name) == 1)


def with_sizes(source: str, sizes: Mapping[str, int]) -> str:
    """Return the source with the named sizes rewritten; everything else stays byte for byte.

    Raises:
        KeyError: if the source has no size of that name.
    """
    known = {size.name: size for size in sizes_in(source)}
    data = source.encode()
    for size in sorted((known[name] for name in sizes), key=lambda one: -one.start):
        data = data[: size.start] + str(sizes[size.name]).encode() + data[size.end :]
    return data.decode()


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            yield from _pairs(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield from _pairs(statement.target, statement.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        if isinstance(value, (ast.Tuple, ast.List)):
            for index, item in enumerate(value.elts):
                yield f"{target.id}[{index}]", item
        else:
            yield target.id, value
    elif (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    ):
        for one, item in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, item)


def _drawn(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    literals: list[ast.expr] = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs":
            for call in ast.walk(statement):
                if isinstance(call, ast.Call):
                    literals.extend(_extents(call))
    literals.sort(key=lambda node: (node.lineno, node.col_offset))
    for index, node in enumerate(literals):
        yield f"get_inputs[{index}]", node


def _extents(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the literal extents of a tensor factory, never `randint`'s range or a fill value."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _FACTORIES:
        return
    groups = [arg for arg in call.args if isinstance(arg, (ast.Tuple, ast.List))]
    groups += [word.value for word in call.keywords if word.arg == "size"]  # type: ignore[misc]
    for group in groups:
        if isinstance(group, (ast.Tuple, ast.List)):
            yield from (item for item in group.elts if _constant(item) is not None)
    if call.func.attr not in {"randint", "full", "normal"}:
        yield from (arg for arg in call.args if _constant(arg) is not None)


def _constant(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None or right is None:
        return None
    return _combined(node.op, left, right)


def _combined(symbol: ast.operator, left: int, right: int) -> int | None:
    if isinstance(symbol, (ast.Pow, ast.LShift)):
        if not 0 <= right <= _MOST_BITS or abs(left) > 1 << _MOST_BITS:
            return None
        return left**right if isinstance(symbol, ast.Pow) else left << right
    combine = _ARITHMETIC.get(type(symbol))
    if combine is None or (isinstance(symbol, ast.FloorDiv) and right == 0):
        return None
    return combine(left, right)
