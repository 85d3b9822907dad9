"""Asks a sandboxed child for the graph of a task."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kernelwright.core.errors import NotCovered
from kernelwright.core.task import Task
from kernelwright.sandbox import ChildFailed, Limits, Sandbox
from kernelwright.synth.graph import Graph, MalformedGraph, graph_from_json

WARM = (
    "torch",
    "torch.fx.experimental.symbolic_shapes",
    "torch._dynamo.utils",
    "torch.fx.experimental.proxy_tensor",
    "torch.export._trace",
    "sympy.tensor.tensor",
    "kernelwright.synth.trace_host",
)
"""Give these to `Sandbox(warm=...)`: a trace then takes some 0.1 s instead of two seconds."""

_ENTRY = "kernelwright.synth.trace_host:serve"
_LIMITS = Limits(wall_s=120.0, cpu_s=120.0, memory_bytes=4 << 30)
_TIMEOUT_S = 60.0
_FIX = "use another generator for this task"


def graph_of(task: Task, sandbox: Sandbox) -> Graph:
    """Trace a task's reference in the sandbox.

    Raises:
        NotCovered: if the reference cannot be traced.
    """
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        try:
            with sandbox.start(_ENTRY, workdir=Path(folder), limits=_LIMITS) as child:
                header = {"source": task.source, "name": "task"}
                reply, _ = child.call(header, timeout_s=_TIMEOUT_S)
        except ChildFailed as fault:
            raise NotCovered(f"tracing {task.name} failed: {fault}", fix=_FIX) from fault
    if "untraceable" in reply:
        raise NotCovered(f"{task.name} cannot be traced: {reply['untraceable']}", fix=_FIX)
    try:
        return graph_from_json(reply.get("graph"))
    except MalformedGraph as fault:
        raise NotCovered(f"the trace of {task.name} is malformed: {fault}", fix=_FIX) from fault
