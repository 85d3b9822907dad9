"""The reference of one task, alive in this process: draws, constructs and runs it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import torch

from kernelwright.core.verdict import Category
from kernelwright.sandbox.module_fault import ModuleFault, blamed_on_the_module
from kernelwright.sandbox.module_host import import_file
from kernelwright.tasks.sizes import with_sizes

_SEED_BITS = 32


@dataclass(slots=True)
class Reference:
    """A task file that can be imported at several sizes.

    Attributes:
        folder: Work folder of this process; the file lies here.
        file: Name of the task file in it.
    """

    folder: Path
    file: str
    _namespaces: dict[tuple[tuple[str, int], ...], dict[str, Any]] = field(default_factory=dict)

    def namespace(self, sizes: tuple[tuple[str, int], ...] = ()) -> dict[str, Any]:
        """Import the file, with other module-level sizes if asked, and return its names.

        Raises:
            ModuleFault: if importing it raises, or it lacks a name.
        """
        if sizes not in self._namespaces:
            self._namespaces[sizes] = self._imported(sizes)
        return self._namespaces[sizes]

    def imported(self, text: str) -> dict[str, Any]:
        """Import another text of the task, once; nothing is kept of it."""
        return _checked(_import_text(self.folder, text, "measured"))

    def _imported(self, sizes: tuple[tuple[str, int], ...]) -> dict[str, Any]:
        if not sizes:
            return _checked(import_file(self.folder / self.file, "task"))
        text = with_sizes((self.folder / self.file).read_text(encoding="utf-8"), dict(sizes))
        return _checked(_import_text(self.folder, text, f"task_{len(self._namespaces)}"))

    def blamed(self, doing: str) -> Any:
        """Return a context in which what raises is the task's fault."""
        return blamed_on_the_module(doing, self.folder)

    def init_of(self, namespace: Mapping[str, Any], seed: int) -> tuple[Any, ...]:
        """Return the constructor's arguments, drawn after seeding."""
        seed_everything(seed)
        draw = namespace.get("get_init_inputs")
        if draw is None:
            return ()
        with self.blamed("calling get_init_inputs()"):
            return _arguments(draw, "get_init_inputs")

    def inputs_of(self, namespace: Mapping[str, Any], seed: int) -> tuple[Any, ...]:
        """Return the forward's arguments, drawn after seeding."""
        seed_everything(seed)
        with self.blamed("calling get_inputs()"):
            return _arguments(namespace["get_inputs"], "get_inputs")

    def module_of(
        self, namespace: Mapping[str, Any], init: tuple[Any, ...], seed: int
    ) -> torch.nn.Module:
        """Return the module, constructed after seeding, in the mode its constructor leaves."""
        seed_everything(seed)
        with self.blamed("constructing Model"), torch.no_grad():
            made = namespace["Model"](*init)
        if not isinstance(made, torch.nn.Module):
            raise ModuleFault(Category.FORMAT, "Model is no torch.nn.Module")
        return made

    def result_of(self, module: torch.nn.Module, args: tuple[Any, ...], seed: int) -> Any:
        """Call the module once, after seeding, without gradients."""
        seed_everything(seed)
        with self.blamed("calling forward"), torch.no_grad():
            return module(*args)


def seed_everything(seed: int) -> None:
    """Seed every generator that a task file may draw from."""
    # torch.manual_seed would also queue a call for every kind of device that is not here.
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed % (1 << _SEED_BITS))


def _checked(namespace: dict[str, Any]) -> dict[str, Any]:
    for name in ("Model", "get_inputs"):
        if not callable(namespace.get(name)):
            raise ModuleFault(Category.FORMAT, f"the file defines no {name} that can be called")
    return namespace


def _import_text(folder: Path, text: str, name: str) -> dict[str, Any]:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return import_file(path, name)


def _arguments(draw: Callable[[], Any], name: str) -> tuple[Any, ...]:
    drawn = draw()
    if not isinstance(drawn, (list, tuple)):
        kind = type(drawn).__name__
        raise ModuleFault(Category.FORMAT, f"{name}() returns a {kind} instead of a list")
    return tuple(drawn)
