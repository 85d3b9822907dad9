"""The task: a PyTorch reference operator, what it takes, and how close an answer must come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernelwright.core.fingerprint import fingerprint


class Tolerance(StrEnum):
    """Which rule says that two outputs agree; its name stands in every result."""

    STRICT = "strict"
    """Relative to the output's scale, by dtype and reduction length (the default)."""
    OFFICIAL = "official"
    """KernelBench's own: atol = rtol = 1e-4 for float32, 1e-2 for half precision."""
    EVOKERNEL = "evokernel"
    """EvoKernel, Appendix F.1: atol = rtol = 1e-2 for every dtype."""


class Role(StrEnum):
    """What an operand is to the module."""

    INPUT = "input"
    INIT = "init"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """Shape and type of one operand, as the reference has it.

    Attributes:
        name: Argument or parameter name; outputs are named by their place, `output[0]`.
        role: What the operand is to the module.
        type: `tensor`, or the Python type of a scalar (`int`, `float`, `bool`, `NoneType`, ...).
        dtype: PyTorch's name without `torch.` for a tensor, else None.
        shape: Extents of a tensor, else `()`.
        is_contiguous: Whether the reference's own inputs give it in row-major order.
        value: A scalar's value as text, else None.
    """

    name: str
    role: Role
    type: str
    dtype: str | None = None
    shape: tuple[int, ...] = ()
    is_contiguous: bool = True
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Shrink:
    """How oversized inputs were made smaller: the module-level sizes that were rewritten.

    Attributes:
        rule: Name and version of the rule, as documented in docs/tasks.md.
        sizes: (name, size in the file, size used) of every rewritten constant.
        max_bytes: Bound that was asked for on inputs + parameters + activations, or None.
        max_flops: Bound that was asked for on floating-point operations, or None.
    """

    rule: str
    sizes: tuple[tuple[str, int, int], ...]
    max_bytes: int | None = None
    max_flops: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A reference operator as data; its code runs only in the sandbox.

    Attributes:
        name: File stem, such as `softmax`.
        source: Python text that defines `Model`, `get_inputs` and `get_init_inputs`, after
            shrinking; running it gives the reference.
        path: Where it was read from, for messages.
        suite: Name of the suite it belongs to, or empty.
        category: Suite's category or level (`level1`, `activation`), or empty.
        version: Commit or content hash of the suite or file it came from.
        operands: What the reference takes, owns and returns.
        is_random: Whether two calls with equal inputs differ (dropout in training mode).
        is_training: Whether the reference runs in training mode, as KernelBench leaves it.
        input_bytes: Bytes of inputs and parameters together.
        flops: Floating-point operations of one call, 0 where they could not be counted.
        shrink: How its sizes were reduced, or None if they are the file's own.
    """

    name: str
    source: str
    path: str
    suite: str = ""
    category: str = ""
    version: str = ""
    operands: tuple[OperandSpec, ...] = ()
    is_random: bool = False
    is_training: bool = True
    input_bytes: int = 0
    flops: int = 0
    shrink: Shrink | None = None

    @property
    def task_id(self) -> str:
        """Identity by content: the same source is the same task wherever it lies."""
        return fingerprint(["task", self.source])

    def by_role(self, role: Role) -> tuple[OperandSpec, ...]:
        """Return the operands that have `role`, in order."""
        return tuple(spec for spec in self.operands if spec.role is role)
