"""The oracle: answers for the reference of one task; implements `core.ports.Oracle`.

The reference runs in a sandboxed process of its own; the process that is timed as the baseline is
another one. This side draws no tensor and computes none: it plans, asks and decodes.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kernelwright.core.encode import to_json
from kernelwright.core.execution import Call, Expected, MutantOutput, Workload
from kernelwright.core.fingerprint import Json
from kernelwright.core.ports import Module
from kernelwright.core.task import Task
from kernelwright.core.tensor import Buffer, Tensor
from kernelwright.sandbox import Cause, Sandbox
from kernelwright.sandbox.module_client import HOST_ENTRY, ModuleClient, ModuleFile, Timeouts
from kernelwright.tasks.edge import edge_sizes
from kernelwright.tasks.load import need_of
from kernelwright.tasks.memory import available_bytes
from kernelwright.tasks.plan import OFFICIAL, Traits, kinds, planned
from kernelwright.tasks.process import FILE, ReferenceFailed, long_lived
from kernelwright.tasks.questions import Questions, nonsense

_LEAST_BYTES = 4 << 30


class TaskOracle:
    """Answers for one task; leaving its `with` block ends its process. Thread-safe.

    Args:
        task: The task.
        sandbox: Where the reference runs; start it with `tasks.WARM`.
        memory_bytes: Memory of each process; None is what the machine has free, at least 4 GiB.
        timeout_s: Seconds for each question.
    """

    def __init__(
        self,
        task: Task,
        *,
        sandbox: Sandbox,
        memory_bytes: int | None = None,
        timeout_s: float = 300.0,
    ) -> None:
        self._task = task
        self._sandbox = sandbox
        self._memory_bytes = memory_bytes or max(available_bytes(), _LEAST_BYTES)
        self._timeout_s = timeout_s
        self._questions = Questions(
            task, sandbox=sandbox, memory_bytes=self._memory_bytes, timeout_s=timeout_s
        )
        self._traits: Traits | None = None
        self._fair: dict[Workload, str] = {}
        self._small: Workload | None = None
        self._has_exact = not task.is_random

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process of the reference; a later question starts a new one."""
        self._questions.close()

    @property
    def task(self) -> Task:
        """The task it answers for."""
        return self._task

    def workloads(self, seeds: Sequence[int]) -> tuple[Workload, ...]:
        """Plan one workload a seed; the first is the official one.

        Which kinds make a fair test is found out once, with a seed of the oracle's own, at sizes
        at which the task costs little.

        Raises:
            TaskInvalid: if the reference fails on its official inputs.
        """
        with self._questions.lock:
            return planned(seeds, kinds(self._known_traits()), self._is_fair)

    def unfair(self) -> tuple[tuple[str, str], ...]:
        """Return (kind, why) of the workloads that were considered and turned down so far."""
        return tuple((workload.label, why) for workload, why in self._fair.items() if why)

    def call(self, workload: Workload) -> Call:
        """Draw the inputs and parameters of a workload; the reference does not run.

        Raises:
            TaskInvalid: if the task's code fails.
        """
        answer, blobs = self._questions.ask({"op": "draw", "workload": to_json(workload)})
        match self._questions.tree(answer.get("tree"), blobs):
            case {"init": tuple(init), "state": dict(state), "args": tuple(args)}:
                tensors = {name: t for name, t in state.items() if isinstance(t, Tensor)}
                is_training = bool(answer.get("is_training"))
                return Call(workload.seed, init, tensors, args, is_training)
        raise self._questions.blame(nonsense("no workload"))

    def expected(self, workload: Workload) -> Expected:
        """Run the reference on a workload, in its own dtype and in float64.

        There is no float64 result where the reference is random, has no float64 form, or does not
        fit memory or time in it.

        Raises:
            TaskInvalid: if the reference fails.
        """
        with self._questions.lock:
            answer, blobs = self._answer_with_exact(workload)
            length = int(self._questions.analysis()["reduction_length"])
        match self._questions.tree(answer.get("tree"), blobs):
            case {"eager": eager, "exact": exact}:
                mutated = tuple(int(index) for index in answer.get("mutated", ()))
                return Expected(eager, exact, mutated, length)
        raise self._questions.blame(nonsense("no result"))

    def mutants(self, workload: Workload) -> tuple[MutantOutput, ...]:
        """Return what wrong versions of the reference would return on a workload.

        A mutant without outputs does not apply on this workload; `why` says so. Each operation
        that is left out is a mutant of its own, `dropped_op: relu`.

        Raises:
            TaskInvalid: if the reference fails.
        """
        header = {"workload": to_json(workload)}
        with self._questions.lock:
            names = self._questions.ask({"op": "mutants", **header})[0].get("names", ())
            return tuple(self._mutant(str(name), header) for name in names)

    def baseline(self) -> AbstractContextManager[Module]:
        """Start a fresh process that holds the reference module, for timing."""
        return self._baseline()

    def baseline_name(self) -> str:
        """Name what `baseline` runs: `torch eager 2.13.0, 1 thread`."""
        machine = self._questions.ask({"op": "machine"})[0]
        threads = int(machine["threads"])
        version = str(machine["torch"]).partition("+")[0]
        return f"torch eager {version}, {threads} thread{'' if threads == 1 else 's'}"

    @contextlib.contextmanager
    def _baseline(self) -> Iterator[Module]:
        with tempfile.TemporaryDirectory(prefix="baseline-") as folder:
            (Path(folder) / FILE).write_text(self._task.source, encoding="utf-8")
            child = self._sandbox.start(
                HOST_ENTRY, workdir=Path(folder), limits=long_lived(self._memory_bytes)
            )
            wait_s = self._timeout_s
            timeouts = Timeouts(construct_s=wait_s, run_s=wait_s, tick_s=wait_s, other_s=wait_s)
            file = ModuleFile(FILE, "Model", "task")
            with ModuleClient(child, file, timeouts=timeouts) as module:
                yield module

    def _mutant(self, name: str, header: Mapping[str, Json]) -> MutantOutput:
        try:
            answer, blobs = self._questions.try_asking({"op": "mutant", "name": name, **header})
        except ReferenceFailed as failed:
            # A wrong version of the reference may fail; that is no fault of the task.
            return MutantOutput(name, None, f"it fails: {failed.summary}")
        if "outputs" not in answer:
            return MutantOutput(name, None, str(answer.get("why")))
        return MutantOutput(name, self._questions.tree(answer["outputs"], blobs))

    def _answer_with_exact(self, workload: Workload) -> tuple[dict[str, Any], Sequence[Buffer]]:
        header: dict[str, Json] = {"op": "expected", "workload": to_json(workload)}
        if self._has_exact:
            try:
                return self._questions.try_asking({**header, "exact": True})
            except ReferenceFailed as failed:
                # The eager result may still come: twice the width can be too much.
                if failed.cause not in (Cause.MEMORY, Cause.TIMEOUT):
                    raise self._questions.blame(failed) from failed
                self._has_exact = False
        return self._questions.ask({**header, "exact": False})

    def _is_fair(self, template: Workload) -> bool:
        if template not in self._fair:
            self._fair[template] = self._judged(template)
        return not self._fair[template]

    def _judged(self, template: Workload) -> str:
        if self._small is None:
            self._small = replace(OFFICIAL, sizes=self._questions.small_sizes())
        workload = template if template.sizes else replace(template, sizes=self._small.sizes)
        header: dict[str, Json] = {
            "op": "judge",
            "workload": to_json(workload),
            "official": to_json(self._small),
            "exact": self._has_exact,
            "reduction_length": self._questions.analysis()["reduction_length"],
        }
        try:
            return str(self._questions.try_asking(header)[0].get("why"))
        except ReferenceFailed as failed:
            return f"the reference fails on it: {failed.summary}"

    def _known_traits(self) -> Traits:
        if self._traits is None:
            found, _ = self._questions.ask({"op": "traits", "workload": to_json(OFFICIAL)})
            need = need_of(self._questions.analysis())
            self._traits = Traits(
                can_redraw=bool(found.get("can_redraw")),
                can_randomise=bool(found.get("can_randomise")),
                can_restride=bool(found.get("can_restride")),
                edge=edge_sizes(self._task.source, need, self._questions.measured),
            )
        return self._traits
