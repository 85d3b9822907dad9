"""The trusted side of the process that holds a task's reference."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer
from kernelwright.sandbox import Cause, Child, ChildFailed, Limits, Sandbox

ENTRY = "kernelwright.tasks.reference_host:serve"
WARM = (
    "torch",
    "torch.fx.experimental.symbolic_shapes",
    "torch._dynamo.utils",
    "torch.utils._device",
    "kernelwright.sandbox.module_host",
    "kernelwright.tasks.reference_host",
)
"""Give these to `Sandbox(warm=...)`: PyTorch imports some of them at the first operator on the meta
device, which takes a second in every child that does not find them."""

FILE = "task.py"
_LIFE_S = 7 * 24 * 3600.0


class ReferenceFailed(Exception):
    """The task's own code failed, or its process died.

    Attributes:
        reason: What happened, with the lines of the task file that led there.
        summary: Its first line.
        line: 1-based line of the task file, None if no line is at fault.
        cause: Why the process died, None if it did not.
        is_memory: Whether it wanted more memory than there is.
    """

    def __init__(self, reason: str, *, cause: Cause | None = None, is_memory: bool = False) -> None:
        super().__init__(reason)
        lines = re.findall(r"^  \w+\.py:(\d+) in ", reason, re.MULTILINE)
        self.reason = reason
        self.summary = reason.partition("\n")[0]
        self.line = int(lines[-1]) if lines else None
        self.cause = cause
        self.is_memory = is_memory or cause is Cause.MEMORY


class ReferenceProcess:
    """One sandboxed process for one task; leaving the `with` block ends it."""

    def __init__(self, source: str, *, sandbox: Sandbox, memory_bytes: int) -> None:
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="task-")))
            (folder / FILE).write_text(source, encoding="utf-8")
            self._child: Child = stack.enter_context(
                sandbox.start(ENTRY, workdir=folder, limits=long_lived(memory_bytes))
            )
            self._stack = stack.pop_all()

    def __enter__(self) -> ReferenceProcess:
        return self

    def __exit__(self, *exit_state: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and remove its folder."""
        self._stack.close()

    def ask(
        self, header: Mapping[str, Json], *, timeout_s: float
    ) -> tuple[dict[str, Any], Sequence[Buffer]]:
        """Send one request and return the answer.

        Raises:
            ReferenceFailed: if the task's code failed, or the process died; it stays dead.
        """
        try:
            answer, blobs = self._child.call(header, timeout_s=timeout_s)
        except ChildFailed as failed:
            reason = f"{failed.detail}\n{failed.stderr_tail.strip()[-600:]}".strip()
            raise ReferenceFailed(reason, cause=failed.cause) from failed
        failure = answer.get("failure")
        if isinstance(failure, Mapping):
            is_memory = failure.get("category") == "memory"
            raise ReferenceFailed(str(failure.get("reason")), is_memory=is_memory)
        if answer.get("ok") is not True:
            raise ReferenceFailed("its process answered nonsense", cause=Cause.PROTOCOL)
        return dict(answer), blobs


def long_lived(memory_bytes: int) -> Limits:
    """Return the limits of a process that serves a whole run; each request has its own timeout."""
    return Limits(wall_s=_LIFE_S, cpu_s=_LIFE_S, memory_bytes=memory_bytes)
