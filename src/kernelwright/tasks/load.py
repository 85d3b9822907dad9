"""Loads a KernelBench-format file as a `Task`: its text is read here, its code runs in the sandbox.

Takes:   a file, and bounds on what the task may need.
Gives:   a `Task`, shrunk if that was asked for.
Leaves:  folders to `suite.py`; drawing and running to `oracle.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.fingerprint import Json
from kernelwright.core.task import OperandSpec, Role, Shrink, Task
from kernelwright.core.tensor import ITEM_BYTES
from kernelwright.sandbox import Cause, Sandbox
from kernelwright.tasks.memory import available_bytes, spelled
from kernelwright.tasks.process import FILE, ReferenceFailed, ReferenceProcess
from kernelwright.tasks.shrink import Need, shrunk
from kernelwright.tasks.source import check_source, read_source
from kernelwright.tasks.version import version_of

_LEAST_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What a task may need.

    Attributes:
        max_bytes: Shrink it until inputs, parameters and live intermediate results fit this.
        max_flops: Shrink it until one call takes no more floating-point operations.
        memory_bytes: Refuse it above this; None is what the machine has free.
        timeout_s: Seconds for each question to its process.
    """

    max_bytes: int | None = None
    max_flops: int | None = None
    memory_bytes: int | None = None
    timeout_s: float = 60.0


DEFAULTS = LoadOptions()


def load_task(
    path: Path,
    *,
    sandbox: Sandbox,
    options: LoadOptions = DEFAULTS,
    suite: str = "",
    category: str | None = None,
    version: str | None = None,
) -> Task:
    """Load one task file.

    Args:
        path: The file.
        sandbox: Where its code runs; start it with `tasks.WARM`.
        options: Bounds and limits.
        suite: Name of the suite it belongs to.
        category: Its category there; the name of its folder if None.
        version: Version of the suite; the commit of the checkout it lies in, or the hash of its
            content, if None.

    Raises:
        UsageMistake: if there is no such file.
        TaskInvalid: if it is no task, its code fails, or it needs more memory than there is.
    """
    source = read_source(path)
    check_source(source, path=str(path))
    room = available_bytes() if options.memory_bytes is None else options.memory_bytes
    with ReferenceProcess(source, sandbox=sandbox, memory_bytes=max(room, _LEAST_BYTES)) as process:
        loader = _Loader(str(path), process, options, room)
        text, found, shrink = loader.loaded(source)
    operands = tuple(_operand(fields) for fields in found["operands"])
    _check_operands(operands, str(path))
    return Task(
        name=path.stem,
        source=text,
        path=str(path),
        suite=suite,
        category=path.resolve().parent.name if category is None else category,
        version=version_of(path) if version is None else version,
        operands=operands,
        is_random=bool(found["is_random"]),
        is_training=bool(found["is_training"]),
        input_bytes=int(found["input_bytes"]) + int(found["parameter_bytes"]),
        flops=int(found["flops"]),
        shrink=shrink,
    )


@dataclass(frozen=True, slots=True)
class _Loader:
    """The questions that loading asks, and what to say when an answer is bad."""

    path: str
    process: ReferenceProcess
    options: LoadOptions
    room: int

    def loaded(self, source: str) -> tuple[str, dict[str, Any], Shrink | None]:
        """Return the text, its analysis and how it was shrunk."""
        found = self._ask({"op": "analyse", "room_bytes": self.room})
        need, shrink, text = need_of(found), None, source
        if need.exceeds(self.options.max_bytes, self.options.max_flops):
            text, need, shrink = shrunk(
                source,
                need,
                lambda text: self._measured(text, found["ways"]),
                max_bytes=self.options.max_bytes,
                max_flops=self.options.max_flops,
            )
        if need.size_bytes > self.room:
            raise TaskInvalid(
                f"inputs, parameters and intermediate results take {spelled(need.size_bytes)}, and"
                f" this machine has {spelled(self.room)} free",
                path=self.path,
                fix=f"make it smaller with --max-bytes {self.room // 4_000_000}MB, or use a larger"
                " machine",
            )
        if shrink is None:
            return text, found, None
        smaller = self._ask({**self._measure(text, found["ways"]), "trial": True})
        smaller["is_random"] = smaller["is_random"] or found["is_random"]
        return text, smaller, shrink

    def _measured(self, text: str, ways: Mapping[str, str]) -> Need | None:
        try:
            found, _ = self.process.ask(self._measure(text, ways), timeout_s=self.options.timeout_s)
        except ReferenceFailed as failed:
            # At other sizes a model may refuse to run; a dead process is another matter.
            if failed.cause is not None:
                raise self._invalid(failed) from failed
            return None
        return need_of(found)

    def _measure(self, text: str, ways: Mapping[str, str]) -> dict[str, Json]:
        return {"op": "measure", "text": text, "ways": dict(ways), "room_bytes": self.room}

    def _ask(self, header: Mapping[str, Json]) -> dict[str, Any]:
        try:
            return self.process.ask(header, timeout_s=self.options.timeout_s)[0]
        except ReferenceFailed as failed:
            raise self._invalid(failed) from failed

    def _invalid(self, failed: ReferenceFailed) -> TaskInvalid:
        if failed.is_memory:
            return TaskInvalid(
                f"it needs more than the {spelled(self.room)} that are free: {failed.summary}",
                path=self.path,
                line=failed.line,
                fix="use --max-bytes to make it smaller, or a larger machine",
            )
        if failed.cause is Cause.TIMEOUT:
            return TaskInvalid(
                f"analysing it took more than {self.options.timeout_s:g} s",
                path=self.path,
                fix="use --max-bytes or --max-flops, or find out why importing it takes so long",
            )
        return TaskInvalid(
            failed.summary.replace(FILE, Path(self.path).name),
            path=self.path,
            line=failed.line,
            fix="correct the file until its Model runs on what its get_inputs() returns",
        )


def need_of(found: Mapping[str, Any]) -> Need:
    """Return what an analysis says a task takes."""
    size_bytes = found["input_bytes"] + found["parameter_bytes"] + found["activation_bytes"]
    return Need(int(size_bytes), int(found["flops"]))


def _check_operands(operands: Sequence[OperandSpec], path: str) -> None:
    for spec in operands:
        is_known = spec.dtype in ITEM_BYTES if spec.type == "tensor" else spec.value is not None
        if not is_known:
            kind = f"tensor of {spec.dtype}" if spec.type == "tensor" else spec.type
            raise TaskInvalid(
                f"{spec.role.value} {spec.name} is a {kind}, which cannot be compared or sent",
                path=path,
                fix="use tensors, numbers, strings and None, in tuples, lists and dicts",
            )


def _operand(fields: Mapping[str, Any]) -> OperandSpec:
    return OperandSpec(
        name=str(fields["name"]),
        role=Role(fields["role"]),
        type=str(fields["type"]),
        dtype=fields.get("dtype"),
        shape=tuple(int(extent) for extent in fields.get("shape", ())),
        is_contiguous=bool(fields.get("is_contiguous", True)),
        value=fields.get("value"),
    )
