"""One trial: the candidate runs first on secret inputs, and only then the reference.

Takes:   a live module, an oracle, a workload.
Gives:   what the trial showed, as an `Outcome`.
Leaves:  which workloads, how many, and the verdict to `correctness.py`.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from kernelwright.core.execution import (
    Expected,
    Failure,
    Poison,
    Returned,
    StateTransfer,
    Workload,
)
from kernelwright.core.fault import Fault
from kernelwright.core.ports import Module, Oracle
from kernelwright.core.task import Tolerance
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.core.verdict import Category
from kernelwright.verify.compare import Mismatch, compare
from kernelwright.verify.plan import Handover, is_official
from kernelwright.verify.policy import Stopwatch

KEPT_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one trial showed.

    Attributes:
        failure: Why the candidate is rejected without another trial, None if it is not.
        mismatch: Numbers that disagree; further trials may still run.
        refused: What the candidate said when it refused an edge shape, which is no failure.
        transfer: How both sides came to hold equal parameters; None if that was not reached.
        is_traced: Whether the operators of this run were recorded.
        is_repeated: Whether the module was called a second time.
        is_idle: Whether a traced run returned the same without the candidate's kernels.
        faults: Warnings of an emulated device.
    """

    failure: Failure | None = None
    mismatch: Mismatch | None = None
    refused: str = ""
    transfer: StateTransfer | None = None
    is_traced: bool = False
    is_repeated: bool = False
    is_idle: bool = False
    faults: tuple[Fault, ...] = ()

    @property
    def is_passed(self) -> bool:
        """Whether the candidate gave right answers in this trial."""
        return self.failure is None and self.mismatch is None and not self.refused


@dataclass(frozen=True, slots=True)
class Trial:
    """What a trial does.

    Attributes:
        number: From 1, as feedback counts them.
        workload: Inputs and parameters.
        poison: What fresh memory holds before the run.
        is_traced: Whether to record the operators that run.
        is_repeated: Whether the same module is called twice on the same inputs.
    """

    number: int
    workload: Workload
    poison: Poison
    is_traced: bool
    is_repeated: bool = False


@dataclass(slots=True)
class KeptOutputs:
    """Outputs of earlier runs, with what they were, to see whether a later run changed them.

    Bytes that nobody can write to any more are not kept: they came as a message of their own.
    """

    held: list[tuple[int, Tree, tuple[int, ...]]] = field(default_factory=list)
    held_bytes: int = 0

    def keep(self, number: int, outputs: Tree) -> None:
        """Hold on to the outputs of a trial, up to `KEPT_BYTES` in all."""
        tensors = [leaf for _, leaf in leaves(outputs) if isinstance(leaf, Tensor)]
        if all(isinstance(memoryview(tensor.data).obj, bytes) for tensor in tensors):
            return
        size = sum(tensor.size_bytes for tensor in tensors)
        if self.held_bytes + size <= KEPT_BYTES:
            self.held_bytes += size
            self.held.append((number, outputs, _digests(outputs)))

    def changed(self) -> int | None:
        """Return the number of a trial whose outputs are no longer what they were, or None."""
        for number, outputs, digests in self.held:
            if _digests(outputs) != digests:
                return number
        return None


@dataclass(frozen=True, slots=True)
class Bench:
    """Everything a trial needs besides the module: who knows the truth, and the rules.

    Attributes:
        oracle: Answers for the reference.
        tolerance: Name of the rule of comparison.
        allowed_operators: PyTorch operators that a candidate may dispatch.
        is_edge_refusal_allowed: Whether an edge shape may be refused by an exception.
        clock: Seconds, rising.
        stopwatch: Where the time of each phase goes.
        kept: Outputs of earlier trials.
        handover: Where the official trial is left for the latency gate.
    """

    oracle: Oracle
    tolerance: Tolerance
    allowed_operators: frozenset[str]
    is_edge_refusal_allowed: bool
    clock: Callable[[], float]
    stopwatch: Stopwatch
    kept: KeptOutputs
    handover: Handover


