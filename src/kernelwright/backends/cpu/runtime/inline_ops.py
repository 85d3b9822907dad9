"""In the process that runs a `load_inline` candidate: hands out the libraries that were built.

`install` puts a `load_inline` in place that builds nothing, so that this process needs no compiler
and takes no minute; calls of the library's functions are told to the observer.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

_observer: Callable[[str], object] | None = None
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inline")


class _Library:
    """The functions of one built library."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._module, name)

        def call(*args: Any, **options: Any) -> Any:
            # An observer may say that the call shall do nothing.
            if _observer is not None and _observer(name) is True:
                return None
            return function(*args, **options)

        setattr(self, name, call)
        return call


def load_inline(name: str, *args: Any, **options: Any) -> _Library:
    """Return the library that the builder made for this name."""
    del args, options
    path = os.path.join(_FOLDER, f"{name}.so")
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError(f"there is no library {name}")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return _Library(module)


def install() -> None:
    """Put this `load_inline` where a candidate imports it from."""
    fake: Any = types.ModuleType("torch.utils.cpp_extension")
    fake.load_inline = load_inline
    sys.modules["torch.utils.cpp_extension"] = fake
    utils: Any = torch.utils
    utils.cpp_extension = fake
