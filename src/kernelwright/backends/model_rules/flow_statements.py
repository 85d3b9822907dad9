"""Follows `forward` statement by statement: what it returns must have been written by a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kernelwright.backends.model_rules.flow_expressions import HANDLERS
from kernelwright.backends.model_rules.flow_scope import IN_KERNEL, Scope, bind, iterated
from kernelwright.backends.model_rules.flow_values import (
    PLAIN,
    Flow,
    Kind,
    Value,
    merged,
    origins_of,
)

_DEEPEST = 12
_GRADIENT_CONTEXTS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad"})


@dataclass(slots=True)
class Body:
    """The body that is being run.

    Attributes:
        scope: Its names.
        is_forward: Whether what it returns is the answer of the module.
        returns: (value, memory written by then) of every return that was met.
        is_empty_case: Whether the path at hand is taken for empty inputs only.
    """

    scope: Scope
    is_forward: bool
    returns: list[tuple[Value, set[int]]] = field(default_factory=list)
    is_empty_case: bool = False


def follow_forward(flow: Flow, class_name: str, arguments: Mapping[str, Value]) -> None:
    """Follow a class's `forward` with these arguments and note every violation."""
    method = flow.file.methods(class_name).get("forward")
    if method is None:
        found = flow.file.classes[class_name]
        flow.report.add("format:no-forward", found, f"{class_name} defines no forward")
        return
    own = flow.fresh(Kind.SELF)
    _run(flow, method, class_name, {**arguments, _first_name(method): own}, is_forward=True)
    if flow.kernel_calls == 0:
        flow.report.add(
            "no-kernel",
            method,
            "forward calls no kernel: call kernel_ops.NAME(...) and return its output",
        )


def _run(
    flow: Flow,
    function: ast.FunctionDef,
    class_name: str,
    variables: Mapping[str, Value],
    *,
    is_forward: bool = False,
) -> Value:
    name = f"{class_name}.{function.name}"
    if name in flow.active or len(flow.active) >= _DEEPEST:
        flow.report.add("unsupported", function, f"{function.name} calls itself: use a loop")
        return flow.excused()

    def follow(
        body: ast.FunctionDef, owner: str, given: list[Value], named: Mapping[str, Value]
    ) -> Value:
        return _run(flow, body, owner, _bound(flow, body, owner, given, named))

    body = Body(Scope(flow, class_name, dict(variables), follow, HANDLERS), is_forward)
    flow.active.append(name)
    ends = _block(body, function.body)
    flow.active.pop()
    if not ends:
        body.returns.append((PLAIN, set(flow.written)))
    if body.returns:
        flow.written = set.intersection(*(written for _, written in body.returns))
    return merged([value for value, _ in body.returns])


def _bound(
    flow: Flow,
    function: ast.FunctionDef,
    class_name: str,
    given: list[Value],
    named: Mapping[str, Value],
) -> dict[str, Value]:
    """Bind arguments to parameters as Python does; what is left has its default, a plain value."""
    arguments = function.args
    names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    is_static = any(ast.unparse(item) == "staticmethod" for item in function.decorator_list)
    if class_name and not is_static and names:
        given = [flow.fresh(Kind.SELF), *given]
    bound = {name: PLAIN for name in (*names, *(arg.arg for arg in arguments.kwonlyargs))}
    bound.update(zip(names, given, strict=False))
    bound.update({name: value for name, value in named.items() if name in bound})
    for star, values in (
        (arguments.vararg, given[len(names) :]),
        (arguments.kwarg, list(named.values())),
    ):
        if star is not None:
            origins = frozenset(o for value in values for o in origins_of(value))
            bound[star.arg] = Value(Kind.MANY, origins)
    return bound


def _first_name(function: ast.FunctionDef) -> str:
    names = [*function.args.posonlyargs, *function.args.args]
    return names[0].arg if names else "self"


def _block(body: Body, statements: Sequence[ast.stmt]) -> bool:
    """Run statements in order; return whether the path ends inside them."""
    return any(_statement(body, statement) for statement in statements)


def _statement(body: Body, node: ast.stmt) -> bool:
    handler = _STATEMENTS.get(type(node))
    if handler is None:
        body.scope.complain(
            "unsupported",
            node,
            f"`{type(node).__name__}` statements cannot be followed in forward: write it plainly",
        )
        return False
    return bool(handler(body, node))


def _assign(body: Body, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assign)
    value = body.scope.value(node.value)
    for target in node.targets:
        bind(body.scope, target, value)


def _annotated(body: Body, node: ast.stmt) -> None:
    assert isinstance(node, ast.AnnAssign)
    if node.value is not None:
        bind(body.scope, node.target, body.scope.value(node.value))


def _augmented(body: Body, node: ast.stmt) -> None:
    assert isinstance(node, ast.AugAssign)
    value, target = body.scope.value(node.value), body.scope.value(node.target)
    is_list = target.kind is not Kind.TENSOR and value.kind is not Kind.TENSOR
    if (value.has_tensor or target.has_tensor) and not is_list:
        text = ast.unparse(node)[:60]
        body.scope.complain(
            "torch-compute", node, f"`{text}` computes with a tensor in PyTorch: {IN_KERNEL}"
        )
        return
    bind(body.scope, node.target, merged([target, value]) if value.has_tensor else target)


