"""The specification for a model's prompt says what the tables say."""

from __future__ import annotations

import re

from kernelwright.dsl import CODES, check_source, specification
from kernelwright.dsl.builtins import BUILTINS, SCALAR_FUNCTIONS


def test_every_primitive_function_and_code_is_in_it() -> None:
    text = specification()
    for row in BUILTINS.values():
        assert f"- `{row.signature}` {row.doc}" in text
    for name in SCALAR_FUNCTIONS:
        assert f"`tl.{name}`" in text
    for code in CODES:
        assert f"- {code}: " in text


def test_it_names_nothing_that_is_not_in_the_language() -> None:
    known = {*BUILTINS, *SCALAR_FUNCTIONS}
    known |= {"kernel", "host", "inline", "const", "i64", "f32", "inf", "ub", "copyin", "compute",
              "copyout", "core_range", "core_tiles", "tiles", "static_range", "require", "sync_all",
              "load_scalar", "empty", "view", "workspace", "param", "check"}  # fmt: skip
    assert set(re.findall(r"\btl\.(\w+)", specification())) <= known


def test_its_example_is_accepted() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", specification(), re.DOTALL)
    result = check_source(example)
    assert result.is_ok, result.to_text()
    assert not result.diagnostics


def test_it_is_a_few_pages() -> None:
    assert len(specification().split()) < 2500
    assert "{" not in re.sub(r"`[^`]*`", "", specification())
