"""Verifying one candidate that a user has on disk."""

from __future__ import annotations

from kernelwright.artifacts.report import admission_json
from kernelwright.core.encode import to_json
from kernelwright.core.execution import Admission
from kernelwright.core.fingerprint import Json
from kernelwright.core.ports import Verifier
from kernelwright.core.task import Tolerance
from kernelwright.core.verdict import Feasible, Verdict
from kernelwright.engine.events import GateStarted, Listener, Preparing, TaskAdmitted, silent
from kernelwright.verify.admission import admit
from kernelwright.verify.feedback import verdict_json
from kernelwright.verify.policy import Policy
from kernelwright.verify.verifier import standard_verifier
from kernelwright.wiring.bench import Bench, opened_bench
from kernelwright.wiring.candidates import read_files
from kernelwright.wiring.options import VerifyOptions
from kernelwright.wiring.settings import Settings


def verify(
    options: VerifyOptions, settings: Settings, *, tell: Listener = silent
) -> dict[str, Json]:
    """Put a candidate through every gate and return the verdict as `verify --json` prints it.

    Raises:
        UsageMistake: if task or candidate cannot be read.
        TaskInvalid: if the task file is no task that runs here.
        MachineLacks: if the toolchain or the sandbox is not to be had.
    """
    files = read_files(options.candidate)
    with opened_bench(options.task, options.backend, settings, tell=tell) as bench:
        candidate = bench.backend.candidate(files)
        admission, verifier = admitted(bench, options.tolerance, tell=tell)
        verdict = verifier.verify(candidate, on_gate=lambda gate: tell(GateStarted(0, gate)))
        return {
            **verdict_fields(verdict, options.tolerance),
            "admission": admission_json(admission),
            "task": {
                "name": bench.task.name,
                "task_id": bench.task.task_id,
                "version": bench.task.version,
                "is_training": bench.task.is_training,
                "is_random": bench.task.is_random,
            },
            "backend": options.backend,
            "candidate": candidate.candidate_id,
            "shrink": None if bench.task.shrink is None else to_json(bench.task.shrink),
        }


def admitted(
    bench: Bench, tolerance: Tolerance, *, tell: Listener = silent
) -> tuple[Admission, Verifier]:
    """Find out what the task can tell apart, and return the verifier that uses that plan."""
    tell(Preparing("try wrong kernels on the task"))
    admission = admit(bench.oracle, tolerance)
    tell(TaskAdmitted(admission))
    verifier = standard_verifier(
        bench.backend,
        bench.oracle,
        policy=Policy(tolerance=tolerance),
        workloads=admission.workloads,
    )
    return admission, verifier


def verdict_fields(verdict: Verdict, tolerance: Tolerance) -> dict[str, Json]:
    """Return a verdict in the one form that `verify` and `solve` print, with its profile."""
    fields = verdict_json(verdict, tolerance=tolerance)
    profile = verdict.profile if isinstance(verdict, Feasible) else None
    return {**fields, "profile": None if profile is None else to_json(profile)}
