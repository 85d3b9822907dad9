"""A kernel under one launch's compile-time parameters."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl.bind import Number
from kernelwright.dsl.check.program import specialised
from kernelwright.dsl.diagnostics import Severity
from kernelwright.dsl.nodes import Kernel


def checked_kernel(kernel: Kernel, consts: Mapping[str, Number]) -> Kernel:
    """The kernel with the extents that hold under these values.

    Raises:
        UsageMistake: where they make the kernel wrong.
    """
    result = specialised(kernel, consts)
    if result.is_ok:
        return result.kernel
    first = next(item for item in result.diagnostics if item.severity is Severity.ERROR)
    raise UsageMistake(
        f"{first.code} {kernel.name.text} with {dict(consts)}: {first.what}",
        fix="choose another schedule",
    )
