"""The trusted side of a module: implements `core.ports.Module` over a sandboxed child.

Whatever the child does (raise, stall, die, answer nonsense) comes back as a `Failure`, a value.
Imports nothing of PyTorch: tensors are bytes here.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from kernelwright.core.execution import Call, Failure, Poison, Returned, StateTransfer
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer, MalformedTree, Tree, decoded, encoded
from kernelwright.core.verdict import Category
from kernelwright.sandbox.child import Child
from kernelwright.sandbox.limits import Cause, ChildFailed
from kernelwright.sandbox.state_names import Pairing

HOST_ENTRY = "kernelwright.sandbox.module_host:serve"
"""Entry of a child that hosts one module."""

Answer: TypeAlias = "tuple[dict[str, Json], list[Buffer]]"

_CALIBRATION_PULSES = 25
_TAIL_CHARACTERS = 600
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_CATEGORIES: Mapping[Cause, Category] = {
    Cause.TIMEOUT: Category.TIMEOUT,
    Cause.CPU_TIME: Category.TIMEOUT,
    Cause.MEMORY: Category.MEMORY,
}


@dataclass(frozen=True, slots=True)
class ModuleFile:
    """Which class of which file a child shall host.

    Attributes:
        path: Python file, relative to the child's work folder.
        class_name: `ModelNew` of a candidate, `Model` of a reference.
        module_name: Name under which the file is imported.
    """

    path: str = "model.py"
    class_name: str = "ModelNew"
    module_name: str = "candidate"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long one request may take, in seconds.

    Attributes:
        construct_s: Importing the file, and constructing the module.
        run_s: One correctness run.
        tick_s: One timed request, however many calls it makes.
        other_s: Moving bytes, flushing caches.
    """

    construct_s: float = 60.0
    run_s: float = 60.0
    tick_s: float = 60.0
    other_s: float = 60.0


