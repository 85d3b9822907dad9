"""Calls a project's binding from Python: torch tensors in, torch tensors out. Runs in a child.

The binding is a shared library without any Python or torch in it. Arguments go as plain values and
pointers; an input's memory is the caller's own, so that a kernel that writes its input is seen.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

MANIFEST = "kw_manifest.json"

NONE, TENSOR, INT, FLOAT, BOOL, TEXT, LIST, DTYPE = range(8)
MISSING = -1

NUMBERS: Mapping[torch.dtype, int] = {
    torch.float32: 0, torch.float16: 1, torch.int8: 2, torch.int32: 3, torch.uint8: 4,
    torch.int16: 6, torch.int64: 9, torch.float64: 11, torch.bool: 12, torch.complex64: 16,
    torch.complex128: 17, torch.bfloat16: 27,
}  # fmt: skip
"""The host side's numbers of torch's data types."""

TYPES = {number: dtype for dtype, number in NUMBERS.items()}


class _Value(ctypes.Structure):
    """`KwValue` of runtime/host_bind.h."""


_Value._fields_ = [
    ("kind", ctypes.c_int32),
    ("is_tuple", ctypes.c_int32),
    ("integer", ctypes.c_int64),
    ("number", ctypes.c_double),
    ("text", ctypes.c_char_p),
    ("count", ctypes.c_int64),
    ("items", ctypes.POINTER(_Value)),
    ("data", ctypes.c_void_p),
    ("storage", ctypes.c_void_p),
    ("storage_bytes", ctypes.c_int64),
    ("sizes", ctypes.POINTER(ctypes.c_int64)),
    ("strides", ctypes.POINTER(ctypes.c_int64)),
    ("dtype", ctypes.c_int32),
    ("argument", ctypes.c_int32),
]


OBSERVERS: list[Callable[[str], bool]] = []
"""Told the name of every function of a binding that is called; True leaves its kernels out."""


@dataclass(slots=True)
class Session:
    """The libraries of one build folder in this process."""

    folder: Path
    runtime: ctypes.CDLL
    description: Mapping[str, Any]

    def call(self, name: str, values: Sequence[object]) -> object:
        """Call the binding's function `name`; `...` stands for a parameter's default.

        Raises:
            TypeError: if the values do not fit the function's parameters.
            RuntimeError: if the binding, or the operator it calls, refuses.
        """
        tensors: list[torch.Tensor] = []
        kept: list[object] = []
        given = (_Value * len(values))()
        for slot, value in zip(given, values, strict=True):
            _fill(slot, value, tensors, kept)
        outcome = self.runtime.kw_bind_call(name.encode(), given, len(values))
        try:
            status = self.runtime.kw_bind_status(outcome)
            if status != 0:
                text = self.runtime.kw_bind_message(outcome).decode(errors="replace")
                raise (TypeError if status == 1 else RuntimeError)(text)
            return _read(self.runtime.kw_bind_result(outcome).contents, tensors)
        finally:
            self.runtime.kw_bind_free(outcome)

    def reports(self) -> list[dict[str, Any]]:
        """Return the report of every operator call since the last `forget`."""
        text = self.runtime.kw_host_reports().decode(errors="replace")
        return list(json.loads(text))

    def forget(self) -> None:
        """Drop the reports kept so far."""
        self.runtime.kw_host_forget_reports()


@cache
def session_of(folder: Path) -> Session:
    """Load the runtime, the host library and the binding that were built in `folder`, once."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    runtime = _runtime(manifest["runtime"])
    for name, value in manifest.get("platform", {}).items():
        runtime.kw_host_set_platform(name.encode(), int(value))
    libraries = [manifest[key] for key in ("host", "binding") if manifest.get(key)]
    for library in libraries:
        why = runtime.kw_host_load(str(folder / library).encode())
        if why is not None:
            raise ImportError(f"{library} cannot be loaded: {why.decode(errors='replace')}")
    for kernel in manifest["kernels"]:
        path = str(folder / kernel["library"]).encode()
        runtime.kw_host_add_kernel(kernel["operator"].encode(), kernel["combination"], path)
    return Session(folder, runtime, json.loads(runtime.kw_bind_describe().decode()))


def module_functions(folder: Path) -> dict[str, Callable[..., object]]:
    """Return the functions that the project's Python module offers; register its torch.ops too."""
    session = session_of(folder)
    functions = {
        entry["name"]: _function(session, entry) for entry in session.description["functions"]
    }
    _register_operators(session.description["libraries"], functions)
    return {name: function for name, function in functions.items() if "::" not in name}


def _runtime(path: str) -> ctypes.CDLL:
    runtime = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    runtime.kw_host_load.restype = ctypes.c_char_p
    runtime.kw_host_reports.restype = ctypes.c_char_p
    runtime.kw_host_add_kernel.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_char_p]
    runtime.kw_host_set_platform.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    runtime.kw_bind_describe.restype = ctypes.c_char_p
    runtime.kw_bind_call.restype = ctypes.c_void_p
    runtime.kw_bind_call.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Value), ctypes.c_int64]
    runtime.kw_bind_status.argtypes = [ctypes.c_void_p]
    runtime.kw_bind_message.restype = ctypes.c_char_p
    runtime.kw_bind_message.argtypes = [ctypes.c_void_p]
    runtime.kw_bind_result.restype = ctypes.POINTER(_Value)
    runtime.kw_bind_result.argtypes = [ctypes.c_void_p]
    runtime.kw_bind_free.argtypes = [ctypes.c_void_p]
    return runtime


