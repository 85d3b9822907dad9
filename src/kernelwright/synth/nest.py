"""The loops of one kernel: axes that every operand walks through together become one loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernelwright.synth.axes import Dim
from kernelwright.synth.expr import Expr
from kernelwright.synth.program import Buffer, Kernel, Program


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop.

    Attributes:
        axes: The prime axes it walks through, outermost first.
        var: Name of its variable.
        size: C++ expression of its trip count.
        is_reduced: Whether reductions run over it.
    """

    axes: Dim
    var: str
    size: str
    is_reduced: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a kernel.

    Attributes:
        loops: Outermost first; the last one is walked in vectors.
    """

    loops: tuple[Loop, ...]

    @property
    def inner(self) -> Loop:
        """The loop that is walked in vectors."""
        return self.loops[-1]

    @property
    def outer_kept(self) -> tuple[Loop, ...]:
        """Kept loops except the inner one."""
        return tuple(loop for loop in self.loops[:-1] if not loop.is_reduced)

    @property
    def outer_reduced(self) -> tuple[Loop, ...]:
        """Reduced loops except the inner one."""
        return tuple(loop for loop in self.loops[:-1] if loop.is_reduced)

    def loop_of(self, axis: int) -> Loop:
        """Return the loop that walks through a prime axis."""
        return next(loop for loop in self.loops if axis in loop.axes)


def size_name(axis: int) -> str:
    """Return the C++ name of a prime axis' extent."""
    return f"n{axis}"


def product(axes: Sequence[int]) -> str:
    """Return the C++ expression of the extent of several axes."""
    return " * ".join(size_name(axis) for axis in axes) or "1"


def computed_here(program: Program, kernel: Kernel) -> set[int]:
    """Return the values that other kernels take from this one."""
    own = {store.value.uid for store in kernel.row_stores}
    return {uid for uid in program.placed if uid in own}


def leaves_of(program: Program, kernel: Kernel) -> Iterator[tuple[Expr, str]]:
    """Yield every load of a kernel with its buffer; values of earlier kernels are loads too."""
    own = computed_here(program, kernel)
    reductions = {value.uid for group in kernel.passes for value in group}
    stack = [store.value for store in (*kernel.row_stores, *kernel.full_stores)]
    stack += [arg for group in kernel.passes for value in group for arg in value.args]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if value.uid in seen:
            continue
        seen.add(value.uid)
        if value.uid in program.placed and value.uid not in own:
            yield value, program.placed[value.uid]
        elif value.op == "load":
            yield value, str(value.attr)
        elif value.op == "load_at":
            yield value, str(value.attr).split("@")[0]
            stack.extend(value.args)
        elif value.uid not in reductions:
            stack.extend(value.args)


def nest_of(program: Program, kernel: Kernel) -> Nest:
    """Return the loops of a kernel, merged as far as every operand allows."""
    leaves = list(leaves_of(program, kernel))
    fixed = {
        program.canonical.axes.primes((int(str(value.attr).split("@")[1]),))[0]
        for value, _ in leaves
        if value.op == "load_at"
    }
    buffers = [program.buffers[name].axes for _, name in leaves]
    stores = (*kernel.row_stores, *kernel.full_stores)
    buffers += [program.buffers[store.buffer].axes for store in stores]
    groups: list[list[int]] = []
    for axis in kernel.order:
        if groups and _merges(groups[-1][-1], axis, kernel, buffers, fixed):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if not groups:
        return Nest((Loop((), "i", "1", False),))
    return Nest(tuple(_loops(kernel, groups)))


def _merges(left: int, right: int, kernel: Kernel, buffers: Sequence[Dim], fixed: set[int]) -> bool:
    if (left in kernel.reduced) != (right in kernel.reduced) or {left, right} & fixed:
        return False
    for axes in buffers:
        if (left in axes) != (right in axes):
            return False
        if left in axes and axes.index(right) != axes.index(left) + 1:
            return False
    return True


def _loops(kernel: Kernel, groups: Sequence[Sequence[int]]) -> Iterator[Loop]:
    counts = {True: 0, False: 0}
    for place, group in enumerate(groups):
        is_reduced = group[0] in kernel.reduced
        var = f"{'r' if is_reduced else 'k'}{counts[is_reduced]}"
        counts[is_reduced] += 1
        if place == len(groups) - 1:
            var = "i"
        yield Loop(tuple(group), var, product(group), is_reduced)


def offset(buffer: Buffer, nest: Nest, at: dict[int, str]) -> tuple[str, str | None]:
    """Return where an element lies, and the stride of the inner loop if it has one.

    The stride is `1`, another C++ expression, or None if the element does not depend on the inner
    loop. `at` replaces the variable of an axis by an index.
    """
    text, stride, place = "", None, 0
    axes = buffer.axes
    while place < len(axes):
        axis = axes[place]
        loop = nest.loop_of(axis) if axis not in at else None
        length = len(loop.axes) if loop else 1
        var = loop.var if loop else at[axis]
        size = loop.size if loop else size_name(axis)
        text = f"({text}) * ({size}) + {var}" if text else var
        if loop is nest.inner:
            rest = axes[place + length :]
            stride = product(rest) if rest else "1"
        place += length
    return text or "0", stride
