"""The static rules of the Ascend C backend, before anything is compiled (EvoKernel, C.1).

Dispatch is required, the binding may only allocate and dispatch, `forward` may not compute, the
kernel's C++ holds nothing that the device lacks, and no part asks the system for anything.
"""

from __future__ import annotations

import ast
import json

from kernelwright.backends.ascendc.binding_rules import bound_functions, screen_dispatch
from kernelwright.backends.ascendc.device_rules import device_text, screen_device
from kernelwright.backends.ascendc.library_calls import LIBRARY, resolved, unknown_functions
from kernelwright.backends.ascendc.parts import (
    BINDING,
    HOST,
    JSON,
    KERNEL,
    MODEL,
    TILING,
    VENDOR,
)
from kernelwright.backends.cpp_rules import HEADERS, screen_cpp
from kernelwright.backends.model_rules.flow_values import Report
from kernelwright.backends.model_rules.judge import CLASS, judge_forward
from kernelwright.backends.model_rules.model_structure import read_structure
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Finding
from kernelwright.core.task import Task
from kernelwright.emulator.project import snake_case


def screened(candidate: Candidate, task: Task) -> tuple[Finding, ...]:
    """Return every violation, those of the model first; empty means that it passes."""
    files = candidate.files
    functions = bound_functions(files[BINDING])
    sources = {path: device_text(files[path]) for path in (TILING, HOST, KERNEL)}
    native = tuple(
        finding
        for path, text in sources.items()
        for finding in screen_cpp(path, text, _own_headers(files[JSON]), headers=HEADERS | VENDOR)
    )
    return (
        *_model(files[MODEL], frozenset(functions), task),
        *screen_dispatch(BINDING, files[BINDING], operators_of(files[JSON])),
        *screen_device(KERNEL, files[KERNEL]),
        *native,
    )


def operators_of(description: str) -> tuple[str, ...]:
    """Return the operators that a project's JSON names, such as `TanhCustom`."""
    try:
        found = json.loads(description)
    except ValueError:
        return ()
    entries = found if isinstance(found, list) else [found]
    return tuple(str(entry["op"]) for entry in entries if isinstance(entry, dict) and "op" in entry)


def _own_headers(description: str) -> dict[str, str]:
    """Return the names under which a project's tiling header is included."""
    names = [snake_case(operator) for operator in operators_of(description)]
    return {TILING: "", **{f"{name}_tiling.h": "" for name in names}}


def _model(source: str, functions: frozenset[str], task: Task) -> tuple[Finding, ...]:
    report = Report(MODEL)
    try:
        tree = resolved(ast.parse(source), functions)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        return (Finding("syntax", MODEL, line, f"not valid Python: {error}"),)
    for node, name in unknown_functions(tree, functions):
        known = ", ".join(sorted(functions)) or "none"
        report.add("format:unknown-kernel", node, f"the binding has no {name}; it has: {known}")
    facts = read_structure(
        tree, report, libraries=frozenset({LIBRARY}), also=frozenset({"torch_npu"})
    )
    if CLASS not in facts.classes:
        report.add("format:no-model", tree, f"{MODEL} defines no class {CLASS}")
    else:
        judge_forward(facts, {}, task, report)
    return tuple(sorted(report.findings, key=lambda finding: finding.line))
