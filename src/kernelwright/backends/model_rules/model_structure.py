"""The structure of a `model.py`: what it imports and defines, and the ways to hide work in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kernelwright.backends.model_rules import torch_names as names
from kernelwright.backends.model_rules.flow_values import FileFacts, Report
from kernelwright.backends.model_rules.init_values import attributes_of

_MODULE = "torch.nn.Module"
_INLINE = "torch.utils.cpp_extension.load_inline"
_DUNDERS = frozenset({"__init__", "__repr__", "__str__", "__name__", "__version__", "__file__"})
_DECORATORS = frozenset(
    {"staticmethod", "torch.no_grad()", "torch.inference_mode()", "dataclass", "torch.no_grad"}
)
_BANNED_NODES: tuple[tuple[tuple[type[ast.AST], ...], str, str], ...] = (
    ((ast.Lambda,), "lambda", "write a named method instead of a lambda"),
    ((ast.Global, ast.Nonlocal), "global", "state belongs to self, not to the module"),
    (
        (ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom),
        "unsupported",
        "no generators and no coroutines",
    ),
)
_OF_OS = frozenset({"path", "environ"})
_METHOD_DUNDERS = frozenset({"__init__", "__repr__", "__post_init__"})


def read_structure(
    tree: ast.Module,
    report: Report,
    *,
    has_inline: bool = False,
    libraries: frozenset[str] = frozenset(),
    also: frozenset[str] = frozenset(),
) -> FileFacts:
    """Return the structure of a parsed file, and note what in it hides computation.

    Args:
        tree: The file.
        report: Where findings go.
        has_inline: Whether it may build a library by `load_inline`.
        libraries: Modules whose functions return what a kernel has written.
        also: Modules that may be imported besides the usual ones, though nothing in them called.
    """
    facts = FileFacts(report.path, libraries=libraries, also=also)
    for statement in tree.body:
        _top_level(facts, statement, report, has_inline=has_inline)
    for node in ast.walk(tree):
        _banned(facts, node, report, has_inline=has_inline)
    _kernels_are_called(facts, tree, report)
    for found in facts.classes.values():
        _class(facts, found, report)
    for name, found in facts.classes.items():
        facts.attributes[name] = attributes_of(facts, found, report)
    return facts


def _top_level(facts: FileFacts, node: ast.stmt, report: Report, *, has_inline: bool) -> None:
    if isinstance(node, ast.Import):
        _plain_import(facts, node, report, has_inline=has_inline)
    elif isinstance(node, ast.ImportFrom):
        _import_from(facts, node, report, has_inline=has_inline)
    elif isinstance(node, ast.FunctionDef):
        facts.functions[node.name] = node
    elif isinstance(node, ast.ClassDef):
        facts.classes[node.name] = node
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        _constant(facts, node, report, has_inline=has_inline)
    elif isinstance(node, ast.Try) and _guards_an_import(node):
        for inner in node.body:
            _top_level(facts, inner, report, has_inline=has_inline)
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        report.add(
            "module-code",
            node,
            "code that runs at import: a file may import, and define constants and classes",
        )


def _plain_import(facts: FileFacts, node: ast.Import, report: Report, *, has_inline: bool) -> None:
    for alias in node.names:
        local = alias.asname or alias.name.split(".")[0]
        facts.imports[local] = alias.name if alias.asname else local
        if alias.name in facts.libraries:
            facts.inline.add(local)
        elif alias.name not in facts.also:
            _import(alias.name, node, report, has_inline=has_inline)


def _import_from(
    facts: FileFacts, node: ast.ImportFrom, report: Report, *, has_inline: bool
) -> None:
    for alias in node.names:
        facts.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        if node.module == "os" and alias.name not in _OF_OS:
            report.add("import", node, f"`os.{alias.name}` is not for candidates")
        is_known = not node.level and (
            node.module in names.IMPORTS or f"{node.module}.{alias.name}" in names.IMPORTS
        )
        if not is_known:
            _import(str(node.module), node, report, has_inline=has_inline)


def _import(module: str, node: ast.stmt, report: Report, *, has_inline: bool) -> None:
    if has_inline and module in {"torch.utils.cpp_extension", "torch.utils", "os", "os.path"}:
        return
    if module not in names.IMPORTS:
        allowed = ", ".join(sorted(names.IMPORTS - {"dataclasses"}))
        report.add("import", node, f"`{module}` may not be imported; allowed: {allowed}")


def _guards_an_import(node: ast.Try) -> bool:
    return all(isinstance(item, (ast.Import, ast.ImportFrom)) for item in node.body) and all(
        len(handler.body) > 0 and isinstance(handler.body[-1], ast.Raise)
        for handler in node.handlers
    )


def _constant(
    facts: FileFacts, node: ast.Assign | ast.AnnAssign, report: Report, *, has_inline: bool
) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    bound = [name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)]
    value = node.value
    if has_inline and isinstance(value, ast.Call) and facts.dotted(value.func) == _INLINE:
        facts.inline.update(bound)
        return
    if value is not None and not _is_constant(facts, value):
        report.add(
            "module-code", node, "a module-level name may hold a number, text, shape or dtype only"
        )
    facts.constants.update(bound)


def _is_constant(facts: FileFacts, value: ast.expr) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            name = facts.dotted(node.func) or getattr(node.func, "id", "")
            if name not in names.ASKING | names.BUILTINS and not name.startswith("math."):
                return False
        elif isinstance(node, (ast.Lambda, ast.Await, ast.Yield, ast.ListComp)):
            return False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = facts.dotted(node)
            is_part = any(known.startswith(f"{name}.") for known in names.PLAIN_VALUES)
            known = name in names.PLAIN_VALUES | names.ASKING or name.startswith("math.")
            if not known and not (name and is_part):
                return False
    return True


def _banned(facts: FileFacts, node: ast.AST, report: Report, *, has_inline: bool) -> None:
    for name in _bound_names(node):
        module = "kernel_ops" if name == "kernel_ops" else facts.imports.get(name, "")
        if module == "kernel_ops" or module in facts.libraries:
            report.add(
                "kernel-ops-rebound", node, f"`{name}` must stay what `import {module}` made it"
            )
    if isinstance(node, ast.Name) and node.id in names.BANNED_NAMES:
        report.add("banned-name", node, f"`{node.id}` is not allowed in a candidate")
    elif isinstance(node, ast.Attribute):
        _banned_attribute(facts, node, report, has_inline=has_inline)
    elif isinstance(node, ast.FunctionDef):
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Import, ast.ImportFrom)):
                _late_import(inner, report)
    for kinds, rule, message in _BANNED_NODES:
        if isinstance(node, kinds):
            report.add(rule, node, message)


def _bound_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            if alias.asname == "kernel_ops" and alias.name != "kernel_ops":
                yield "kernel_ops"
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _banned_attribute(
    facts: FileFacts, node: ast.Attribute, report: Report, *, has_inline: bool
) -> None:
    is_store = not isinstance(node.ctx, ast.Load)
    dotted = facts.dotted(node)
    if is_store and (dotted or _root(node) in facts.classes or node.attr == "forward"):
        report.add("patch", node, f"`{ast.unparse(node)[:60]}` may not be assigned")
    if node.attr in names.BANNED_ATTRIBUTES:
        report.add("banned-name", node, f"`.{node.attr}` is not allowed in a candidate")
    is_dunder = node.attr.startswith("__") and node.attr.endswith("__")
    if is_dunder and node.attr not in _DUNDERS:
        report.add("banned-name", node, f"`.{node.attr}` is not allowed in a candidate")
    is_builder = has_inline and "cpp_extension" in dotted
    is_banned = dotted.startswith(names.BANNED_PREFIXES) or _reaches_through(dotted)
    if dotted and is_banned and not is_builder and not dotted.startswith("kernel_ops."):
        report.add("banned-api", node, f"`{dotted}` is not for candidates")
    if dotted.startswith("os.") and dotted.split(".")[1] not in _OF_OS:
        report.add("banned-api", node, f"`{dotted}` is not for candidates")
    if dotted.startswith("kernel_ops._"):
        report.add("kernel-ops-rebound", node, "kernel_ops offers the kernels only")


def _kernels_are_called(facts: FileFacts, tree: ast.Module, report: Report) -> None:
    """The shim is a module like any other: its kernels may be called, nothing else is touched."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inside = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Name, ast.Attribute)) or id(node) in inside:
            continue
        parts = facts.dotted(node).split(".")
        if parts[0] == "kernel_ops" and (len(parts) != 2 or id(node) not in called):
            report.add(
                "alias", node, f"`{ast.unparse(node)[:60]}`: call kernels as kernel_ops.NAME(...)"
            )


