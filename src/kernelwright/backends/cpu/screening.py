"""The static rules of the CPU backend: the computation is in the kernel, and nothing is hidden.

Allow-lists over what is reachable from `ModelNew`; the run-time checks (operator trace, poison,
symbols of the library) stand behind them.
"""

from __future__ import annotations

import ast

from kernelwright.backends.cpp_rules import screen_binding, screen_cpp
from kernelwright.backends.cpu.declarations import kernels_in
from kernelwright.backends.cpu.parts import MODEL, complaint_about, cpp_parts, is_inline
from kernelwright.backends.model_rules.flow_values import Report
from kernelwright.backends.model_rules.judge import CLASS, judge_forward
from kernelwright.backends.model_rules.model_structure import read_structure
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Finding
from kernelwright.core.task import Task


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
        kernels = {
            kernel.name: tuple(parameter.is_const for parameter in kernel.parameters)
            for kernel in kernels_in(parts)
        }
        judge_forward(facts, kernels, task, report)
    bound = _bound_texts(tree) if is_inline(candidate) else ()
    in_text = tuple(f for text, line in bound for f in screen_binding(path, text, first_line=line))
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
