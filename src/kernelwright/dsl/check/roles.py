"""Roles: which buffers are loaded and stored, which tensors are read and written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kernelwright.dsl.diagnostics import Diagnostic, Edit
from kernelwright.dsl.nodes import (
    Assign,
    Kernel,
    Load,
    ReadScalar,
    Region,
    Store,
    statements,
)
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.print_expression import type_text
from kernelwright.dsl.types import Name, Position


@dataclass(frozen=True, slots=True)
class Roles:
    """Which buffers are loaded and which are stored."""

    loaded: frozenset[Name]
    stored: frozenset[Name]


@dataclass(slots=True)
class RoleCheck:
    """Collects the findings of one kernel.

    Attributes:
        source: The text, for fixes.
        kernel: The kernel.
        found: Findings so far.
    """

    source: Source
    kernel: Kernel
    found: list[Diagnostic] = field(default_factory=list)

    def _add(
        self,
        code: str,
        at: Position,
        what: str,
        why: str,
        *,
        fix: tuple[Edit, ...] = (),
        numbers: str = "",
    ) -> None:
        self.found.append(Diagnostic(code, at, what, numbers, why, fix))

    def check(self) -> Roles:
        """Report what plays two roles; give the roles."""
        self._inout()
        loads: dict[Name, Load] = {}
        stores: dict[Name, Store] = {}
        for item in statements(self.kernel.body):
            if isinstance(item, Load):
                loads.setdefault(item.dest.buffer, item)
            elif isinstance(item, Store):
                stores.setdefault(item.source.buffer, item)
        for name, store in stores.items():
            if name in loads:
                self._add(
                    "E302",
                    store.source.at,
                    f"{name.text} is both loaded and stored",
                    "roles: a loaded buffer lives in the input queue, a stored one in the "
                    "output queue; copy between them in tl.compute",
                    numbers=f"loaded in line {loads[name].at.line}",
                    fix=self._through_copy(name, store),
                )
        return Roles(frozenset(loads), frozenset(stores))

    def _inout(self) -> None:
        items = list(statements(self.kernel.body))
        stored = {item.target.tensor for item in items if isinstance(item, Store)}
        read = {item.source.tensor: item.at for item in items if isinstance(item, Load)}
        for item in items:
            if isinstance(item, Assign) and isinstance(item.value, ReadScalar):
                read.setdefault(item.value.source.tensor, item.at)
        for param in self.kernel.tensors:
            if param.type.is_inout or param.name not in stored or param.name not in read:
                continue
            kind = type_text(replace(param.type, is_inout=True))
            self._add(
                "E506",
                param.at,
                f"{param.name.text} is loaded and stored, but not declared inout",
                "tensors: what a kernel both reads and writes says so in its type",
                fix=self.source.replace(param.at, f'{param.name.text}: "{kind}"'),
            )

    def _through_copy(self, name: Name, store: Store) -> tuple[Edit, ...]:
        buffer = next(one for one in self.kernel.buffers if one.name == name)
        region = next(
            (
                one
                for one in statements(self.kernel.body)
                if isinstance(one, Region) and store in one.body
            ),
            None,
        )
        lines = self.source.lines
        others = sum(
            1
            for one in statements(self.kernel.body)
            if isinstance(one, Store) and one.source.buffer == name
        )
        if (
            region is None
            or store.source.index
            or others != 1
            or region.body[0] is not store
            or not 1 <= region.at.line <= len(lines)
            or store.at.end_line != store.at.line
        ):
            return ()
        new = f"{name.text}_out"
        alloc = lines[buffer.at.line - 1].strip()
        head = lines[region.at.line - 1].strip()
        return (
            Edit(buffer.at.line, f"{alloc}\n{new}{alloc[len(name.text) :]}"),
            Edit(region.at.line, f"with tl.compute():\n    tl.copy({new}, {name.text})\n{head}"),
            *self.source.replace(store.source.at, new),
        )