def _expression(body: Body, node: ast.stmt) -> None:
    assert isinstance(node, ast.Expr)
    body.scope.value(node.value)


def _return(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Return)
    value = PLAIN if node.value is None else body.scope.value(node.value)
    body.returns.append((value, set(body.scope.flow.written)))
    if body.is_forward and not body.is_empty_case:
        _judge_returned(body, node, value)
    return True


def _judge_returned(body: Body, node: ast.stmt, value: Value) -> None:
    flow = body.scope.flow
    unwritten = frozenset(origins_of(value)) - flow.written
    if value.kind is Kind.LAYER or value.kind is Kind.SELF:
        body.scope.complain("not-from-kernel", node, "forward returns a module")
    elif unwritten or (value.kind is Kind.MANY and not value.origins):
        body.scope.complain(
            "not-from-kernel",
            node,
            "forward returns a tensor that no kernel has written on this path: return what a"
            " kernel_ops call got as a pointer without const, or a view of it",
        )
    elif not value.has_tensor:
        body.scope.complain("not-from-kernel", node, "forward returns no tensor of a kernel")


def _if(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.If)
    scope, flow = body.scope, body.scope.flow
    scope.plain(node.test, "a condition reads a tensor")
    before, variables = set(flow.written), dict(scope.variables)
    was_empty_case = body.is_empty_case
    body.is_empty_case |= _asks_for_empty(body, node.test)
    first_ends = _block(body, node.body)
    body.is_empty_case = was_empty_case
    first = (set(flow.written), dict(scope.variables))
    flow.written, scope.variables = before, variables
    second_ends = _block(body, node.orelse)
    if first_ends or second_ends:
        if first_ends and second_ends:
            return True
        if second_ends:
            flow.written, scope.variables = first
        return False
    flow.written &= first[0]
    for name, value in first[1].items():
        scope.variables[name] = merged([value, scope.variables.get(name, value)])
    return False


def _asks_for_empty(body: Body, test: ast.expr) -> bool:
    """Whether a condition is `x.numel() == 0` of a tensor: then there is nothing to compute."""
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Call)):
        return False
    function = test.left.func
    is_zero = [type(op) for op in test.ops] == [ast.Eq] and (
        isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value == 0
    )
    return (
        is_zero
        and isinstance(function, ast.Attribute)
        and function.attr == "numel"
        and body.scope.raw(function.value).kind is Kind.TENSOR
    )


def _for(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.For)
    bind(body.scope, node.target, iterated(body.scope, node.iter))
    _loop(body, node.body)
    return _block(body, node.orelse)


def _while(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.While)
    body.scope.plain(node.test, "a condition reads a tensor")
    _loop(body, node.body)
    return _block(body, node.orelse)


def _loop(body: Body, statements: Sequence[ast.stmt]) -> None:
    """Run a loop's body twice, so that what the first pass binds reaches the second.

    The loop is taken to run at least once: what it leaves alone if it does not is wrong anyway.
    """
    _block(body, statements)
    once = dict(body.scope.variables)
    _block(body, statements)
    for name, value in once.items():
        body.scope.variables[name] = merged([body.scope.variables.get(name, value), value])


def _with(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.With)
    for item in node.items:
        context = item.context_expr
        name = body.scope.flow.file.dotted(context.func) if isinstance(context, ast.Call) else ""
        if name not in _GRADIENT_CONTEXTS or item.optional_vars is not None:
            body.scope.complain(
                "unsupported", node, f"`with {ast.unparse(context)[:60]}`: only torch.no_grad()"
            )
    return _block(body, node.body)


def _try(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Try)
    if any(not _only_raises(handler.body) for handler in node.handlers):
        body.scope.complain(
            "fallback",
            node,
            "an except branch that goes on can stand in for the kernel: let the error out",
        )
    ends = _block(body, [*node.body, *node.orelse])
    return _block(body, node.finalbody) or ends


def _only_raises(statements: Sequence[ast.stmt]) -> bool:
    plain = (ast.Raise, ast.Pass, ast.Expr)
    return (
        bool(statements)
        and isinstance(statements[-1], ast.Raise)
        and all(isinstance(one, plain) for one in statements)
        and not any(isinstance(one, ast.Expr) and not _is_text(one) for one in statements)
    )


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant)


def _raise(body: Body, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Raise)
    return True


def _assert(body: Body, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assert)
    body.scope.plain(node.test, "a condition reads a tensor")


def _nothing(body: Body, node: ast.stmt) -> None:
    del body, node


_STATEMENTS: Mapping[type[ast.stmt], Callable[[Body, ast.stmt], bool | None]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Break: _nothing,
    ast.Continue: _nothing,
    ast.Delete: _nothing,
    ast.Expr: _expression,
    ast.For: _for,
    ast.If: _if,
    ast.Pass: _nothing,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.While: _while,
    ast.With: _with,
}
