"""A task as JSON for people and programs: `kernelwright tasks show --json`."""

from __future__ import annotations

from kernelwright.core.fingerprint import Json
from kernelwright.core.task import OperandSpec, Role, Shrink, Task


def describe(task: Task) -> dict[str, Json]:
    """Return everything about a task but its source, one key a fact."""
    return {
        "task_id": task.task_id,
        "name": task.name,
        "path": task.path,
        "suite": task.suite,
        "category": task.category,
        "version": task.version,
        "mode": "training" if task.is_training else "evaluation",
        "random": task.is_random,
        "input_bytes": task.input_bytes,
        "flops": task.flops,
        "init": [_operand(spec) for spec in task.by_role(Role.INIT)],
        "inputs": [_operand(spec) for spec in task.by_role(Role.INPUT)],
        "parameters": [_operand(spec) for spec in task.by_role(Role.PARAMETER)],
        "buffers": [_operand(spec) for spec in task.by_role(Role.BUFFER)],
        "outputs": [_operand(spec) for spec in task.by_role(Role.OUTPUT)],
        "shrink": None if task.shrink is None else _shrink(task.shrink),
    }


def _operand(spec: OperandSpec) -> dict[str, Json]:
    if spec.type != "tensor":
        return {"name": spec.name, "type": spec.type, "value": spec.value}
    return {
        "name": spec.name,
        "type": spec.type,
        "dtype": spec.dtype,
        "shape": list(spec.shape),
        "contiguous": spec.is_contiguous,
    }


def _shrink(shrink: Shrink) -> dict[str, Json]:
    return {
        "rule": shrink.rule,
        "max_bytes": shrink.max_bytes,
        "max_flops": shrink.max_flops,
        "sizes": {name: {"file": was, "used": now} for name, was, now in shrink.sizes},
    }
