"""Takes from a task's source what its kernel's module needs: constructor, names, signatures.

The text is only parsed, never run: `ModelNew` gets the reference's own `__init__`, so that it owns
the same parameters under the same names, and none of the reference's computation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from kernelwright.core.errors import NotCovered

_FIX = "define Model with an ordinary __init__ and forward in the task's own file"


@dataclass(frozen=True, slots=True)
class Constructor:
    """Parts of a task's source.

    Attributes:
        imports: Import statements that `__init__` needs.
        helpers: Other top-level statements that `__init__` needs, as lines of text.
        init_lines: The reference's `__init__`, or nothing if it has none.
        bare_lines: An `__init__` of the same signature that keeps no state.
        arguments: Names of `forward`'s positional arguments after self.
        defaults: Text of the last arguments' defaults.
    """

    imports: tuple[str, ...]
    helpers: tuple[str, ...]
    init_lines: tuple[str, ...]
    bare_lines: tuple[str, ...]
    arguments: tuple[str, ...]
    defaults: tuple[str, ...]

    def init(self, *, has_state: bool) -> tuple[str, ...]:
        """Return the lines of `__init__`; without state nothing of its body is needed."""
        return self.init_lines if has_state else self.bare_lines

    def argument(self, index: int) -> str:
        """Return the name of an argument of `forward`."""
        if index >= len(self.arguments):
            raise NotCovered("forward takes a variable number of arguments", fix=_FIX)
        return self.arguments[index]

    def forward_signature(self, count: int) -> str:
        """Return the arguments of `forward` as text."""
        if count > len(self.arguments):
            raise NotCovered("forward takes a variable number of arguments", fix=_FIX)
        without = len(self.arguments) - len(self.defaults)
        texts = [
            name if place < without else f"{name}={self.defaults[place - without]}"
            for place, name in enumerate(self.arguments)
        ]
        return ", ".join(("self", *texts))


def constructor_of(source: str, *, needs_state: bool) -> Constructor:
    """Return the parts of a task's source; without state its `__init__` is not kept.

    Raises:
        NotCovered: if `Model` is not an ordinary class of the file.
    """
    tree = ast.parse(source)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if "Model" not in classes:
        raise NotCovered("the task's file defines no class Model", fix=_FIX)
    model = classes["Model"]
    forward, init = _method(model, "forward"), _method(model, "__init__")
    if forward is None:
        raise NotCovered("Model has no forward of its own", fix=_FIX)
    if forward.args.vararg or forward.args.kwonlyargs or forward.args.kwarg:
        raise NotCovered("forward takes a variable number of arguments", fix=_FIX)
    imports: list[str] = []
    helpers: list[str] = []
    if init is not None and needs_state:
        _check_bases(model)
        _collect(tree, [init], imports, helpers)
    names = [a.arg for a in (*forward.args.posonlyargs, *forward.args.args)][1:]
    return Constructor(
        imports=tuple(imports),
        helpers=tuple(helpers),
        init_lines=_indented(_cleaned(init)) if init is not None else (),
        bare_lines=_bare(init) if init is not None else (),
        arguments=tuple(names),
        defaults=tuple(ast.unparse(default) for default in forward.args.defaults),
    )


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == name:
            return item
    return None


def _check_bases(model: ast.ClassDef) -> None:
    bases = [ast.unparse(base) for base in model.bases]
    if bases not in (["nn.Module"], ["torch.nn.Module"], ["Module"]):
        raise NotCovered(f"Model inherits from {', '.join(bases)}", fix=_FIX)


class _Cleaner(ast.NodeTransformer):
    """Drops docstrings and annotations, and names no class in `super()`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            node.args = []
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        node.returns = None
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node


def _cleaned(node: ast.stmt) -> ast.stmt:
    copy = ast.parse(ast.unparse(node)).body[0]
    cleaned = _Cleaner().visit(copy)
    assert isinstance(cleaned, ast.stmt)
    return ast.fix_missing_locations(cleaned)


def _indented(node: ast.stmt) -> tuple[str, ...]:
    return (*(f"    {line}" for line in ast.unparse(node).splitlines()), "")


def _bare(init: ast.FunctionDef) -> tuple[str, ...]:
    cleaned = _cleaned(init)
    assert isinstance(cleaned, ast.FunctionDef)
    for default in (*cleaned.args.defaults, *cleaned.args.kw_defaults):
        if default is not None and not isinstance(default, (ast.Constant, ast.UnaryOp, ast.Tuple)):
            raise NotCovered("a default of __init__ is computed", fix=_FIX)
    return (f"    def __init__({ast.unparse(cleaned.args)}):", "        super().__init__()", "")


def _collect(
    tree: ast.Module, roots: list[ast.FunctionDef], imports: list[str], helpers: list[str]
) -> None:
    """Gather the top-level statements that `roots` need, and what those need."""
    defined = dict(_definitions(tree))
    wanted: set[int] = set()
    stack: list[ast.AST] = list(roots)
    while stack:
        for name in _names(stack.pop()):
            statement = defined.get(name)
            if statement is None or id(statement) in wanted or name == "Model":
                continue
            wanted.add(id(statement))
            stack.append(_kept_of(statement))
    for statement in tree.body:
        if id(statement) not in wanted:
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.append(ast.unparse(statement))
        else:
            helpers += [*ast.unparse(_cleaned(_kept_of(statement))).splitlines(), "", ""]


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield (alias.asname or alias.name).split(".")[0], statement
        elif isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            yield statement.name, statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in _names(target):
                    yield name, statement


def _kept_of(statement: ast.stmt) -> ast.stmt:
    """Return a statement without the methods that only computation needs."""
    if not isinstance(statement, ast.ClassDef):
        return statement
    body: list[ast.stmt] = [m for m in [_method(statement, "__init__")] if m is not None]
    return ast.fix_missing_locations(
        ast.ClassDef(
            name=statement.name,
            bases=statement.bases,
            keywords=statement.keywords,
            body=body or [ast.Pass()],
            decorator_list=[],
        )
    )


def _names(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