def _reaches_through(dotted: str) -> bool:
    """Whether a name goes through a module that another one happens to import."""
    parts = dotted.split(".")
    if parts[0] != "torch":
        return len(parts) > (3 if dotted.startswith("collections.abc.") else 2)
    if len(parts) > 3 and parts[1] == "nn":
        return parts[2] not in names.OPEN_IN_NN
    return len(parts) > 2 and parts[1] not in names.OPEN_IN_TORCH


def _late_import(node: ast.Import | ast.ImportFrom, report: Report) -> None:
    modules = (
        [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
    )
    if any(module != "kernel_ops" for module in modules):
        report.add("import", node, "import at the top of the file")


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _class(facts: FileFacts, found: ast.ClassDef, report: Report) -> None:
    bases = [facts.dotted(base) or ast.unparse(base) for base in found.bases]
    if found.name == "ModelNew" and bases != [_MODULE]:
        report.add("bases", found, "ModelNew must derive from torch.nn.Module and nothing else")
    elif any(base != _MODULE and base not in facts.classes for base in bases):
        report.add("bases", found, f"{found.name} may derive from torch.nn.Module only")
    for decorator in found.decorator_list:
        if ast.unparse(decorator).split("(")[0] not in {"dataclass", "dataclasses.dataclass"}:
            report.add("decorator", decorator, "a class decorator can replace the class")
    if found.keywords:
        report.add("bases", found, "no metaclass and no class arguments")
    for member in found.body:
        _member(facts, member, report)


def _member(facts: FileFacts, member: ast.stmt, report: Report) -> None:
    if isinstance(member, ast.FunctionDef):
        _method(facts, member, report)
    elif isinstance(member, (ast.Assign, ast.AnnAssign)):
        targets = member.targets if isinstance(member, ast.Assign) else [member.target]
        is_plain = member.value is None or _is_constant(facts, member.value)
        if not is_plain or any(ast.unparse(target) == "forward" for target in targets):
            report.add("class-code", member, "a class may hold constants and methods only")
    elif not isinstance(member, ast.Pass) and not (
        isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant)
    ):
        report.add("class-code", member, "a class may hold constants and methods only")


def _method(facts: FileFacts, method: ast.FunctionDef, report: Report) -> None:
    name = method.name
    if name.startswith("__") and name.endswith("__") and name not in _METHOD_DUNDERS:
        report.add("class-code", method, f"{name} changes what a call means: use plain methods")
    if name in names.MODULE_METHODS:
        report.add("class-code", method, f"{name} belongs to torch.nn.Module: leave it as it is")
    for decorator in method.decorator_list:
        text = ast.unparse(decorator)
        if text not in _DECORATORS and facts.dotted(decorator) not in _DECORATORS:
            report.add("decorator", decorator, f"the decorator {text[:60]} can replace {name}")
    for inner in ast.walk(method):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and inner is not method:
            report.add("nested-function", inner, "write a method instead of a nested function")
    defaults = [*method.args.defaults, *(item for item in method.args.kw_defaults if item)]
    if not all(_is_constant(facts, default) for default in defaults):
        report.add("class-code", method, "a default argument must be a constant")
