"""Positional inputs of a module, as `emulate --inputs` names them: files, draws and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.core.errors import UsageMistake
from kernelwright.core.tensor import Tensor, Tree
from kernelwright.dsl.types import DType
from kernelwright.wiring.distributions import draw_of, drawn

_DTYPES: Mapping[str, tuple[str, DType]] = {
    "float32": ("float32", DType.F32),
    "float16": ("float16", DType.F16),
    "bfloat16": ("bfloat16", DType.BF16),
    "int32": ("int32", DType.I32),
    "int16": ("int16", DType.I16),
    "int8": ("int8", DType.I8),
    "uint8": ("uint8", DType.U8),
    "int64": ("int64", DType.I64),
    "bool": ("bool", DType.BOOL),
}
_SHORT = {
    "f32": "float32",
    "float": "float32",
    "f16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "i32": "int32",
    "int": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "i64": "int64",
}
_SHAPE = re.compile(r"\d+(?:x\d+)*")
_NAMED = re.compile(r"[A-Za-z_]\w*=(?P<rest>.*)")
_WORDS: Mapping[str, Tree] = {"none": None, "true": True, "false": False}


def inputs_of(items: Sequence[str], *, seed: int) -> tuple[Tree, ...]:
    """Return the arguments that items ask for, in order.

    An item is `SHAPE[:DTYPE[:DISTRIBUTION[:NUMBERS]]]`, a `.npy` or `.npz` file, a number with a
    point or an exponent, `int:N`, `true`, `false` or `none`; `NAME=` before it is for the reader.
    Several items may stand in one text, separated by commas.

    Raises:
        UsageMistake: where an item cannot be understood or a file not be read.
    """
    rng = np.random.default_rng(seed)
    texts = [part.strip() for text in items for part in text.split(",") if part.strip()]
    return tuple(value for text in texts for value in _values(text, rng))


def _values(text: str, rng: np.random.Generator) -> Iterator[Tree]:
    match = _NAMED.fullmatch(text)
    item = match["rest"] if match else text
    if item.endswith((".npy", ".npz")):
        yield from _read(Path(item))
    elif item.lower() in _WORDS:
        yield _WORDS[item.lower()]
    elif item.startswith("int:"):
        yield _number(item.removeprefix("int:"), int, text)
    elif _SHAPE.fullmatch(item.split(":")[0]):
        yield _drawn(item, rng)
    else:
        yield _number(item, float, text)


def _number(word: str, kind: type[int] | type[float], text: str) -> Tree:
    try:
        return kind(word)
    except ValueError:
        raise UsageMistake(
            f"the input {text!r} is neither a shape, a file nor a number",
            fix="write 64x1000:float32, 8x16:float16:uniform:-4:4, x.npy, 0.5 or int:3",
        ) from None


def _drawn(item: str, rng: np.random.Generator) -> Tensor:
    shape_text, *words = item.split(":")
    shape = tuple(int(size) for size in shape_text.split("x"))
    name = "float32"
    if words and _SHORT.get(words[0], words[0]) in _DTYPES:
        name = _SHORT.get(words[0], words[0])
        words = words[1:]
    dtype, kind = _DTYPES[name]
    values = drawn(draw_of("input", words, kind), kind, shape, rng)
    return Tensor(dtype, shape, np.ascontiguousarray(values).tobytes())


def _read(path: Path) -> Iterator[Tensor]:
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UsageMistake(f"{path} cannot be read: {error}", fix="give a numpy file") from error
    arrays: list[Any] = [loaded] if isinstance(loaded, np.ndarray) else list(loaded.values())
    for array in arrays:
        if array.dtype.name not in _DTYPES:
            raise UsageMistake(
                f"{path} holds {array.dtype.name}, which no kernel takes",
                fix=f"save it as one of {', '.join(_DTYPES)}",
            )
        dense = np.ascontiguousarray(array)
        yield Tensor(array.dtype.name, tuple(array.shape), dense.tobytes())
