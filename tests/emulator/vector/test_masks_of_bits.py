"""Comparisons by every mode, and selection by bytes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.emulator.vector.bench import Case, check, source

_MODES = {
    "LT": np.less, "LE": np.less_equal, "GT": np.greater,
    "GE": np.greater_equal, "EQ": np.equal, "NE": np.not_equal,
}  # fmt: skip


def _compare(mode: str) -> Case:
    rule = _MODES[mode]
    body = (
        f"LocalTensor<uint8_t> m = c.template ReinterpretCast<uint8_t>();"
        f"Compare(m, a, b, CMPMODE::{mode}, n);"
    )
    return Case(mode, body, lambda x, y: np.packbits(rule(x, y), bitorder="little"), result="uint8")


_SCALAR = (
    "LocalTensor<uint8_t> m = bytes; Compare(m, a, b, CMPMODE::LT, n);"
    "Select(c, m, a, (T)7.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);"
)
_BYTES = (
    "Duplicate(bytes.template ReinterpretCast<int16_t>(), (int16_t)0x0100, n / 2);"
    "LocalTensor<bool> m = bytes.template ReinterpretCast<bool>();"
    "LocalTensor<uint8_t> t = bytes[4096];"
    "SelectWithBytesMask(c, a, (T)7.0f, m, t, SelectWithBytesMaskShapeInfo{8, 64, 64});"
)
CASES = [
    *(_compare(mode) for mode in _MODES),
    Case("Select_scalar", _SCALAR, lambda x, y: np.where(x < y, x, 7)),
    Case("SelectWithBytesMask", _BYTES, lambda x, y: np.where(np.arange(512) % 2, 7, x)),
]


@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name for case in CASES])
@pytest.mark.parametrize(("element", "dtype"), [("float", "float32"), ("half", "float16")])
def test_bits_and_bytes_choose_as_numpy_does(compiled, element, dtype, index):
    rng = np.random.default_rng(3)
    x, y = rng.integers(-4, 5, (2, 512)).astype(dtype)
    check(compiled(source(element, CASES), parameters=4), index, CASES[index], x, y)
