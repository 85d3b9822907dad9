"""What stands where: regions, roles of buffers, tokens, core loops.

These checks need no arithmetic: they read the tree alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.dsl.check.bodies import is_core_loop
from kernelwright.dsl.check.roles import RoleCheck, Roles
from kernelwright.dsl.check.sync import outside_findings
from kernelwright.dsl.check.tokens import TokenCheck
from kernelwright.dsl.diagnostics import Diagnostic, Edit
from kernelwright.dsl.nodes import (
    Assign,
    Block,
    For,
    If,
    Kernel,
    Load,
    Op,
    ReadScalar,
    Reduce,
    Region,
    RegionKind,
    Require,
    Statement,
    StaticRange,
    Store,
    SyncAll,
)
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.print_program import simple_text
from kernelwright.dsl.tree import subexpressions
from kernelwright.dsl.types import Position

WHERE = {
    RegionKind.COPYIN: "tl.load and tl.load_scalar",
    RegionKind.COMPUTE: "operations on buffers",
    RegionKind.COPYOUT: "tl.store and tl.store_add",
}


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
        role_check = RoleCheck(self.source, self.kernel, self.found)
        roles = role_check.check()
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
                    self.found += outside_findings(item, region, outer)
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
