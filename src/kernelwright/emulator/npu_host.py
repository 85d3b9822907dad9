"""The device called `npu`, on a machine that has none: its tensors are CPU tensors.

A model written for `torch_npu` says `.npu()`, `device="npu"` and `torch.npu.synchronize()`. Here
all of that means the CPU, where the emulated chip reads and writes memory. Runs in a child only:
importing this module changes torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.backend_registration import rename_privateuse1_backend

__all__ = ["npu"]

DEVICE_NAME = "Ascend910B2"


class Event:
    """A mark in time; emulated work is done when its call returns."""

    def __init__(self, enable_timing: bool = False, **_: object) -> None:
        self._at = 0.0

    def record(self, stream: object = None) -> None:
        """Note the time."""
        self._at = time.perf_counter()

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """Say that the work is done."""
        return True

    def elapsed_time(self, end: Event) -> float:
        """Return the milliseconds until `end`."""
        return (end._at - self._at) * 1e3


class Stream:
    """A queue of work that is always empty."""

    npu_stream = 0

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait_stream(self, stream: object) -> None:
        """Wait for nothing."""


class _OnTheCpu(TorchFunctionMode):
    """Reads `npu` as `cpu` in every argument that names a device."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        if "device" in named:
            named["device"] = _plain(named["device"])
        return func(*(_plain(one) for one in args), **named)


def _plain(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "npu" else value
    is_name = isinstance(value, str) and (value == "npu" or value.startswith("npu:"))
    return "cpu" if is_name else value


@contextmanager
def _nothing(*_: object, **__: object) -> Iterator[None]:
    yield


def _same(self: Any, *_: object, **__: object) -> Any:
    return self


def _module() -> ModuleType:
    module = ModuleType("torch.npu", "The emulated device.")
    stream = Stream()
    offered: dict[str, object] = {
        "Event": Event,
        "Stream": Stream,
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        # torch.manual_seed calls these for every device: they must not call it again.
        "manual_seed": torch.default_generator.manual_seed,
        "manual_seed_all": torch.default_generator.manual_seed,
        "get_device_name": lambda device=None: DEVICE_NAME,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "stream": _nothing,
        "device": _nothing,
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None,
        "set_compile_mode": lambda **kwargs: None,
        "set_option": lambda option: None,
    }
    for name, value in offered.items():
        setattr(module, name, value)
    return module


def install() -> ModuleType:
    """Teach torch the name `npu`; a second call changes nothing."""
    known = getattr(torch, "npu", None)
    if isinstance(known, ModuleType):
        return known
    module = _module()
    rename_privateuse1_backend("npu")
    torch._register_device_module("npu", module)  # type: ignore[no-untyped-call]
    torch.Tensor.npu = _same  # type: ignore[attr-defined]
    torch.Tensor.is_npu = property(lambda self: True)  # type: ignore[attr-defined]
    torch.nn.Module.npu = _same  # type: ignore[attr-defined]
    _send_modules_nowhere()
    _OnTheCpu().__enter__()  # type: ignore[no-untyped-call]
    return module


def _send_modules_nowhere() -> None:
    """Let `module.to("npu")` read its device as every other call does."""
    original = torch.nn.Module.to

    def to(self: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
        named = {name: _plain(value) for name, value in kwargs.items()}
        return original(self, *(_plain(one) for one in args), **named)

    torch.nn.Module.to = to  # type: ignore[method-assign,assignment]


npu = install()
