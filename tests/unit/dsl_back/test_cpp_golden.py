"""What the lowering prints for one feature each, as it was reviewed."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.dsl import check_file
from kernelwright.dsl.lower import lower_cpp, program_text
from support.dsl_programs import WELL_FORMED

FEATURES = (
    "atomic_sums",
    "average_pool_with_a_stride",
    "column_tiles",
    "compare_and_select",
    "cumprod_axis0",
    "exclusive_running_sum",
    "full_sum_through_a_workspace",
    "gather_with_made_indices",
    "half_types_through_f32",
    "online_softmax",
    "reversed_tiles",
    "split_rows_over_cores",
    "transposed_tiles",
)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_is_lowered_as_it_was_reviewed(feature: str, golden: Any) -> None:
    path = next(path for path in WELL_FORMED if path.stem == feature)
    program = check_file(path).program
    assert program is not None
    name = program.hosts[0].name.text if program.hosts else program.kernels[0].name.text
    consts = {
        param.name.text: 64
        for kernel in program.kernels
        for param in kernel.params
        if type(param).__name__ == "ConstParam" and param.default is None
    }
    lowered = lower_cpp(program, name, None if program.hosts else consts)
    golden.check(f"dsl_cpp/{feature}.txt", program_text(lowered))
