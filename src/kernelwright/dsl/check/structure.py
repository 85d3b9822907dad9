"""What stands where: regions, roles of buffers, tokens, core loops.

These checks need no arithmetic: they read the tree alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kernelwright.dsl.check.bodies import is_core_loop
from kernelwright.dsl.check.tokens import TokenCheck
from kernelwright.dsl.diagnostics import Diagnostic, Edit
from kernelwright.dsl.nodes import (
    Apply,
    Assign,
    Binary,
    Block,
    For,
    If,
    Kernel,
    Literal,
    Load,
    Op,
    ReadScalar,
    Reduce,
    Ref,
    RefKind,
    Region,
    RegionKind,
    Require,
    Statement,
    StaticRange,
    Store,
    SyncAll,
    statements,
)
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.print_expression import type_text
from kernelwright.dsl.print_program import simple_text
from kernelwright.dsl.tree import loop_operands, subexpressions
from kernelwright.dsl.types import Name, Position

WHERE = {
    RegionKind.COPYIN: "tl.load and tl.load_scalar",
    RegionKind.COMPUTE: "operations on buffers",
    RegionKind.COPYOUT: "tl.store and tl.store_add",
}


@dataclass(frozen=True, slots=True)
class Roles:
    """Which buffers are loaded and which are stored."""

    loaded: frozenset[Name]
    stored: frozenset[Name]


@dataclass(slots=True)
class StructureCheck:
    """Collects the findings of one kernel.

    Attributes:
        source: The text, for fixes.
        kernel: The kernel.
        found: Findings so far.
    """

    source: Source
    kernel: Kernel
    found: list[Diagnostic] = field(default_factory=list)

    def add(
        self,
        code: str,
        at: Position,
        what: str,
        why: str,
        *,
        fix: tuple[Edit, ...] = (),
        numbers: str = "",
    ) -> None:
        """Report one finding."""
        self.found.append(Diagnostic(code, at, what, numbers, why, fix))

    def check(self) -> Roles:
        """Report everything that stands in the wrong place; give the roles of the buffers."""
        self._places(self.kernel.body, None, ())
        roles = self._roles()
        self._inout()
        if not self.found:
            self.found += TokenCheck(self.source).check(self.kernel.body)
        return roles

    # --- regions ---------------------------------------------------------------------------------

    def _places(self, block: Block, region: Region | None, outer: tuple[Statement, ...]) -> None:
        for item in block:
            match item:
                case Region():
                    if region is not None:
                        self.add(
                            "E202",
                            item.at,
                            f"tl.{item.kind} inside tl.{region.kind}",
                            "regions do not nest: each is one function of one pipe",
                        )
                    self._places(item.body, item, (*outer, item))
                case For():
                    self._loop(item, region, outer)
                    self._places(item.body, region, (*outer, item))
                case If():
                    if region is not None:
                        self.add(
                            "E202",
                            item.at,
                            f"if inside tl.{region.kind}",
                            "regions are straight lines: put the region inside the if",
                        )
                    self._places(item.then, region, (*outer, item))
                    self._places(item.orelse, region, (*outer, item))
                case Require() | SyncAll():
                    self._outside(item, region, outer)
                case Load() | Store() | Op():
                    self._transfer(item, region)
                case Assign():
                    self._assign(item, region)

    def _loop(self, item: For, region: Region | None, outer: tuple[Statement, ...]) -> None:
        if region is not None and not isinstance(item.over, StaticRange):
            self.add(
                "E202",
                item.at,
                f"loop inside tl.{region.kind}",
                "regions hold no loop but tl.static_range: put the region inside the loop",
            )
        inside = [one for one in outer if isinstance(one, For) and is_core_loop(one)]
        if inside and is_core_loop(item):
            self.add(
                "E505",
                item.at,
                "a core loop inside a core loop",
                "cores: work is shared out once; use tl.tiles or range inside",
                fix=self._plain_loop(item),
            )

    def _plain_loop(self, item: For) -> tuple[Edit, ...]:
        if not 1 <= item.at.line <= len(self.source.lines):
            return ()
        line = self.source.lines[item.at.line - 1].strip()
        plain = line.replace("tl.core_tiles(", "tl.tiles(").replace("tl.core_range(", "range(")
        return (Edit(item.at.line, plain),)

    def _outside(
        self, item: Require | SyncAll, region: Region | None, outer: tuple[Statement, ...]
    ) -> None:
        if isinstance(item, SyncAll):
            self._sync(item, region, outer)
            return
        if outer:
            self.add(
                "E203",
                item.at,
                "tl.require stands at the top level of the kernel",
                "requirements: the host checks them before launch; in the kernel use if",
            )
            return
        for part in subexpressions(item.condition):
            is_local = isinstance(part, Ref) and part.kind in (RefKind.LOCAL, RefKind.LOOP)
            is_core = isinstance(part, Apply) and part.function == "core_id"
            if is_local or is_core or isinstance(part, Reduce | ReadScalar):
                self.add(
                    "E203",
                    item.at,
                    "tl.require is about the launch, not about a core's work",
                    "requirements: dims, constants and parameters only",
                )
                return

    def _sync(self, item: SyncAll, region: Region | None, outer: tuple[Statement, ...]) -> None:
        if region is not None:
            self.add(
                "E202",
                item.at,
                f"tl.sync_all inside tl.{region.kind}",
                "regions hold no synchronisation: put it between them",
            )
        elif any(isinstance(one, For) and is_core_loop(one) for one in outer):
            self.add(
                "E504",
                item.at,
                "tl.sync_all inside a core loop",
                "sync_all: cores have different shares, even empty ones, so they would wait "
                "for each other a different number of times, for ever",
            )
        elif any(isinstance(one, For) and not _is_uniform(one) for one in outer):
            self.add(
                "E504",
                item.at,
                "tl.sync_all in a loop whose length may differ between cores",
                "sync_all: every core must reach it the same number of times",
            )
        elif any(isinstance(one, If) for one in outer):
            self.add(
                "E504",
                item.at,
                "tl.sync_all under an if",
                "sync_all: every core must reach it the same number of times",
            )

    def _transfer(self, item: Load | Store | Op, region: Region | None) -> None:
        wants = {Load: RegionKind.COPYIN, Store: RegionKind.COPYOUT, Op: RegionKind.COMPUTE}[
            type(item)
        ]
        text = simple_text(item)
        if region is None:
            fix = self.source.replace(item.at, f"with tl.{wants}():\n    {text}")
            self.add(
                "E201",
                item.at,
                f"{text.split('(')[0]} outside a region",
                f"regions: tl.{wants}() holds {WHERE[wants]}",
                fix=fix,
            )
        elif region.kind is not wants:
            self.add(
                "E201",
                item.at,
                f"{text.split('(')[0]} inside tl.{region.kind}",
                f"regions: tl.{region.kind}() holds {WHERE[region.kind]}; "
                f"{text.split('(')[0]} belongs in tl.{wants}()",
                fix=self._moved(item, region, wants),
            )
        if isinstance(item, Load) and item.dest.index:
            self.add(
                "E103",
                item.dest.at,
                "tl.load fills a whole buffer, not a slice",
                "loads: a load opens a new token; take a buffer of rank 2 to load rows",
                fix=self.source.replace(item.dest.at, item.dest.buffer.text),
            )

    def _moved(self, item: Statement, region: Region, wants: RegionKind) -> tuple[Edit, ...]:
        # Alone in its region: the region is of the wrong kind.
        if len(region.body) != 1 or region.at.line == item.at.line:
            return ()
        name = "" if region.label is None else f'"{region.label}"'
        return self.source.replace(region.at, f"tl.{wants}({name})")

    def _assign(self, item: Assign, region: Region | None) -> None:
        for part in subexpressions(item.value):
            if isinstance(part, Reduce) and (
                region is None or region.kind is not RegionKind.COMPUTE
            ):
                fix = (
                    self.source.replace(item.at, f"with tl.compute():\n    {simple_text(item)}")
                    if region is None
                    else ()
                )
                self.add(
                    "E201",
                    item.at,
                    f"tl.{part.function} outside tl.compute",
                    "regions: tl.compute() holds operations on buffers",
                    fix=fix,
                )
                return
            if isinstance(part, ReadScalar):
                if part is not item.value:
                    self.add(
                        "E103",
                        part.at,
                        "tl.load_scalar is the whole value of an assignment",
                        "scalars: read it into a name first, then compute",
                    )
                    return
                if region is None or region.kind is not RegionKind.COPYIN:
                    fix = (
                        self.source.replace(item.at, f"with tl.copyin():\n    {simple_text(item)}")
                        if region is None
                        else ()
                    )
                    self.add(
                        "E201",
                        item.at,
                        "tl.load_scalar outside tl.copyin",
                        "regions: tl.copyin() holds tl.load and tl.load_scalar",
                        fix=fix,
                    )
                    return

    # --- roles and tokens ------------------------------------------------------------------------

    def _roles(self) -> Roles:
        loads: dict[Name, Load] = {}
        stores: dict[Name, Store] = {}
        for item in statements(self.kernel.body):
            if isinstance(item, Load):
                loads.setdefault(item.dest.buffer, item)
            elif isinstance(item, Store):
                stores.setdefault(item.source.buffer, item)
        for name, store in stores.items():
            if name in loads:
                self.add(
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
            self.add(
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


def _is_uniform(item: For) -> bool:
    """True where every core runs the loop equally often, as its head shows."""
    return all(
        isinstance(part, Literal)
        or (isinstance(part, Ref) and part.kind in (RefKind.DIM, RefKind.CONST, RefKind.PARAM))
        or isinstance(part, Binary)
        or (isinstance(part, Apply) and part.function != "core_id")
        for operand in loop_operands(item.over)
        for part in subexpressions(operand)
    )
