"""What holds of a kernel after each step; a violation is a bug of the compiler."""

from __future__ import annotations

from kernelwright.dsl.legalise import Legal
from kernelwright.dsl.nodes import Kernel, Load, Op, Reduce, Store, View, statements
from kernelwright.dsl.recipes import KEPT_WHOLE, RECIPES
from kernelwright.dsl.tree import subexpressions, values_of


class InvariantBroken(AssertionError):
    """A step of the compiler gave something that the next one does not accept."""


def check_annotated(kernel: Kernel) -> None:
    """Every operand of a checked kernel carries its extent.

    Raises:
        InvariantBroken: where one does not.
    """
    for item in statements(kernel.body):
        views: list[View] = []
        match item:
            case Load(dest=dest):
                views.append(dest)
            case Store(source=source):
                views.append(source)
            case Op(dest=dest, operands=operands):
                views += [dest, *(one for one in operands if isinstance(one, View))]
        for value in values_of(item):
            views += [part.source for part in subexpressions(value) if isinstance(part, Reduce)]
        for view in views:
            if view.extent is None:
                raise InvariantBroken(f"{view} has no extent in line {view.at.line}")


def check_legal(legal: Legal) -> None:
    """A legal kernel has basic operations only, on buffers that exist under distinct names.

    Raises:
        InvariantBroken: where it has not.
    """
    check_annotated(legal.kernel)
    names = [buffer.name for buffer in legal.kernel.buffers]
    if len(set(names)) != len(names):
        raise InvariantBroken(f"two buffers share a name: {names}")
    for item in statements(legal.kernel.body):
        if not isinstance(item, Op):
            continue
        kept = any(
            name in KEPT_WHOLE and value == KEPT_WHOLE[name] for name, value in item.attributes
        )
        if item.name in RECIPES and not kept:
            raise InvariantBroken(f"{item.name} is left in line {item.at.line}")
        used = [item.dest, *(one for one in item.operands if isinstance(one, View))]
        if any(view.buffer not in names for view in used):
            raise InvariantBroken(f"{item.name} in line {item.at.line} uses an unknown buffer")
