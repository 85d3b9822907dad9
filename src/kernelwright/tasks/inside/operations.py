"""Looks at, and tampers with, the PyTorch functions that a forward calls at its top level.

A function called inside another one does not count: `F.layer_norm` is one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Tamper = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

_PLACING = frozenset(
    {
        "__get__", "__set__", "view", "reshape", "contiguous", "permute", "transpose", "squeeze",
        "unsqueeze", "flatten", "unflatten", "detach", "clone", "to", "float", "double", "half",
        "expand", "expand_as", "size", "dim", "t", "__getitem__", "chunk", "split", "type_as",
        "narrow", "select", "unbind", "dropout", "dropout1d", "dropout2d", "dropout3d", "type",
        "zeros_like", "ones_like", "empty_like", "numel", "cpu", "swapaxes", "movedim", "stride",
        "_set_grad_enabled",
    }
)  # fmt: skip
_BIAS_AT: Mapping[str, int] = {
    "linear": 2, "conv1d": 2, "conv2d": 2, "conv3d": 2, "conv_transpose1d": 2,
    "conv_transpose2d": 2, "conv_transpose3d": 2, "layer_norm": 3, "group_norm": 3,
    "batch_norm": 4, "instance_norm": 4,
}  # fmt: skip
_ALONG_AXIS = frozenset(
    {
        "softmax", "log_softmax", "softmin", "sum", "mean", "max", "min", "argmax", "argmin",
        "prod", "cumsum", "cumprod", "cummax", "cummin", "var", "std", "logsumexp", "amax", "amin",
        "norm", "vector_norm", "flip", "normalize", "median", "sort", "glu", "cosine_similarity",
        "logcumsumexp",
    }
)  # fmt: skip
_MATRIX = frozenset({"matmul", "mm", "bmm", "__matmul__", "__rmatmul__", "linear"})
_FILTER = frozenset({"conv1d", "conv2d", "conv3d", "conv_transpose2d", "conv_transpose3d"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One top-level call.

    Attributes:
        index: Its place in the order of calls.
        name: Name of the function.
        is_droppable: Whether one of its operands has the form of its result.
        has_bias: Whether it adds a bias that can be left out.
        axes: How many other axes it could work along; 0 if it has no axis argument.
        can_transpose: Whether a square operand could be taken transposed.
    """

    index: int
    name: str
    is_droppable: bool
    has_bias: bool
    axes: int
    can_transpose: bool


class Recorder(TorchFunctionMode):
    """Notes every top-level operation while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one function and note what could be done to it."""
        words = kwargs or {}
        result = func(*args, **words)
        name = name_of(func)
        if name not in _PLACING:
            axis = _axis(name, args, words)
            self.operations.append(
                Operation(
                    self._count,
                    name,
                    operand_like(result, args, words) is not None,
                    _bias_of(name, args, words) is not None,
                    0 if axis is None else _rank(args) - 1,
                    bool(_square(name, args)),
                )
            )
            self._count += 1
        return result


class Tampering(TorchFunctionMode):
    """Replaces the top-level operation with one index while it is entered."""

    def __init__(self, index: int, tamper: Tamper) -> None:
        super().__init__()
        self._index = index
        self._tamper = tamper
        self._count = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run one function, or what stands in for it."""
        words = kwargs or {}
        if name_of(func) in _PLACING:
            return func(*args, **words)
        is_chosen = self._count == self._index
        self._count += 1
        return self._tamper(func, args, words) if is_chosen else func(*args, **words)


def dropped(func: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Return the operand in the place of the result."""
    result = func(*_detached(args), **words)
    return operand_like(result, args, words)


def without_bias(func: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Call the function without its bias."""
    place = _BIAS_AT[name_of(func)]
    if "bias" in words:
        return func(*args, **{**words, "bias": None})
    return func(*args[:place], None, *args[place + 1 :], **words)


def along_another_axis(by: int) -> Tamper:
    """Return a tampering that moves the function's axis by `by`."""

    def tamper(func: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
        word = next((word for word in ("dim", "axis") if word in words), None)
        axis = words[word] if word else args[1]
        rank = _rank(args)
        if isinstance(axis, int):
            moved: Any = (axis % rank + by) % rank
        else:
            moved = tuple((int(one) % rank + by) % rank for one in axis)
        if word:
            return func(*args, **{**words, word: moved})
        return func(args[0], moved, *args[2:], **words)

    return tamper


def transposed(func: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Call the function with a square operand transposed."""
    place = _square(name_of(func), args)
    flipped = list(args)
    flipped[place - 1] = args[place - 1].transpose(-1, -2)
    return func(*flipped, **words)


def name_of(func: Any) -> str:
    """Return a function's name, without the underscore of its in-place form."""
    name = str(getattr(func, "__name__", func))
    return name if name.startswith("__") else name.rstrip("_")


def operand_like(result: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Return the first operand of the result's shape and type, None if there is none."""
    if not isinstance(result, torch.Tensor):
        return None
    for operand in (*args, *words.values()):
        if (
            isinstance(operand, torch.Tensor)
            and operand.shape == result.shape
            and operand.dtype == result.dtype
        ):
            return operand
    return None


def _detached(args: tuple[Any, ...]) -> tuple[Any, ...]:
    # An in-place operation must not reach the operand that is handed on.
    return tuple(arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args)


def _bias_of(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> torch.Tensor | None:
    place = _BIAS_AT.get(name)
    if place is None:
        return None
    bias = words.get("bias", args[place] if len(args) > place else None)
    return bias if isinstance(bias, torch.Tensor) else None


def _axis(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    if name not in _ALONG_AXIS or _rank(args) < 2:
        return None
    found = words.get("dim", words.get("axis", args[1] if len(args) > 1 else None))
    if isinstance(found, bool) or not isinstance(found, (int, tuple, list)):
        return None
    return found if isinstance(found, int) or all(isinstance(one, int) for one in found) else None


def _square(name: str, args: tuple[Any, ...]) -> int:
    """Return 1 + the place of a square operand, 0 if there is none."""
    places = (1, 0) if name in _MATRIX else (1,) if name in _FILTER else ()
    for place in places:
        operand = args[place] if len(args) > place else None
        if isinstance(operand, torch.Tensor) and operand.dim() >= 2:
            is_data = name == "linear" and place == 0
            if not is_data and operand.shape[-1] == operand.shape[-2] > 1:
                return place + 1
    return 0


def _rank(args: tuple[Any, ...]) -> int:
    return args[0].dim() if args and isinstance(args[0], torch.Tensor) else 0
