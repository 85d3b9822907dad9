"""Every extension point on one page. A port is a small protocol; implementations do not inherit.

`kernelwright.testing` holds the contract of each port as a test class that third parties run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from kernelwright.core.budget import Budget, Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import (
    Build,
    Call,
    Expected,
    Failure,
    Finding,
    MutantOutput,
    Poison,
    Returned,
    StateTransfer,
    Workload,
)
from kernelwright.core.lesson import Lesson as Lesson
from kernelwright.core.lesson import ValueUpdate as ValueUpdate
from kernelwright.core.memory_item import MemoryItem
from kernelwright.core.profile import Profile
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.run import Run, RunStatus
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tree
from kernelwright.core.value import ValueView
from kernelwright.core.verdict import GateName, GateReport, Latency, Ratio, Verdict

# --- running modules --------------------------------------------------------------------------


class Module(Protocol):
    """A module that is alive in a sandboxed process: the candidate's or the reference's.

    Every method returns a `Failure` instead of raising when the module itself is at fault, also
    when its process dies, stalls or answers nonsense. The clock is the caller's, never the
    module's.
    """

    def construct(self, call: Call) -> StateTransfer | Failure:
        """Seed, construct and fill the module; a later call replaces it."""

    def run(
        self, args: tuple[Tree, ...], *, poison: Poison | None = None, is_traced: bool = False
    ) -> Returned | Failure:
        """Call `forward` once on private copies of `args`."""

    def hold(self, calls: Sequence[tuple[Tree, ...]]) -> None | Failure:
        """Keep argument sets in the process, ready to be timed."""

    def tick(
        self, index: int, *, repeats: int, is_cold: bool, keep: int | None = None
    ) -> float | Failure:
        """Call `forward` `repeats` times; return seconds for all of them together.

        The first call gets held set `index`, later ones the sets after it in turn, so that a
        kernel that remembers its last input gains nothing. `index + repeats` may pass the end.
        With `is_cold` the processor's caches are flushed before every call, outside the clock.
        `keep` names the call, from 0, whose outputs `last_outputs` gives; None keeps the last's.
        """

    def last_outputs(self) -> Tree | Failure:
        """Return what the timed call that was kept returned, so that timed work can be checked."""


class Backend(Protocol):
    """A target language with its toolchain and profiler."""

    @property
    def name(self) -> str:
        """Name in the registry, such as `cpu`."""

    @property
    def is_simulated(self) -> bool:
        """Whether its latencies come from a timing model instead of a device."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of everything that can change a build or a latency.

        Raises:
            ToolchainMissing: if this machine has no toolchain for it.
        """

    def screen(self, candidate: Candidate, task: Task) -> tuple[Finding, ...]:
        """Return what the static rules find; empty means that the candidate passes."""

    def build(self, candidate: Candidate) -> Build | Failure:
        """Build in the sandbox; the same candidate and toolchain may come from a cache.

        Raises:
            ToolchainMissing: if this machine has no toolchain for it.
        """

    def open(self, build: Build) -> AbstractContextManager[Module]:
        """Start a sandboxed process that holds the candidate's `ModelNew`."""

    def allowed_operators(self) -> frozenset[str]:
        """Return the PyTorch operators a candidate may dispatch: allocation, views, copies."""

    def profile(self, build: Build, latency: Latency, *, bytes_moved: int) -> Profile:
        """Describe a measured execution in the common shape and diagnose its bottleneck."""

    def copy_ceiling_gbps(self, working_set_bytes: int, *, is_cold: bool) -> float:
        """Return the measured copy bandwidth at a working-set size and cache state, in GB/s."""

    def knowledge(self) -> tuple[MemoryItem, ...]:
        """Return the seed knowledge of this backend: API cards and practices (M(0) of eq. 1)."""

    def candidate(self, files: Mapping[str, str]) -> Candidate:
        """Return files that a user has as a candidate; what `export` wrote is read back."""
        ...

    def export(self, candidate: Candidate, task: Task) -> Mapping[str, str]:
        """Return the files of an artifact that runs without this product, by path."""


