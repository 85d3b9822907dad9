"""The static rules of the CPU backend: the computation is in the kernel, and nothing is hidden.

Allow-lists over what is reachable from `ModelNew`; the run-time checks (operator trace, poison,
symbols of the library) stand behind them.
"""

from __future__ import annotations

import ast

from kernelwright.backends.cpu.cpp_rules import screen_binding, screen_cpp
from kernelwright.backends.cpu.declarations import kernels_in
from kernelwright.backends.model_rules.flow_statements import follow_forward
from kernelwright.backends.model_rules.flow_values import PLAIN, FileFacts, Flow, Kind, Report, Value
from kernelwright.backends.model_rules.model_structure import read_structure
from kernelwright.backends.cpu.parts import MODEL, complaint_about, cpp_parts, is_inline
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Finding
from kernelwright.core.task import Role, Task

CLASS = "ModelNew"
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str", "NoneType"})
_PLAIN_ANNOTATIONS = frozenset({"int", "float", "bool", "str"})


def screened(candidate: Candidate, task: Task) -> tuple[Finding, ...]:
    """Return every violation, those of `model.py` first; empty means that it passes."""
    wrong = complaint_about(candidate)
    if wrong is not None:
        return (Finding("format:parts", MODEL, 1, wrong.reason),)
    parts = cpp_parts(candidate)
    path = MODEL if MODEL in candidate.files else candidate.parts[0][0]
    report = Report(path)
    try:
        tree = ast.parse(candidate.files[path])
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        return (Finding("syntax", path, line, f"not valid Python: {error}"),)
    facts = read_structure(tree, report, has_inline=is_inline(candidate))
    if CLASS not in facts.classes:
        report.add("format:no-model", tree, f"{path} defines no class {CLASS}")
    else:
        _follow(facts, candidate, task, report)
    bound = _bound_texts(tree) if is_inline(candidate) else ()
    in_text = tuple(f for text, line in bound for f in screen_binding(path, text, line))
    in_cpp = tuple(finding for part in parts for finding in screen_cpp(*part, dict(parts)))
    return (*sorted(report.findings, key=lambda finding: finding.line), *in_text, *in_cpp)


def _bound_texts(tree: ast.Module) -> tuple[tuple[str, int], ...]:
    """Return the long texts of a `load_inline` file that look like C++, with their first lines."""
    return tuple(
        (node.value, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and ("{" in node.value or "#include" in node.value)
    )


def _follow(facts: FileFacts, candidate: Candidate, task: Task, report: Report) -> None:
    kernels = {
        kernel.name: tuple(parameter.is_const for parameter in kernel.parameters)
        for kernel in kernels_in(cpp_parts(candidate))
    }
    method = facts.methods(CLASS).get("forward")
    remembered: dict[tuple[str, str], Value] = {}
    # What one call stores on self is there in the next: follow once to learn what, then judge.
    for attempt in (Report(report.path), report):
        flow = Flow(facts, kernels, attempt)
        for class_name, table in facts.attributes.items():
            for attr, value in table.items():
                own = flow.fresh(value.kind) if value.kind is not Kind.PLAIN else PLAIN
                flow.attributes[class_name, attr] = Value(value.kind, own.origins, name=value.name)
        for key, value in remembered.items():
            flow.attributes[key] = flow.fresh(
                Kind.MANY if value.kind is not Kind.TENSOR else Kind.TENSOR
            )
        arguments = {} if method is None else _arguments(flow, method, task)
        follow_forward(flow, CLASS, arguments)
        remembered = flow.assigned


def _arguments(flow: Flow, method: ast.FunctionDef, task: Task) -> dict[str, Value]:
    """Return what forward is called with: by the task's operands, else by the annotations."""
    operands = [spec.type for spec in task.by_role(Role.INPUT)]
    named = [*method.args.posonlyargs, *method.args.args][1:]
    bound = {}
    for index, arg in enumerate(named):
        annotation = "" if arg.annotation is None else ast.unparse(arg.annotation)
        if index < len(operands):
            is_plain = operands[index] in _PLAIN_TYPES
        else:
            is_plain = annotation in _PLAIN_ANNOTATIONS or (bool(operands) and not annotation)
        is_many = index < len(operands) and operands[index] in {"list", "tuple", "dict"}
        is_many |= annotation.lower().startswith(("list", "tuple", "sequence", "dict"))
        bound[arg.arg] = PLAIN if is_plain else flow.fresh(Kind.MANY if is_many else Kind.TENSOR)
    for star in (method.args.vararg, method.args.kwarg):
        if star is not None:
            bound[star.arg] = flow.fresh(Kind.MANY)
    return bound
