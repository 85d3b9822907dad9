"""What each feature of the language is printed as, in golden files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernelwright.dsl import check_source
from kernelwright.dsl.lower import lower_cpp, program_text
from support.dsl_features import FEATURES

if TYPE_CHECKING:
    from conftest import Golden

WHOLE = ("several_launches",)
"""Printed with its host function; of the others, the kernels."""


@pytest.mark.parametrize("label", FEATURES)
def test_a_feature_is_printed_as_its_golden_file_says(label: str, golden: Golden) -> None:
    program = check_source(FEATURES[label].text).program
    assert program is not None
    text = program_text(lower_cpp(program, "f"))
    kernels = text[: text.index("static int64_t ")]
    golden.check(f"dsl_cpp/{label}.cpp.txt", text if label in WHOLE else kernels)