class Oracle(Protocol):
    """The reference of one task, behind a sandboxed process of its own."""

    @property
    def task(self) -> Task:
        """The task it answers for."""

    def workloads(self, seeds: Sequence[int]) -> tuple[Workload, ...]:
        """Plan workloads from secret seeds: distributions, layouts and an edge shape where legal.

        The first workload is the official one. Only distributions for which the reference stays
        meaningful (finite where the official inputs give finite outputs) are planned.
        """

    def call(self, workload: Workload) -> Call:
        """Draw the inputs and parameters of a workload; cheap, the reference does not run."""

    def expected(self, workload: Workload) -> Expected:
        """Run the reference on a workload, in its own dtype and in float64."""

    def mutants(self, workload: Workload) -> tuple[MutantOutput, ...]:
        """Return what wrong versions of the reference would return on a workload."""

    def baseline(self) -> AbstractContextManager[Module]:
        """Start a fresh process that holds the reference module, for timing."""

    def baseline_name(self) -> str:
        """Name what `baseline` runs: `torch eager 2.13.0, 1 thread`."""


# --- verifying --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """What is being verified, and with what."""

    task: Task
    candidate: Candidate
    backend: Backend
    oracle: Oracle


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the gates have found so far; each gate gives it back with its own part added."""

    build: Build | None = None
    latency: Latency | None = None
    baseline: Latency | None = None
    speedups: tuple[Ratio, ...] = ()
    profile: Profile | None = None


class Gate(Protocol):
    """One check that a candidate passes or fails."""

    @property
    def name(self) -> GateName:
        """Which of the gates this is."""

    def check(self, subject: Subject, evidence: Evidence) -> tuple[GateReport, Evidence]:
        """Judge the subject; a bad candidate is a report, a broken machine an exception."""


class Verifier(Protocol):
    """Runs the gates in order and stops at the first failure."""

    def verify(
        self, candidate: Candidate, *, on_gate: Callable[[GateName], None] | None = None
    ) -> Verdict:
        """Return the verdict on a candidate; `on_gate` hears of each gate as it starts."""


# --- generating -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Everything a generator may know.

    Attributes:
        task: The task.
        backend: Name of the backend to write for.
        proposal: Draft, or refine which start point.
        context: Memory items chosen for it, in order of presentation.
        start_point: The candidate to refine; None when drafting.
        history: The rollouts of this task so far, with their feedback.
    """

    task: Task
    backend: str
    proposal: Proposal
    context: tuple[MemoryItem, ...]
    start_point: Candidate | None
    history: History


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generator made, and what it spent."""

    candidate: Candidate
    usage: Usage = Usage()


class Generator(Protocol):
    """Makes a candidate from a context."""

    @property
    def name(self) -> str:
        """Name in the registry, such as `offline`."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of everything that can change what it makes."""

    def generate(self, request: GenerationRequest, *, rng: random.Random) -> Generation:
        """Make one candidate; equal requests and equal random states give equal candidates.

        Raises:
            NotCovered: if this generator cannot write a kernel for the task at all.
        """


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model answered."""

    text: str
    usage: Usage = Usage()


class Model(Protocol):
    """A language model, whoever serves it."""

    @property
    def name(self) -> str:
        """`provider:model`."""

    def complete(self, *, system: str, prompt: str, seed: int | None = None) -> ModelReply:
        """Return the answer to one prompt.

        Raises:
            ModelUnavailable: if it cannot be reached; never answers in another model's place.
        """


# --- searching and remembering ----------------------------------------------------------------


class Strategy(Protocol):
    """Decides what to try next from the history alone, so that a run can be resumed or replayed."""

    @property
    def name(self) -> str:
        """Name in the registry, such as `evolve`."""

    def propose(self, history: History, *, values: ValueView, rng: random.Random) -> Proposal:
        """Return the next proposal; pure: equal arguments give equal proposals."""


class Learn(Protocol):
    """One step of the fold from the log to the values; `Memory.learn` is one.

    Pure: a store calls it inside the transaction that records the rollout, with the values as
    they are at that place in the log, so that live values equal the fold of the log whoever else
    writes at the same time. It must ask for values one by one (`values.of`), because what it is
    given may be read from the database on demand and is valid only during the call.
    """

    def __call__(self, rollout: Rollout, *, values: ValueView) -> Lesson:
        """Return what the rollout teaches, given everything that was learned before it."""


class Memory(Protocol):
    """The read side and the write side of the value-driven memory; both pure."""

    def retrieve(
        self,
        task: Task,
        proposal: Proposal,
        *,
        items: Sequence[MemoryItem],
        values: ValueView,
        rng: random.Random,
    ) -> tuple[MemoryItem, ...]:
        """Choose the context: a pool by similarity, then epsilon-greedy by the stage's values."""

    def reward(self, proposal: Proposal, verdict: Verdict, history: History) -> float:
        """Return the reward of a verdict, in [-1, 1] (EvoKernel, eq. 5 and 6)."""

    def learn(self, rollout: Rollout, *, values: ValueView) -> Lesson:
        """Return what the rollout teaches: credit for every item in its context, new items."""

    def fold(self, rollouts: Iterable[Rollout]) -> ValueView:
        """Rebuild all values from the log; equals the live ones."""


