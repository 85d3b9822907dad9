"""Canonical view to kernels: reductions over the same axes share one, maps join the last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernelwright.core.errors import NotCovered
from kernelwright.synth.axes import Dim
from kernelwright.synth.canonical import Canonical, Output
from kernelwright.synth.expr import INDEX, Expr, Reduction, walk
from kernelwright.synth.graph import Source
from kernelwright.synth.program import Buffer, Kernel, Program, Store, Use


def partition(canonical: Canonical) -> Program:
    """Return the kernels that compute a task.

    Raises:
        NotCovered: if two reductions cannot be put in an order.
    """
    return _Partition(canonical).run()


def axes_of(canonical: Canonical, value: Expr) -> Dim:
    """Return the prime axes of a value, in order of its shape."""
    return canonical.axes.primes(axis for dim in value.shape for axis in dim)


@dataclass(slots=True)
class _Draft:
    """A kernel that is being put together."""

    order: Dim
    reduced: frozenset[int]
    reductions: list[Expr] = field(default_factory=list)
    row_stores: list[Store] = field(default_factory=list)
    full_stores: list[Store] = field(default_factory=list)

    @property
    def kept(self) -> frozenset[int]:
        return frozenset(self.order) - self.reduced


@dataclass(slots=True)
class _Partition:
    canonical: Canonical
    drafts: list[_Draft] = field(default_factory=list)
    home: dict[int, int] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    placed: dict[int, str] = field(default_factory=dict)

    def run(self) -> Program:
        outputs = self.canonical.outputs
        for name, placeholder in self.canonical.placeholders.items():
            axes = self._primes(axis for dim in self.canonical.shapes[name] for axis in dim)
            written = any(output.buffer == name for output in outputs)
            written |= any(counter == name for counter, _ in self.canonical.counters)
            use = Use.STATE if written else Use.GIVEN
            if written and placeholder.source is not Source.BUFFER:
                raise NotCovered(f"{name} is written", fix="return a new tensor instead")
            self.buffers[name] = Buffer(name, placeholder.dtype, axes, use)
        for value in walk([output.value for output in outputs]):
            if value.op == "reduce":
                self._place_reduction(value)
        returned = tuple(self._place_output(place, output) for place, output in enumerate(outputs))
        for index in reversed(range(len(self.drafts))):
            self._fetch(index)
        kernels = tuple(self._finished(index) for index in range(len(self.drafts)))
        plain = sum(output.buffer is None for output in outputs)
        return Program(self.canonical, kernels, self.buffers, returned[:plain], self.placed)

    def _primes(self, dim: Iterable[int]) -> Dim:
        return self.canonical.axes.primes(dim)

    def _axes(self, value: Expr) -> Dim:
        return axes_of(self.canonical, value)

    def _needs(self, value: Expr) -> int:
        """Return the last kernel that a value depends on, or -1."""
        return max(
            (self.home[e.uid] for e in walk([value]) if e.op == "reduce" and e is not value),
            default=-1,
        )

    def _place_reduction(self, value: Expr) -> None:
        assert isinstance(value.attr, Reduction)
        order = self._axes(value.args[0])
        reduced = frozenset(self._primes(value.attr.axes))
        if not reduced <= set(order):
            missing = tuple(sorted(reduced - set(order)))
            order = (*missing, *order)
        last = self._needs(value)
        for index in reversed(range(len(self.drafts))):
            draft = self.drafts[index]
            if index < last:
                break
            if set(draft.order) == set(order) and draft.reduced == reduced:
                draft.reductions.append(value)
                self.home[value.uid] = index
                return
        self.drafts.append(_Draft(order, reduced, [value]))
        self.home[value.uid] = len(self.drafts) - 1

    def _place_output(self, place: int, output: Output) -> str:
        if output.buffer is None:
            name = f"out{place}"
            order = self._axes(output.value)
            self.buffers[name] = Buffer(name, output.dtype, order, Use.RETURNED)
        else:
            name = output.buffer
        value = output.value
        axes = set(self._axes(value))
        last = self._last(value)
        for index in range(max(last, 0), len(self.drafts)):
            draft = self.drafts[index]
            if axes == set(draft.order) and not (axes == draft.kept and draft.reduced):
                draft.full_stores.append(Store(value, name))
                return name
            if axes == draft.kept and draft.reduced:
                draft.row_stores.append(Store(value, name))
                return name
        if value.op == "reduce":
            raise NotCovered("a reduction without a kernel", fix="report this task")
        self.drafts.append(_Draft(self._axes(value), frozenset(), [], [], [Store(value, name)]))
        return name

    def _last(self, value: Expr) -> int:
        return max((self.home[e.uid] for e in walk([value]) if e.op == "reduce"), default=-1)

    def _fetch(self, index: int) -> None:
        """Let earlier kernels store what kernel `index` needs of them."""
        draft = self.drafts[index]
        roots = [store.value for store in (*draft.row_stores, *draft.full_stores)]
        roots += [arg for reduction in draft.reductions for arg in reduction.args]
        seen: set[int] = set()
        while roots:
            value = roots.pop()
            last = self._last(value)
            if value.uid in seen or last < 0:
                continue
            seen.add(value.uid)
            if last < index and set(self._axes(value)) == self.drafts[last].kept:
                self._keep(value, self.drafts[last])
                continue
            if value.op == "reduce" and self.home[value.uid] == index:
                continue
            if value.op == "reduce":
                raise NotCovered("a reduction over an odd set of axes", fix="split the reference")
            roots.extend(value.args)

    def _keep(self, value: Expr, draft: _Draft) -> None:
        if value.uid in self.placed:
            return
        name = f"kept{len(self.placed)}"
        dtype = "int64" if value.kind == INDEX else "bool" if value.kind == "bool" else "float32"
        order = tuple(axis for axis in draft.order if axis not in draft.reduced)
        self.buffers[name] = Buffer(name, dtype, order, Use.SCRATCH)
        self.placed[value.uid] = name
        draft.row_stores.append(Store(value, name))

    def _finished(self, index: int) -> Kernel:
        draft = self.drafts[index]
        return Kernel(
            order=self._order(draft),
            reduced=draft.reduced,
            passes=self._passes(draft, index),
            row_stores=tuple(draft.row_stores),
            full_stores=tuple(draft.full_stores),
        )

    def _order(self, draft: _Draft) -> Dim:
        """Return the axes in the memory order of the first operand that has all of them."""
        roots = [store.value for store in (*draft.row_stores, *draft.full_stores)]
        for value in walk([*roots, *draft.reductions]):
            if value.op == "load":
                axes = self.buffers[str(value.attr)].axes
                if set(axes) == set(draft.order):
                    return axes
        return draft.order

    def _passes(self, draft: _Draft, index: int) -> tuple[tuple[Expr, ...], ...]:
        depth: dict[int, int] = {}
        for value in sorted(draft.reductions, key=lambda v: v.uid):
            below = [
                depth[e.uid]
                for e in walk(list(value.args))
                if e.op == "reduce" and self.home[e.uid] == index
            ]
            depth[value.uid] = 1 + max(below, default=-1)
        count = 1 + max(depth.values(), default=-1)
        ordered = sorted(draft.reductions, key=lambda v: v.uid)
        return tuple(
            tuple(value for value in ordered if depth[value.uid] == level) for level in range(count)
        )
