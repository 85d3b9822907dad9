"""A tiny real task in numpy, with an oracle, a backend and modules on a clock that tests move.

Nothing here imitates a verdict: the functions compute, the modules run them, the time they take
is what they say it is.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import (
    Build,
    Call,
    Distribution,
    Expected,
    Failure,
    Finding,
    MutantOutput,
    ParameterDraw,
    Poison,
    Returned,
    StateTransfer,
    Workload,
)
from kernelwright.core.fault import Fault
from kernelwright.core.ports import Module
from kernelwright.core.profile import Profile
from kernelwright.core.task import OperandSpec, Role, Task
from kernelwright.core.tensor import Tensor, Tree
from kernelwright.core.verdict import Category, Latency

Array = NDArray[np.generic]
ALLOWED = frozenset({"aten::empty", "aten::view"})


@dataclass
class Clock:
    """Seconds that pass only when something says so."""

    now: float = 0.0

    def __call__(self) -> float:
        self.now += 1e-6
        return self.now


def tensor(array: Array) -> Tensor:
    """Return an array as a tensor of its own bytes."""
    return Tensor(str(array.dtype), array.shape, array.tobytes())


def array(value: Tree) -> Array:
    """Return a tensor as a writable array."""
    assert isinstance(value, Tensor)
    return np.frombuffer(value.data, dtype=value.dtype).reshape(value.shape).copy()


def scaled_softmax(x: Array, weight: Array) -> Array:
    """The task: softmax over the last axis, times one weight a column."""
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True) * weight


Function = Callable[[Array, Array], Array]


@dataclass
class Kernel:
    """An honest kernel; the cheats of the tests change one method each."""

    function: Function = scaled_softmax
    call_s: float = 50e-6
    dispatched: tuple[str, ...] = ("aten::empty",)
    kernel_calls: tuple[str, ...] = ("softmax",)
    faults: tuple[Fault, ...] = ()

    def construct(self, call: Call) -> Failure | None:
        """Hear of a construction."""
        return None

    def compute(self, x: Array, weight: Array, memory: Array) -> Tree:
        """Return the answer; a kernel gets `memory` as an allocator would give it."""
        return tensor(self.function(x, weight))

    def timed(self, x: Array, weight: Array, memory: Array) -> tuple[Tree, float]:
        """Return the answer of a timed call and the seconds it takes."""
        return self.compute(x, weight, memory), self.call_s


@dataclass
class SmallModule:
    """Runs a kernel; implements `core.ports.Module`."""

    kernel: Kernel
    clock: Clock
    transfer: StateTransfer = StateTransfer.COPIED
    weight: Array = field(default_factory=lambda: np.ones(1, np.float32))
    held: list[Array] = field(default_factory=list)
    hold_s: float = 0.0
    profile: Profile | None = None
    last: Tree = None
    jitter: random.Random = field(default_factory=lambda: random.Random(7))

    def construct(self, call: Call) -> StateTransfer | Failure:
        failure = self.kernel.construct(call)
        if failure is not None:
            return failure
        self.weight = array(call.state["weight"])
        return self.transfer

    def run(
        self, args: tuple[Tree, ...], *, poison: Poison | None = None, is_traced: bool = False
    ) -> Returned | Failure:
        x = array(args[0])
        before = x.copy()
        memory = np.full_like(x, np.nan if poison is Poison.NAN else 0.125)
        outputs = self.kernel.compute(x, self.weight, memory)
        if isinstance(outputs, Failure):
            return outputs
        mutated = () if x.tobytes() == before.tobytes() else (0,)
        traced = (self.kernel.dispatched, self.kernel.kernel_calls) if is_traced else ((), ())
        return Returned(outputs, mutated, *traced, faults=self.kernel.faults, profile=self.profile)

    def hold(self, calls: Sequence[tuple[Tree, ...]]) -> None | Failure:
        self.held = [array(args[0]) for args in calls]
        self.clock.now += self.hold_s
        return None

    def tick(
        self, index: int, *, repeats: int, is_cold: bool, keep: int | None = None
    ) -> float | Failure:
        total_s = 0.0
        for step in range(repeats):
            x = self.held[(index + step) % len(self.held)]
            last, spent_s = self.kernel.timed(x, self.weight, np.full_like(x, 0.125))
            if keep is None or step == keep:
                self.last = last
            total_s += spent_s * self.jitter.uniform(0.99, 1.01)
        self.clock.now += total_s
        return total_s

    def last_outputs(self) -> Tree | Failure:
        return self.last


@dataclass
class SmallOracle:
    """Knows the task; implements `core.ports.Oracle`."""

    clock: Clock = field(default_factory=Clock)
    function: Function = scaled_softmax
    shape: tuple[int, int] = (16, 96)
    baseline_s: float = 100e-6
    dtype: str = "float32"
    asked: list[str] = field(default_factory=list)

    @property
    def task(self) -> Task:
        weight = OperandSpec("weight", Role.PARAMETER, "tensor", "float32", (self.shape[1],))
        return Task("scaled_softmax", "source", "scaled_softmax.py", operands=(weight,))

    def workloads(self, seeds: Sequence[int]) -> tuple[Workload, ...]:
        kinds = (
            Workload(0),
            Workload(0, Distribution.SIGNED, ParameterDraw.RANDOMISED),
            Workload(0, Distribution.LARGE),
            Workload(0, sizes=(("rows", 3),)),
        )
        return tuple(
            Workload(seed, kind.distribution, kind.parameters, sizes=kind.sizes)
            for seed, kind in zip(seeds, kinds, strict=False)
        )

    def call(self, workload: Workload) -> Call:
        self.asked.append("call")
        rng = np.random.default_rng(workload.seed)
        shape = (3, self.shape[1]) if workload.sizes else self.shape
        x = rng.random(shape)
        if workload.distribution is not Distribution.OFFICIAL:
            scale = 100.0 if workload.distribution is Distribution.LARGE else 1.0
            x = rng.normal(size=shape) * scale
        is_random = workload.parameters is ParameterDraw.RANDOMISED
        weight = rng.normal(size=shape[1]) if is_random else np.ones(shape[1])
        state = {"weight": tensor(weight.astype(self.dtype))}
        return Call(workload.seed, (), state, (tensor(x.astype(self.dtype)),), True)

    def expected(self, workload: Workload) -> Expected:
        self.asked.append("expected")
        call = self.call(workload)
        x, weight = array(call.args[0]), array(call.state["weight"])
        exact = self.function(x.astype(np.float64), weight.astype(np.float64))
        return Expected(tensor(self.function(x, weight)), tensor(exact), (), self.shape[1])

    def mutants(self, workload: Workload) -> tuple[MutantOutput, ...]:
        call, other = self.call(workload), self.call(Workload(workload.seed + 1))
        x, weight = array(call.args[0]), array(call.state["weight"])
        right = self.function(x, weight)
        swapped = self.function(array(other.args[0])[: x.shape[0]], weight)
        return (
            MutantOutput("zeros", tensor(np.zeros_like(right))),
            MutantOutput("other_input", tensor(swapped)),
            MutantOutput("half_precision", tensor(right.astype(np.float16).astype(right.dtype))),
            MutantOutput("ignored_weight", tensor(self.function(x, np.ones_like(weight)))),
            MutantOutput("wrong_axis", None, "no operation takes an axis"),
        )

    @contextlib.contextmanager
    def baseline(self) -> Iterator[Module]:
        yield SmallModule(Kernel(self.function, self.baseline_s), self.clock)

    def baseline_name(self) -> str:
        return "numpy eager, 1 thread"


@dataclass
class SmallBackend:
    """Opens one kernel whatever the candidate says; implements `core.ports.Backend`."""

    kernel: Kernel
    clock: Clock
    transfer: StateTransfer = StateTransfer.COPIED
    findings: tuple[Finding, ...] = ()
    failure: Failure | None = None
    hold_s: float = 0.0
    ceiling_gbps: float = 20.0
    is_simulated: bool = False
    name: str = "small"

    def versions(self) -> Mapping[str, str]:
        return {"small": "1"}

    def screen(self, candidate: Candidate, task: Task) -> tuple[Finding, ...]:
        return self.findings

    def build(self, candidate: Candidate) -> Build | Failure:
        return self.failure or Build(candidate, (), toolchain=(("compiler", "none"),))

    def open(self, build: Build) -> AbstractContextManager[Module]:
        profile = Profile(self.name, "timing model 1", True, 12.5) if self.is_simulated else None
        module = SmallModule(
            self.kernel, self.clock, self.transfer, hold_s=self.hold_s, profile=profile
        )
        return contextlib.nullcontext(module)

    def allowed_operators(self) -> frozenset[str]:
        return ALLOWED

    def profile(self, build: Build, latency: Latency, *, bytes_moved: int) -> Profile:
        return Profile(self.name, "perf_counter", self.is_simulated, latency.median_us)

    def copy_ceiling_gbps(self, working_set_bytes: int, *, is_cold: bool) -> float:
        return self.ceiling_gbps

    def export(self, candidate: Candidate, task: Task) -> Mapping[str, str]:
        return {}


def failing(category: Category, reason: str) -> Failure:
    """Return a failure as a module would give it."""
    return Failure(category, reason)
