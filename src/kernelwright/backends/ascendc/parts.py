"""The six parts of an Ascend C project (EvoKernel, appendix G; MultiKernelBench)."""

from __future__ import annotations

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category
from kernelwright.emulator.project import BINDING, HOST, JSON, KERNEL, MODEL, PARTS, TILING

__all__ = ["BINDING", "HOST", "JSON", "KERNEL", "MODEL", "PARTS", "TILING"]

VENDOR = frozenset(
    (
        "kernel_operator.h kernel_tiling/kernel_tiling.h lib/matmul_intf.h"
        " lib/matrix/matmul/matmul.h lib/math/kernel_operator_intf.h register/tilingdata_base.h"
        " register/op_def_registry.h register/op_impl_registry.h tiling/tiling_api.h"
        " tiling/platform/platform_ascendc.h tiling/matrix/matmul_tiling.h graph/types.h"
        " graph/utils/type_utils.h exe_graph/runtime/tiling_context.h platform/platform_info.h"
        " register/tilingdata_base.h tiling/data_copy_transpose_tiling.h lib/tensor_api.h"
    ).split()
)
"""Headers of the vendor that a kernel or a host part may include."""

_MOST_BYTES = 1 << 20


def complaint_about(candidate: Candidate) -> Failure | None:
    """Return what is wrong with the parts themselves, None if nothing is."""
    files = candidate.files
    missing = [part for part in PARTS if part not in files]
    if missing:
        return Failure(
            Category.FORMAT,
            f"an Ascend C project has six parts; missing: {', '.join(missing)}",
        )
    extra = sorted(set(files) - set(PARTS))
    if extra:
        return Failure(Category.FORMAT, f"{extra[0]!r} is no part of an Ascend C project")
    large = [path for path, text in files.items() if len(text.encode()) > _MOST_BYTES]
    if large:
        return Failure(Category.FORMAT, f"{large[0]} is larger than 1 MiB")
    return None
