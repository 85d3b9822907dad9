"""Judges a `model.py`: every path through `forward` must return what a kernel has written."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from kernelwright.backends.model_rules.flow_statements import follow_forward
from kernelwright.backends.model_rules.flow_values import (
    PLAIN,
    FileFacts,
    Flow,
    Kind,
    Report,
    Value,
)
from kernelwright.core.task import Role, Task

CLASS = "ModelNew"
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str", "NoneType"})
_PLAIN_ANNOTATIONS = frozenset({"int", "float", "bool", "str"})


def judge_forward(
    facts: FileFacts, kernels: Mapping[str, Sequence[bool]], task: Task, report: Report
) -> None:
    """Follow `ModelNew.forward` and note every computation that no kernel does.

    Args:
        facts: Structure of the file.
        kernels: What `kernel_ops` offers, by name: whether each parameter is only read.
        task: What forward is called with.
        report: Where findings go.
    """
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