def run_trial(module: Module, trial: Trial, bench: Bench) -> Outcome:
    """Run the candidate on a workload, then the reference, and compare."""
    call = bench.oracle.call(trial.workload)
    bench.stopwatch.lap("inputs")
    started = bench.clock()
    transfer = module.construct(call)
    if isinstance(transfer, Failure):
        return _failed(transfer, trial, bench, bench.clock() - started)
    returned = module.run(call.args, poison=trial.poison, is_traced=trial.is_traced)
    bench.stopwatch.lap("candidate")
    if isinstance(returned, Failure):
        return _failed(returned, trial, bench, bench.clock() - started)
    cheated = traced_failure(returned, bench.allowed_operators) if trial.is_traced else None
    if cheated is not None:
        return Outcome(failure=cheated)
    expected = bench.oracle.expected(trial.workload)
    bench.stopwatch.lap("reference")
    judged = _judged(returned, expected, bench)
    bench.stopwatch.lap("comparison")
    if is_official(trial.workload):
        bench.handover.call, bench.handover.expected = call, expected
    if judged is None:
        bench.kept.keep(trial.number, returned.outputs)
        if trial.is_repeated:
            judged = _second_call(module, trial, bench, (call.args, returned, expected))
    if isinstance(judged, Failure):
        return Outcome(failure=judged)
    return Outcome(
        mismatch=judged,
        transfer=transfer,
        is_traced=trial.is_traced,
        is_repeated=trial.is_repeated,
        is_idle=returned.is_idle,
        faults=returned.faults,
    )


def traced_failure(returned: Returned, allowed: frozenset[str]) -> Failure | None:
    """Return why a traced run shows that the work was not done in the candidate's own kernel."""
    foreign = sorted(set(returned.dispatched) - allowed)
    if foreign:
        what = f"PyTorch operator {', '.join(foreign)} ran inside forward"
        return Failure(Category.HACK, f"[FAIL] {what}; compute it in the kernel instead")
    if not returned.kernel_calls:
        what = "forward called no kernel of the candidate's own library"
        return Failure(Category.HACK, f"[FAIL] {what}; the output must come from the kernel")
    return None


def _judged(returned: Returned, expected: Expected, bench: Bench) -> Mismatch | Failure | None:
    foreign = sorted(set(returned.mutated_args) - set(expected.mutated_args))
    if foreign:
        places = ", ".join(str(index) for index in foreign)
        return Failure(
            Category.INPUT_MUTATED,
            f"[FAIL] forward changed its argument {places}; the reference leaves it alone",
        )
    return compare(returned.outputs, expected, bench.tolerance)


def _second_call(
    module: Module,
    trial: Trial,
    bench: Bench,
    first: tuple[tuple[Tree, ...], Returned, Expected],
) -> Mismatch | Failure | None:
    """Call the same module again on the same inputs: state that it carries over must not show."""
    args, returned, expected = first
    poison = Poison.PLAUSIBLE if trial.poison is Poison.NAN else Poison.NAN
    started = bench.clock()
    again = module.run(args, poison=poison)
    bench.stopwatch.lap("candidate")
    if isinstance(again, Failure):
        return worded(again, f"Second call of trial {trial.number}", bench.clock() - started)
    found = _judged(again, expected, bench)
    bench.stopwatch.lap("comparison")
    if isinstance(found, Mismatch):
        return Mismatch(found.category, f"second call: {found.text}", found.rule)
    return found


def _failed(failure: Failure, trial: Trial, bench: Bench, elapsed_s: float) -> Outcome:
    is_refusal = trial.workload.sizes and failure.category is Category.EXCEPTION
    if is_refusal and bench.is_edge_refusal_allowed:
        return Outcome(refused=failure.reason)
    ordinal = "First correctness run" if trial.number == 1 else f"Correctness run {trial.number}"
    return Outcome(failure=worded(failure, ordinal, elapsed_s))


def worded(failure: Failure, what: str, elapsed_s: float) -> Failure:
    """Return a failure with the words of EvoKernel, Appendix F.1."""
    if failure.reason.startswith("[FAIL]"):
        return failure
    if failure.category is not Category.TIMEOUT:
        return dataclasses.replace(failure, reason=f"[FAIL] {failure.reason}")
    told = failure.reason[:1].upper() + failure.reason[1:]
    if "timed out" not in told:
        told = f"{what} timed out after {elapsed_s:.0f}s"
    return dataclasses.replace(failure, reason=f"[FAIL] {told}")


def _digests(outputs: Tree) -> tuple[int, ...]:
    found = (leaf for _, leaf in leaves(outputs))
    return tuple(zlib.crc32(leaf.data) for leaf in found if isinstance(leaf, Tensor))
