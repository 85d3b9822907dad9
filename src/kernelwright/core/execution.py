"""Records of building and running a module: what goes into a sandboxed process and comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.candidate import Candidate
from kernelwright.core.fault import Fault
from kernelwright.core.profile import Profile
from kernelwright.core.tensor import Tensor, Tree
from kernelwright.core.verdict import Category


class Distribution(StrEnum):
    """How the floating-point inputs of a workload are drawn; shapes and dtypes stay the task's."""

    OFFICIAL = "official"
    """Exactly as the file's `get_inputs` draws them after seeding."""
    SIGNED = "signed"
    """Normal, zero mean: the official inputs of many tasks are never negative."""
    LARGE = "large"
    """Signed with large magnitude: shortcuts such as softmax without the maximum overflow."""
    TINY = "tiny"
    """Signed with small magnitude."""
    TIES = "ties"
    """Few distinct values and exact zeros."""
    SPECIAL = "special"
    """Signed with infinities, NaN, signed zeros and subnormals sprinkled in."""


class ParameterDraw(StrEnum):
    """What the module's parameters and buffers hold."""

    OFFICIAL = "official"
    """As constructed after seeding: biases may be zero and scales one."""
    RANDOMISED = "randomised"
    """Redrawn, so that a candidate that ignores a parameter is found out."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One concrete set of inputs of a task; the same workload gives the same bytes.

    Attributes:
        seed: Seed of everything that is drawn.
        distribution: How floating-point inputs are drawn.
        parameters: What parameters and buffers hold.
        is_strided: Whether inputs come in a non-default memory layout with the same values.
        sizes: (name, value) of module-level sizes that differ from the task's: an edge shape.
    """

    seed: int
    distribution: Distribution = Distribution.OFFICIAL
    parameters: ParameterDraw = ParameterDraw.OFFICIAL
    is_strided: bool = False
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def label(self) -> str:
        """Short description for reports, without the seed."""
        words = [self.distribution.value]
        if self.parameters is ParameterDraw.RANDOMISED:
            words.append("randomised parameters")
        if self.is_strided:
            words.append("strided")
        if self.sizes:
            words.append("edge shape " + ", ".join(f"{name}={value}" for name, value in self.sizes))
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Call:
    """What a module is constructed from and called with.

    Attributes:
        seed: Seed set before construction, as the benchmark does on both sides.
        init: Positional arguments of the constructor.
        state: Parameters and buffers to copy in after construction, by name.
        args: Positional arguments of `forward`.
        is_training: Mode of the module.
    """

    seed: int
    init: tuple[Tree, ...]
    state: Mapping[str, Tensor]
    args: tuple[Tree, ...]
    is_training: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """What the reference returned for a workload.

    Attributes:
        outputs: The eager reference's outputs: structure, shapes and dtypes are judged by it.
        exact: The same computed in float64, None where the reference has no float64 form.
        mutated_args: Indices of arguments that the reference itself writes to.
        reduction_length: Longest reduction on the way to an output, in elements; 1 if none.
    """

    outputs: Tree
    exact: Tree | None
    mutated_args: tuple[int, ...] = ()
    reduction_length: int = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a module could not be loaded, constructed or run; the candidate's fault, a value.

    Attributes:
        category: Kind of the failure.
        reason: What failed, in words.
        faults: Broken rules of the target machine behind it, where an emulator found any.
    """

    category: Category
    reason: str
    faults: tuple[Fault, ...] = ()


class StateTransfer(StrEnum):
    """How both sides came to hold equal parameters."""

    NONE = "none"
    """The reference has no parameters and no buffers."""
    COPIED = "copied"
    """The harness copied them by name."""
    RESEEDED = "reseeded"
    """Names or shapes differ; both constructors drew them after the same seed."""


@dataclass(frozen=True, slots=True)
class Returned:
    """What one run of a module gave back.

    Attributes:
        outputs: Everything `forward` returned.
        mutated_args: Indices of arguments whose bytes differ after the call.
        dispatched: PyTorch operators that ran during the call, when a trace was asked for.
        kernel_calls: Calls into the candidate's own kernel library, by name, when traced.
        is_idle: Whether a traced call returned the same where its kernels did not run.
        faults: Suspicious but not wrong: warnings of an emulated device.
        profile: What a simulated device says this call cost; None where a device is real.
    """

    outputs: Tree
    mutated_args: tuple[int, ...] = ()
    dispatched: tuple[str, ...] = ()
    kernel_calls: tuple[str, ...] = ()
    is_idle: bool = False
    faults: tuple[Fault, ...] = ()
    profile: Profile | None = None


class Poison(StrEnum):
    """What fresh memory is filled with before a run, so that unwritten output shows."""

    NAN = "nan"
    PLAUSIBLE = "plausible"
    """A small ordinary number, for candidates that look for NaN."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation that a static rule found in a candidate.

    Attributes:
        rule: Stable identity of the rule, such as `torch-compute`.
        path: Part of the candidate.
        line: 1-based line in that part.
        message: What is wrong and what to do instead.
    """

    rule: str
    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Build:
    """A built candidate.

    Attributes:
        candidate: What was built.
        files: (path, content) of everything the process that runs it needs in its work folder.
        facts: Static facts of the built code: (name, value).
        toolchain: (name, version or flags) of what built it.
        wall_s: Seconds the build took; 0.0 when it came from the cache.
        is_cached: Whether it came from the build cache.
    """

    candidate: Candidate
    files: tuple[tuple[str, bytes], ...]
    facts: tuple[tuple[str, str], ...] = ()
    toolchain: tuple[tuple[str, str], ...] = ()
    wall_s: float = 0.0
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class MutantOutput:
    """Output of one mutant of the reference on one workload, for the admission of a task.

    Attributes:
        name: Kind of mutant: `zeros`, `constant`, `other_input`, `stale`, `half_precision`,
            `off_by_one_tile`, `wrong_axis`, `dropped_op`.
        outputs: What it returns, in the reference's structure; None where the mutant does not
            apply to this task (`why` says so), which is not counted as killed.
        why: Reason when it does not apply.
    """

    name: str
    outputs: Tree | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Kill:
    """What the chosen inputs and tolerance said of one mutant.

    Attributes:
        mutant: Name of the mutant.
        is_killed: Whether at least one workload rejected it.
        killed_by: Label of the workload that rejected it, or why it survived.
    """

    mutant: str
    is_killed: bool
    killed_by: str


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a task can tell right from wrong with the chosen workloads and tolerance.

    Attributes:
        kills: One entry a mutant that applies.
        workloads: The workloads that were chosen.
        redraws: How often the inputs were drawn again.
        not_applicable: (mutant, why) of mutants that this task does not have.
    """

    kills: tuple[Kill, ...]
    workloads: tuple[Workload, ...]
    redraws: int = 0
    not_applicable: tuple[tuple[str, str], ...] = ()

    @property
    def killed(self) -> int:
        """Number of mutants that were rejected."""
        return sum(kill.is_killed for kill in self.kills)

    @property
    def is_powerful(self) -> bool:
        """Whether every mutant that applies was rejected."""
        return self.killed == len(self.kills)
