"""Races between cores: E501 (two cores write one place), E502 (a read without a sync).

Accesses are collected during the walk, where the facts about their indices hold, and compared at
its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.check.ownership import Told, determined, told_by
from kernelwright.dsl.diagnostics import Diagnostic, Edit
from kernelwright.dsl.nodes import Assign, GlobalSlice, Load, Store
from kernelwright.dsl.prove.polynomial import Polynomial
from kernelwright.dsl.types import Name, Position


@dataclass(frozen=True, slots=True)
class Access:
    """One access to global memory.

    Attributes:
        tensor: The tensor.
        at: Where it stands.
        is_store, is_atomic: What it does.
        phase: Number of the stretch between two syncs.
        told: What its place determines.
        owners: Atoms that identify the core: the core loop's variable, the core's number.
        only_core: Value of the core's number that alone runs it, where there is one.
        outermost: Place of the outermost loop around it, where there is one.
    """

    tensor: Name
    at: Position
    is_store: bool
    is_atomic: bool
    phase: int
    told: frozenset[Told]
    owners: frozenset[int]
    only_core: Polynomial | None
    outermost: Position | None


@dataclass(slots=True)
class RaceCheck:
    """Collects the accesses of one kernel.

    Attributes:
        stored: Tensors that the kernel writes; the others cannot race.
    """

    stored: frozenset[Name]
    accesses: list[Access] = field(default_factory=list)
    found: list[Diagnostic] = field(default_factory=list)

    def visit(self, context: Context, node: Load | Store | Assign, part: GlobalSlice) -> None:
        """Record one access, and check a store by itself."""
        if part.tensor not in self.stored:
            return
        core = context.values.cores()[0]
        owners = set(core.atoms)
        owners |= context.cores.loop_atoms
        access = Access(
            part.tensor,
            part.at,
            isinstance(node, Store),
            isinstance(node, Store) and node.is_atomic_add,
            context.cores.phase,
            told_by(context, part),
            frozenset(owners),
            context.cores.only_core,
            context.cores.outermost,
        )
        self.accesses.append(access)
        if not access.is_store or access.is_atomic or access.only_core is not None:
            return
        if not determined(context.prover, access.told) & access.owners:
            self._race(context, access)

    def _race(self, context: Context, access: Access) -> None:
        name = access.tensor.text
        if context.cores.loop_atoms:
            place = context.source.cut(access.at)
            numbers = f"the index does not tell the core loop's iteration: {place}"
            what = f"several cores may write the same place of {name}"
            fix: tuple[Edit, ...] = ()
        else:
            numbers = "the store is outside every core loop"
            what = f"every core writes the same place of {name}"
            fix = self._core_loop(context)
        self.found.append(
            Diagnostic(
                "E501",
                access.at,
                what,
                numbers,
                "cores: all run the same program; a store belongs in a core loop whose variable "
                "is in its index, or under if tl.core_id() == 0",
                fix,
            )
        )

    def _core_loop(self, context: Context) -> tuple[Edit, ...]:
        head = context.cores.outermost
        if head is None or not 1 <= head.line <= len(context.source.lines):
            return ()
        line = context.source.lines[head.line - 1].strip()
        if "tl.tiles(" in line and "reverse" not in line:
            return (Edit(head.line, line.replace("tl.tiles(", "tl.core_tiles(", 1)),)
        if " in range(" in line and "," not in line:
            return (Edit(head.line, line.replace(" in range(", " in tl.core_range(", 1)),)
        return ()

    def finish(self, context: Context) -> None:
        """Compare the accesses of each tensor with each other."""
        reported: set[Name] = set()
        for number, one in enumerate(self.accesses):
            for other in self.accesses[number:]:
                if one.tensor in reported or not self._conflict(context, one, other):
                    continue
                reported.add(one.tensor)
                self.found.append(self._finding(context, one, other))

    def _conflict(self, context: Context, one: Access, other: Access) -> bool:
        if one.tensor != other.tensor or not (one.is_store or other.is_store) or one is other:
            return False
        if one.is_atomic and other.is_atomic:
            return False
        if context.cores.group(one.phase) != context.cores.group(other.phase):
            return False
        if one.only_core is not None and one.only_core == other.only_core:
            return False
        same = _renamed(context, one.told) & _renamed(context, other.told)
        owners = {context.cores.alike.get(atom, atom) for atom in one.owners & other.owners}
        owners |= {context.cores.alike.get(atom, atom) for atom in one.owners} & {
            context.cores.alike.get(atom, atom) for atom in other.owners
        }
        return not determined(context.prover, same) & owners

    def _finding(self, context: Context, one: Access, other: Access) -> Diagnostic:
        name = one.tensor.text
        if one.is_store and other.is_store:
            return Diagnostic(
                "E501",
                other.at,
                f"two stores may write the same place of {name} from two cores",
                f"the other is in line {one.at.line}",
                "cores: between two syncs, each place of a tensor belongs to one core",
            )
        read, write = (other, one) if one.is_store else (one, other)
        return Diagnostic(
            "E502",
            read.at,
            f"{name} is read here and written by another core without a sync",
            f"written in line {write.at.line}",
            "cores: what one core stores, another sees after tl.sync_all() only; put it between, "
            "outside the core loops",
            self._with_sync(context, one, other),
        )

    def _with_sync(self, context: Context, one: Access, other: Access) -> tuple[Edit, ...]:
        """A sync before the outermost loop of the later access."""
        first, last = one.outermost, other.outermost
        lines = context.source.lines
        if first is None or last is None or first == last or not 1 <= last.line <= len(lines):
            return ()
        return (Edit(last.line, f"tl.sync_all()\n{lines[last.line - 1].strip()}"),)


def _renamed(context: Context, told: frozenset[Told]) -> frozenset[Told]:
    """Core loops with the same share have the same variable: name them alike."""
    alike = context.cores.alike
    return frozenset(
        Told(
            item.axis,
            item.block,
            Polynomial(
                tuple(
                    sorted(
                        (tuple(sorted(alike.get(atom, atom) for atom in monomial)), factor)
                        for monomial, factor in item.value.terms
                    )
                )
            ),
        )
        for item in told
    )