class ModuleClient:
    """A module that is alive in a sandboxed child; leaving the `with` block ends the child."""

    def __init__(
        self, child: Child, file: ModuleFile | None = None, *, timeouts: Timeouts | None = None
    ) -> None:
        self._child = child
        self._file = file or ModuleFile()
        self._timeouts = timeouts or Timeouts()
        self._is_loaded = False
        self._runs = 0
        self._seed: int | None = None
        self._pairing = Pairing()
        self._failure: Failure | None = None
        self._overhead_s: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.close()

    def construct(self, call: Call) -> StateTransfer | Failure:
        """Seed, construct and fill the module; a later call replaces it."""
        loaded = self._load()
        if isinstance(loaded, Failure):
            return loaded
        self._seed = call.seed
        init, blobs = encoded(call.init)
        answer = self._ask(
            {"op": "construct", "seed": call.seed, "init": init, "training": call.is_training},
            blobs,
            doing="construction",
            timeout_s=self._timeouts.construct_s,
        )
        if isinstance(answer, Failure):
            return answer
        if not call.state:
            return StateTransfer.NONE
        names: dict[str, str] | Failure | None = self._pairing.of(answer[0], call.state)
        if names is None:
            told = self._ask({"op": "digests"}, doing="reading parameters")
            if isinstance(told, Failure):
                return told
            names = self._pairing.learned(told[0], call.state)
        if isinstance(names, Failure):
            return names
        if names is None:
            return StateTransfer.RESEEDED
        state, blobs = encoded({names[name]: tensor for name, tensor in call.state.items()})
        copied = self._ask({"op": "state", "state": state}, blobs, doing="copying parameters")
        return copied if isinstance(copied, Failure) else StateTransfer.COPIED

    def run(
        self, args: tuple[Tree, ...], *, poison: Poison | None = None, is_traced: bool = False
    ) -> Returned | Failure:
        """Call `forward` once on private copies of `args`, seeded as the reference's call is."""
        skeleton, blobs = encoded(args)
        header: dict[str, Json] = {
            "op": "run",
            "args": skeleton,
            "poison": None if poison is None else poison.value,
            "trace": is_traced,
            "seed": self._seed,
        }
        ordinal = _ORDINALS[self._runs] if self._runs < len(_ORDINALS) else f"{self._runs + 1}th"
        self._runs += 1
        answer = self._ask(
            header, blobs, doing=f"{ordinal} correctness run", timeout_s=self._timeouts.run_s
        )
        if isinstance(answer, Failure):
            return answer
        fields, out = answer
        try:
            outputs = decoded(fields.get("outputs"), out)
            mutated = _integers(fields.get("mutated"), below=len(args))
            names = _texts(fields.get("dispatched"))
            kernels = _texts(fields.get("kernel_calls"))
        except (MalformedTree, RecursionError) as fault:
            return self._nonsense(fault)
        return Returned(outputs, mutated, names, kernels, fields.get("idle") is True)

    def hold(self, calls: Sequence[tuple[Tree, ...]]) -> None | Failure:
        """Keep argument sets in the process; equal shapes get new content at old addresses."""
        skeleton, blobs = encoded(list(calls))
        answer = self._ask({"op": "hold", "sets": skeleton}, blobs, doing="sending inputs")
        return answer if isinstance(answer, Failure) else None

    def tick(
        self, index: int, *, repeats: int, is_cold: bool, keep: int | None = None
    ) -> float | Failure:
        """Return the seconds of `repeats` calls on sets from `index` on, less the cost of asking.

        With `is_cold` every call is asked for on its own, after a flush outside the clock.
        """
        if self._overhead_s is None:
            overhead = self._calibrated()
            if isinstance(overhead, Failure):
                return overhead
            self._overhead_s = overhead
        rounds, calls = (repeats, 1) if is_cold else (1, repeats)
        total_s = 0.0
        for step in range(rounds):
            if is_cold:
                flushed = self._ask({"op": "flush"}, doing="flushing caches")
                if isinstance(flushed, Failure):
                    return flushed
            header: dict[str, Json] = {"op": "tick", "set": index + step, "repeats": calls}
            elapsed_s = self._pulse(header | {"keep": keep} if calls > 1 else header)
            if isinstance(elapsed_s, Failure):
                return elapsed_s
            total_s += max(elapsed_s - self._overhead_s, 0.0)
            settled = self._ask({"op": "settle"}, doing="timed run")
            if isinstance(settled, Failure):
                return settled
        return total_s

    def last_outputs(self) -> Tree | Failure:
        """Return what the timed call to be kept returned, else the last, copied at once."""
        answer = self._ask({"op": "outputs"}, doing="fetching timed outputs")
        if isinstance(answer, Failure):
            return answer
        try:
            return decoded(answer[0].get("outputs"), answer[1])
        except (MalformedTree, RecursionError) as fault:
            return self._nonsense(fault)

    def _load(self) -> None | Failure:
        if self._is_loaded:
            return None
        answer = self._ask(
            {
                "op": "load",
                "file": self._file.path,
                "class": self._file.class_name,
                "name": self._file.module_name,
            },
            doing=f"importing {self._file.path}",
            timeout_s=self._timeouts.construct_s,
        )
        if isinstance(answer, Failure):
            return answer
        self._is_loaded = True
        return None

    def _calibrated(self) -> float | Failure:
        """Return the median seconds of a request that does nothing."""
        pulses = []
        for _ in range(_CALIBRATION_PULSES):
            pulse = self._pulse({"op": "nothing"})
            if isinstance(pulse, Failure):
                return pulse
            pulses.append(pulse)
        return statistics.median(pulses)

    def _pulse(self, header: Mapping[str, Json]) -> float | Failure:
        if self._failure is not None:
            return self._failure
        try:
            return self._child.pulse(header, timeout_s=self._timeouts.tick_s)
        except ChildFailed as failed:
            return self._dead(failed, "timed run", self._timeouts.tick_s)

    def _ask(
        self,
        header: Mapping[str, Json],
        blobs: Sequence[Buffer] = (),
        *,
        doing: str,
        timeout_s: float | None = None,
    ) -> Answer | Failure:
        if self._failure is not None:
            return self._failure
        limit_s = self._timeouts.other_s if timeout_s is None else timeout_s
        try:
            answer, out = self._child.call(header, blobs, timeout_s=limit_s)
        except ChildFailed as failed:
            return self._dead(failed, doing, limit_s)
        failure = answer.get("failure")
        if failure is not None:
            return _failure_in(failure)
        if answer.get("ok") is not True:
            return self._nonsense(ValueError("neither an answer nor a failure"))
        return answer, out

    def _dead(self, failed: ChildFailed, doing: str, limit_s: float) -> Failure:
        # A dead child stays dead: later requests get the same answer at once.
        self._failure = _death(failed, doing, limit_s)
        return self._failure

    def _nonsense(self, fault: Exception) -> Failure:
        self._failure = Failure(Category.CRASH, f"the process answered nonsense: {fault}")
        return self._failure


def _death(failed: ChildFailed, doing: str, limit_s: float) -> Failure:
    category = _CATEGORIES.get(failed.cause, Category.CRASH)
    if failed.cause is Cause.TIMEOUT:
        reason = f"{doing} timed out after {limit_s:g}s"
    elif failed.cause is Cause.PROCESSES:
        reason = f"{doing} started more threads or processes than the baseline may use"
    else:
        reason = f"the process died during {doing}: {failed.detail}"
    tail = failed.stderr_tail.strip()[-_TAIL_CHARACTERS:]
    return Failure(category, f"{reason}\n{tail}".strip())


def _failure_in(failure: Json) -> Failure:
    fields = failure if isinstance(failure, Mapping) else {}
    category, reason = fields.get("category"), str(fields.get("reason"))[:4000]
    known = {item.value for item in Category}
    return Failure(Category(str(category)) if category in known else Category.CRASH, reason)


def _integers(value: Json, *, below: int) -> tuple[int, ...]:
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else (None,)
    numbers = tuple(n for n in items if isinstance(n, int) and not isinstance(n, bool))
    if len(numbers) != len(items) or not all(0 <= n < below for n in numbers):
        raise MalformedTree("expected a list of argument indices")
    return numbers


def _texts(value: Json) -> tuple[str, ...]:
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else (None,)
    names = tuple(text[:200] for text in items if isinstance(text, str))
    if len(names) != len(items):
        raise MalformedTree("expected a list of names")
    return names
