"""Asks a task's reference, in a process that starts when it is needed and again after it died."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.fingerprint import Json
from kernelwright.core.task import Task
from kernelwright.core.tensor import Buffer, MalformedTree, Tree, decoded
from kernelwright.sandbox import Sandbox
from kernelwright.tasks.load import need_of
from kernelwright.tasks.process import FILE, ReferenceFailed, ReferenceProcess
from kernelwright.tasks.shrink import Need, shrunk

SMALL_BYTES = 8 << 20
SMALL_FLOPS = 1 << 28


class Questions:
    """The line to one task's reference; thread-safe, one question at a time.

    Args:
        task: The task.
        sandbox: Where its process runs.
        memory_bytes: Memory of the process.
        timeout_s: Seconds for each question.
    """

    def __init__(
        self, task: Task, *, sandbox: Sandbox, memory_bytes: int, timeout_s: float
    ) -> None:
        self.lock = threading.RLock()
        self._task = task
        self._sandbox = sandbox
        self._memory_bytes = memory_bytes
        self._timeout_s = timeout_s
        self._process: ReferenceProcess | None = None
        self._analysis: dict[str, Any] | None = None

    def close(self) -> None:
        """End the process; a later question starts a new one."""
        with self.lock:
            if self._process is not None:
                self._process.close()
                self._process = None

    def ask(self, header: Mapping[str, Json]) -> tuple[dict[str, Any], Sequence[Buffer]]:
        """Return the answer to a question that the task must be able to answer.

        Raises:
            TaskInvalid: if it cannot.
        """
        try:
            return self.try_asking(header)
        except ReferenceFailed as failed:
            raise self.blame(failed) from failed

    def try_asking(self, header: Mapping[str, Json]) -> tuple[dict[str, Any], Sequence[Buffer]]:
        """Return the answer to a question that may be too much for the task.

        Raises:
            ReferenceFailed: if it was.
        """
        with self.lock:
            if self._process is None:
                self._process = ReferenceProcess(
                    self._task.source, sandbox=self._sandbox, memory_bytes=self._memory_bytes
                )
            try:
                return self._process.ask(header, timeout_s=self._timeout_s)
            except ReferenceFailed as failed:
                if failed.cause is not None:
                    self.close()
                raise

    def analysis(self) -> dict[str, Any]:
        """Return what the task takes and does; found out once."""
        with self.lock:
            if self._analysis is None:
                self._analysis = self.ask(self._measure(self._task.source, {}))[0]
            return self._analysis

    def measured(self, text: str) -> Need | None:
        """Return what another text of the task takes, None if it does not run."""
        try:
            return need_of(self.try_asking(self._measure(text, self.analysis()["ways"]))[0])
        except ReferenceFailed:
            return None

    def small_sizes(self) -> tuple[tuple[str, int], ...]:
        """Return sizes at which the task costs little, its own (empty) if it does anyway."""
        need = need_of(self.analysis())
        if not need.exceeds(SMALL_BYTES, SMALL_FLOPS):
            return ()
        _, _, shrink = shrunk(
            self._task.source,
            need,
            self.measured,
            max_bytes=SMALL_BYTES,
            max_flops=SMALL_FLOPS,
        )
        return () if shrink is None else tuple((name, used) for name, _, used in shrink.sizes)

    def tree(self, skeleton: Json, blobs: Sequence[Buffer]) -> Tree:
        """Return the tree in an answer.

        Raises:
            TaskInvalid: if there is none; the task's process is not believed.
        """
        try:
            return decoded(skeleton, blobs)
        except (MalformedTree, RecursionError) as fault:
            raise self.blame(nonsense(str(fault))) from fault

    def blame(self, failed: ReferenceFailed) -> TaskInvalid:
        """Return a failure of the reference as what is wrong with the task."""
        fix = (
            "use --max-bytes to make it smaller, or a larger machine"
            if failed.is_memory
            else "correct the file until its Model runs on what its get_inputs() returns"
        )
        what = failed.summary.replace(FILE, Path(self._task.path).name)
        return TaskInvalid(what, path=self._task.path, line=failed.line, fix=fix)

    def _measure(self, text: str, ways: Mapping[str, str]) -> dict[str, Json]:
        room = self._memory_bytes
        return {"op": "measure", "text": text, "ways": dict(ways), "room_bytes": room}


def nonsense(detail: str) -> ReferenceFailed:
    """Return the failure of a process that does not keep to the protocol."""
    return ReferenceFailed(f"the process of the reference answered nonsense: {detail}")
