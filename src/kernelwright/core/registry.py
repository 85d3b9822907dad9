"""Registries one can read: a table of built-ins, opened by entry points of other packages."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

from kernelwright.core.errors import UnknownName

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Registry(Generic[T]):
    """Names of one kind of extension, each mapped to the factory that makes it.

    A factory is written `"package.module:Name"` and imported when it is asked for, so that a
    listing costs nothing and a broken plugin breaks only its own use.

    Attributes:
        kind: What the names are names of, as the user would call it ("backend").
        group: Entry-point group through which other packages add names.
        built_in: Name to factory of what ships with the product; it wins over entry points.
    """

    kind: str
    group: str
    built_in: Mapping[str, str]

    def names(self) -> tuple[str, ...]:
        """Return every known name, built-ins first, plugins after them in order of name."""
        plugins = {point.name for point in entry_points(group=self.group)} - set(self.built_in)
        return (*self.built_in, *sorted(plugins))

    def factory(self, name: str) -> Callable[..., T]:
        """Return the callable that makes the extension called `name`.

        Raises:
            UnknownName: if no built-in and no entry point has that name.
        """
        if name in self.built_in:
            return cast(Callable[..., T], _imported(self.built_in[name]))
        for point in entry_points(group=self.group):
            if point.name == name:
                return cast(Callable[..., T], point.load())
        close = difflib.get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise UnknownName(
            f"there is no {self.kind} called {name!r}",
            fix=f"{hint}known: {', '.join(self.names())}",
        )


def _imported(path: str) -> object:
    module, _, attribute = path.partition(":")
    return getattr(importlib.import_module(module), attribute)
