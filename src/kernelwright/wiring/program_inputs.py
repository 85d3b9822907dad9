"""Inputs of a kernel-language program, as `dsl run --inputs` names them: files, or a draw.

An item is `NAME=FILE`, `FILE`, `NAME=SHAPE:DTYPE:DISTRIBUTION` or `NAME=NUMBER`; several items are
separated by commas. bf16 has no NumPy type: such a tensor is its bits in `uint16`, or numbers in
f32 that bf16 holds exactly.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.core.errors import UnknownName, UsageMistake
from kernelwright.dsl.bind import Number
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.host_nodes import Host
from kernelwright.dsl.interpret import NUMPY, from_bf16, to_bf16
from kernelwright.dsl.nodes import ConstParam, Ref, RefKind, ScalarParam, TensorParam
from kernelwright.dsl.print_expression import type_text
from kernelwright.dsl.types import DType
from kernelwright.wiring.distributions import Draw, draw_of, drawn

Array: TypeAlias = NDArray[Any]

_SHAPE = re.compile(r"\d+(?:x\d+)*")
_FILE = re.compile(r"(?P<path>.*\.np[yz])(?::(?P<dtype>\w+))?")


@dataclass(frozen=True, slots=True)
class Given:
    """One argument of a host function, and where it comes from.

    Attributes:
        name: The parameter.
        value: An array (bf16 as bits) or a number.
        source: For a reader: the file, or the distribution.
    """

    name: str
    value: Any
    source: str


@dataclass(slots=True)
class _Asked:
    """What the items say, by name."""

    files: dict[str, tuple[Array, str, DType | None]] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    draws: dict[str, Draw] = field(default_factory=dict)
    numbers: dict[str, Number] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


def arguments_of(
    host: Host, items: Sequence[str], *, consts: Mapping[str, Number], seed: int
) -> tuple[Given, ...]:
    """Every parameter of a host function with a value, in order, without compile-time ones.

    Args:
        items: Texts of `--inputs`.
        consts: Values of the host function's compile-time parameters.
        seed: Of what is drawn; each tensor draws by its own name, so that none moves another.

    Raises:
        UsageMistake: where an item cannot be understood, a file does not fit, or a size is missing.
    """
    asked = _Asked()
    for item in (part.strip() for text in items for part in text.split(",")):
        if item:
            _read_item(host, asked, item)
    sizes = _sizes(host, asked)
    scalars = {p.name.text: _scalar(p, asked) for p in host.params if isinstance(p, ScalarParam)}
    names: dict[str, Number] = {**consts, **scalars, **sizes}
    result: list[Given] = []
    for param in host.params:
        if isinstance(param, TensorParam):
            result.append(_tensor(param, asked, names, seed))
        elif isinstance(param, ScalarParam):
            source = "given" if param.name.text in asked.numbers else "default"
            result.append(Given(param.name.text, scalars[param.name.text], source))
    return tuple(result)


# --- reading items -------------------------------------------------------------------------------


def _read_item(host: Host, asked: _Asked, item: str) -> None:
    name, equals, text = item.partition("=")
    if not equals:
        _read_file(host, asked, item)
        return
    name, text = name.strip(), text.strip()
    params = {param.name.text: param for param in host.params}
    param = params.get(name)
    if isinstance(param, TensorParam):
        _read_tensor(asked, param, text)
    elif isinstance(param, ScalarParam):
        asked.numbers[name] = _number(name, text, param.type)
    elif isinstance(param, ConstParam):
        raise UsageMistake(
            f"{name} is a compile-time parameter, not an input", fix=f"give it as --set {item}"
        )
    elif name in {dim.text for dim in host.dims}:
        asked.sizes[name] = int(_number(name, text, DType.I64))
    else:
        dims = [dim.text for dim in host.dims]
        raise UnknownName(
            f"{host.name.text} has no input {name!r}",
            fix=f"known: {', '.join([*(n for n in params), *dims])}",
        )


def _number(name: str, text: str, kind: DType) -> Number:
    try:
        value = float(text) if kind is DType.F32 else int(text)
    except ValueError:
        wants = "a number" if kind is DType.F32 else "an integer"
        raise UsageMistake(
            f"{name} cannot be {text!r}", fix=f"give {wants}, such as --inputs {name}=4"
        ) from None
    if kind is not DType.F32 and not -(2**63) <= value < 2**63:
        raise UsageMistake(f"{name}={text} does not fit 64 bits", fix="give a smaller number")
    return value


def _read_file(host: Host, asked: _Asked, item: str) -> None:
    tensors = [p.name.text for p in host.params if isinstance(p, TensorParam)]
    match = _FILE.fullmatch(item)
    if match is None:
        raise UsageMistake(
            f"the input {item!r} is neither a file nor NAME=...",
            fix="write FILE.npz, NAME=FILE.npy, NAME=64x1000:f32:normal or NAME=4",
        )
    loaded = _loaded(Path(match["path"]))
    dtype = _dtype(match["dtype"])
    if isinstance(loaded, np.ndarray):
        if len(tensors) != 1:
            raise UsageMistake(
                f"{item} could be any of {', '.join(tensors)}", fix=f"write {tensors[0]}={item}"
            )
        asked.files[tensors[0]] = loaded, item, dtype
        return
    unknown = sorted(set(loaded) - {p.name.text for p in host.params})
    if unknown:
        raise UnknownName(
            f"{item} holds {', '.join(unknown)}, which {host.name.text} does not take",
            fix=f"name its arrays after the parameters: {', '.join(tensors)}",
        )
    for param in host.params:
        name = param.name.text
        if name not in loaded:
            continue
        if isinstance(param, TensorParam):
            asked.files[name] = loaded[name], item, dtype
        elif isinstance(param, ScalarParam):
            asked.numbers[name] = _number(name, str(loaded[name].item()), param.type)


def _loaded(path: Path) -> Array | dict[str, Array]:
    try:
        # Objects in a file are code that unpickling would run.
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            return {name: np.asarray(loaded[name]) for name in loaded.files}
    except OSError as error:
        raise UsageMistake(
            f"{path} cannot be read: {error.strerror or error}", fix="name a file that numpy saved"
        ) from error
    except (ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageMistake(
            f"{path} is not usable: {error}",
            fix="save plain arrays with numpy.save or numpy.savez",
        ) from error


def _read_tensor(asked: _Asked, param: TensorParam, text: str) -> None:
    name = param.name.text
    match = _FILE.fullmatch(text)
    if match is not None:
        loaded = _loaded(Path(match["path"]))
        if not isinstance(loaded, np.ndarray):
            if name not in loaded:
                raise UsageMistake(
                    f"{match['path']} has no array {name!r}",
                    fix=f"it holds {', '.join(loaded) or 'nothing'}; save {name} in it",
                )
            loaded = loaded[name]
        asked.files[name] = loaded, match["path"], _dtype(match["dtype"])
        return
    words = text.split(":")
    if words and _SHAPE.fullmatch(words[0]):
        asked.shapes[name] = tuple(int(size) for size in words.pop(0).split("x"))
    elif words and words[0] == "":
        words.pop(0)
    if words and words[0] in {item.value for item in DType}:
        dtype = DType(words.pop(0))
        if dtype is not param.type.dtype:
            raise UsageMistake(
                f"{name} is {param.type.dtype.value} in the program, not {dtype.value}",
                fix=f"write {param.type.dtype.value}, or change the type of {name}",
            )
    asked.draws[name] = draw_of(name, words, param.type.dtype)


def _dtype(text: str | None) -> DType | None:
    if text is None:
        return None
    if text not in {item.value for item in NUMPY}:
        known = ", ".join(item.value for item in NUMPY if item is not DType.MASK)
        raise UnknownName(f"there is no element type {text!r}", fix=f"known: {known}")
    return DType(text)


# --- sizes and values ----------------------------------------------------------------------------


def _sizes(host: Host, asked: _Asked) -> dict[str, int]:
    """Sizes of the dimension names: as given, and as the shapes of files and items say."""
    sizes = dict(asked.sizes)
    for param in host.params:
        if not isinstance(param, TensorParam):
            continue
        name = param.name.text
        shape = asked.files[name][0].shape if name in asked.files else asked.shapes.get(name)
        if shape is None or len(shape) != len(param.type.dims):
            continue
        for dim, size in zip(param.type.dims, shape, strict=True):
            if not isinstance(dim, Ref) or dim.kind is not RefKind.DIM:
                continue
            if sizes.setdefault(dim.name.text, int(size)) != size:
                known = sizes[dim.name.text]
                raise UsageMistake(
                    f"{dim.name.text} is {known} and {size}: "
                    f"{name} has shape {_shape_text(shape)}, declared {type_text(param.type)}",
                    fix=f"give sizes that agree, or leave {dim.name.text} out",
                )
    return sizes


def _scalar(param: ScalarParam, asked: _Asked) -> Number:
    value = asked.numbers.get(param.name.text, param.default)
    if value is None:
        example = "0.5" if param.type is DType.F32 else "4"
        raise UsageMistake(
            f"{param.name.text} has no value",
            fix=f"give it: --inputs {param.name.text}={example}",
        )
    return value


def _tensor(param: TensorParam, asked: _Asked, names: Mapping[str, Number], seed: int) -> Given:
    name, dtype = param.name.text, param.type.dtype
    if name in asked.files:
        array, source, wanted = asked.files[name]
        return Given(name, _held(name, array, dtype, wanted, source), source)
    shape = asked.shapes.get(name)
    if shape is None:
        shape = _shape(param, names)
    draw = asked.draws.get(name) or draw_of(name, [], dtype)
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    try:
        value = drawn(draw, dtype, shape, rng)
    except (MemoryError, ValueError) as error:
        raise UsageMistake(
            f"{name} of shape {_shape_text(shape)} cannot be made: {error}", fix="ask for less"
        ) from error
    return Given(name, value, f"{draw}, seed {seed}")


def _shape(param: TensorParam, names: Mapping[str, Number]) -> tuple[int, ...]:
    name = param.name.text
    try:
        shape = tuple(int(evaluate(dim, names)) for dim in param.type.dims)
    except LaunchRefused:
        sizes = [d.name.text for d in param.type.dims if isinstance(d, Ref)]
        unknown = [text for text in sizes if text not in names]
        example = "x".join(str(4 * 3**place) for place in range(len(param.type.dims)))
        items = ",".join(f"{text}=8" for text in unknown)
        raise UsageMistake(
            f"the shape of {name}, {type_text(param.type)}, is not known",
            fix=f"give it: --inputs {name}={example}"
            + (f", or only sizes: --inputs {items}" if items else ""),
        ) from None
    if any(size < 0 for size in shape):
        raise UsageMistake(f"{name} would have shape {_shape_text(shape)}", fix="give larger sizes")
    return shape


def _held(name: str, array: Array, dtype: DType, wanted: DType | None, source: str) -> Array:
    """An array of a file as the interpreter holds the element type; nothing is rounded unasked."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array = np.ascontiguousarray(array).reshape(array.shape)
    kind = NUMPY[dtype]
    if wanted is not None and wanted is not dtype:
        raise UsageMistake(
            f"{name} is {dtype.value} in the program, not {wanted.value}",
            fix=f"write {name}={source}:{dtype.value}",
        )
    if array.dtype == kind or (dtype is DType.BOOL and array.dtype == np.bool_):
        return array.astype(kind, copy=False)
    if array.dtype.kind not in "fiub":
        raise UsageMistake(
            f"{source} holds {array.dtype} for {name}", fix=f"save an array of {kind} numbers"
        )
    if dtype is DType.BF16:
        rounded = to_bf16(array.astype(np.float32))
        is_exact = np.array_equal(from_bf16(rounded), array.astype(np.float32), equal_nan=True)
        if wanted is not None or (array.dtype == np.float32 and is_exact):
            return rounded
        raise UsageMistake(
            f"{source} holds {array.dtype} for {name}, which is bf16",
            fix=f"write {name}={source}:bf16 to round to nearest, or save the bits as uint16",
        )
    if wanted is None:
        raise UsageMistake(
            f"{source} holds {array.dtype} for {name}, which is {dtype.value} in the program",
            fix=f"write {name}={source}:{dtype.value} to convert it, or save it as {kind}",
        )
    with np.errstate(all="ignore"):
        return array.astype(kind)


def _shape_text(shape: Sequence[int]) -> str:
    return "x".join(str(size) for size in shape)