def _function(session: Session, entry: Mapping[str, Any]) -> Callable[..., object]:
    name = entry["name"]
    parameters = [parameter["name"] for parameter in entry["parameters"]]

    def function(*args: object, **named: object) -> object:
        if len(args) > len(parameters) or set(named) - set(parameters[len(args) :]):
            raise TypeError(f"{name}(): incompatible function arguments; it takes {parameters}")
        rest = [named.get(parameter, ...) for parameter in parameters[len(args) :]]
        # An observer may want the call without its kernels: what is returned then shows their work.
        if not any([observer(name) for observer in OBSERVERS]):
            return session.call(name, [*args, *rest])
        session.runtime.kw_host_dry_run(1)
        try:
            return session.call(name, [*args, *rest])
        finally:
            session.runtime.kw_host_dry_run(0)

    function.__name__ = name
    function.__doc__ = entry["doc"]
    return function


def _fill(slot: _Value, value: object, tensors: list[torch.Tensor], kept: list[object]) -> None:
    slot.argument = -1
    if value is ...:
        slot.kind = MISSING
    elif value is None:
        slot.kind = NONE
    elif isinstance(value, torch.Tensor):
        _fill_tensor(slot, value.detach(), tensors, kept)
        tensors[-1] = value
    elif isinstance(value, (bool, int, float)):
        slot.kind = BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT
        slot.number = float(value)
        slot.integer = 0 if isinstance(value, float) else value
    elif isinstance(value, torch.dtype):
        slot.kind, slot.integer = DTYPE, NUMBERS.get(value, 28)
    elif isinstance(value, (str, torch.device)):
        slot.kind, slot.text = TEXT, str(value).encode()
    elif isinstance(value, Sequence):
        items = (_Value * len(value))()
        for item, one in zip(items, value, strict=True):
            _fill(item, one, tensors, kept)
        kept.append(items)
        slot.kind, slot.count, slot.items = LIST, len(value), items
    else:
        raise TypeError(f"a binding does not take a {type(value).__name__}")


def _fill_tensor(
    slot: _Value, tensor: torch.Tensor, tensors: list[torch.Tensor], kept: list[object]
) -> None:
    if tensor.dtype not in NUMBERS:
        raise TypeError(f"a binding does not take a tensor of {tensor.dtype}")
    numbers = ctypes.c_int64 * max(1, tensor.dim())
    sizes, strides = numbers(*tensor.size()), numbers(*tensor.stride())
    kept += [sizes, strides, tensor]
    tensors.append(tensor)
    slot.kind, slot.dtype = TENSOR, NUMBERS[tensor.dtype]
    slot.count, slot.sizes, slot.strides = tensor.dim(), sizes, strides
    slot.data = tensor.data_ptr()
    slot.storage = tensor.untyped_storage().data_ptr()
    slot.storage_bytes = tensor.untyped_storage().nbytes()


def _read(value: _Value, tensors: Sequence[torch.Tensor]) -> object:
    if value.kind == TENSOR:
        return _read_tensor(value, tensors)
    if value.kind == LIST:
        items = [_read(value.items[index], tensors) for index in range(value.count)]
        return tuple(items) if value.is_tuple else items
    if value.kind == TEXT:
        return (value.text or b"").decode(errors="replace")
    plain = {NONE: None, INT: value.integer, FLOAT: value.number, BOOL: value.integer != 0}
    return plain[value.kind]


def _read_tensor(value: _Value, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    dtype = TYPES[value.dtype]
    sizes = [value.sizes[index] for index in range(value.count)]
    strides = [value.strides[index] for index in range(value.count)]
    offset = ((value.data or 0) - (value.storage or 0)) // dtype.itemsize
    if value.argument >= 0:
        argument = tensors[value.argument]
        here = (list(argument.size()), list(argument.stride()), argument.storage_offset())
        if here == (sizes, strides, offset) and argument.dtype == dtype:
            same: torch.Tensor = argument
            return same
        other: torch.Tensor = torch.as_strided(argument.view(dtype), sizes, strides, offset)
        return other
    count = value.storage_bytes // dtype.itemsize
    memory = torch.empty(count, dtype=dtype)
    if count > 0:
        ctypes.memmove(memory.data_ptr(), value.storage, count * dtype.itemsize)
    view: torch.Tensor = torch.as_strided(memory, sizes, strides, offset)
    return view


_LIBRARIES: list[torch.library.Library] = []
"""Kept alive: torch forgets an operator whose library object is gone."""


def _register_operators(
    entries: Sequence[Mapping[str, Any]], functions: Mapping[str, Callable[..., object]]
) -> None:
    """Offer `torch.ops.LIBRARY.NAME` for every function whose schema the binding declares."""
    for entry in entries:
        schema, namespace = entry["schema"], entry["library"]
        name = schema.partition("(")[0]
        function = functions.get(f"{namespace}::{name}")
        if "(" not in schema or function is None:
            continue
        library = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
        library.define(schema)  # type: ignore[no-untyped-call]
        library.impl(name, function, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
        _LIBRARIES.append(library)