class Store(Protocol):
    """Where rollouts are kept: append-only log, memory items, blobs, and views over them.

    Safe to use from several threads, and from several processes on one database.
    """

    def begin(self, run: Run) -> Run:
        """Record a new run, or return the recorded one with the same identity.

        Raises:
            StoreConflict: if a run with that identity and another key is recorded.
        """

    def runs(self, *, key: str | None = None, task_id: str | None = None) -> tuple[Run, ...]:
        """Return runs, newest first."""

    def update_run(self, run_id: str, *, status: RunStatus, budget: Budget) -> None:
        """Change what may change about a run: where it stands and what it may spend.

        Raises:
            UnknownName: if there is no such run.
        """

    def prune(self, run_id: str, learn: Learn) -> int:
        """Forget a run, its rollouts and what only they taught; return how many rollouts went.

        Raises:
            UnknownName: if there is no such run.
        """

    def append(self, rollout: Rollout, learn: Learn) -> Lesson:
        """Record a rollout and what it teaches, all or nothing; return what it taught.

        Two writers cannot lose each other's updates, and the order of the log is the order in
        which values moved: folding the log gives the live values again. Appending a rollout that
        is recorded already changes nothing and teaches nothing.

        Raises:
            UnknownName: if its run was not begun.
            StoreConflict: if the run already has a different rollout with that index.
        """

    def rebuild(self, learn: Learn) -> ValueView:
        """Fold the whole log again, put the outcome in place of the live values and return it."""

    def history(self, run_id: str) -> History:
        """Return the rollouts of a run, in order."""

    def rollouts(self, *, task_id: str | None = None) -> tuple[Rollout, ...]:
        """Return all rollouts in the order in which they were recorded."""

    def seed_items(self, items: Sequence[MemoryItem]) -> int:
        """Add seed knowledge that is not there yet; return how many items were new."""

    def items(self, *, backend: str | None = None) -> tuple[MemoryItem, ...]:
        """Return memory items; with `backend`, those about it and those about all backends."""

    def values(self) -> ValueView:
        """Return the live values."""

    def updates_of(self, item_id: str) -> tuple[tuple[str, ValueUpdate], ...]:
        """Return (rollout id, update) of every time an item's value moved, oldest first."""

    def put_blob(self, data: bytes) -> str:
        """Keep bytes under their content address and return it."""

    def get_blob(self, address: str) -> bytes:
        """Return the bytes of a content address.

        Raises:
            RecordUnreadable: if there are none or they are damaged.
        """

    def close(self) -> None:
        """Release the database."""
