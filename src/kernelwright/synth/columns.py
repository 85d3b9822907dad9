"""Prints kernels whose inner loop is kept: a tile of columns is reduced side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelwright.synth.accumulate import kind_of, lane_step, neutral, term_of
from kernelwright.synth.emit import VECTOR, Emitter, Frame
from kernelwright.synth.expr import BOOL, INDEX, Expr
from kernelwright.synth.nest import Nest, nest_of, offset
from kernelwright.synth.program import Kernel, Program, Store
from kernelwright.synth.rows import indented, unflattened

Lines = list[str]
_FOLDED = frozenset({"sum", "m2", "sumexp"})
_STEP = "__attribute__((always_inline)) {"


@dataclass(slots=True)
class ColumnPrinter:
    """Prints one kernel.

    Attributes:
        program: What it belongs to.
        kernel: The kernel.
        schedule: Its choices.
    """

    program: Program
    kernel: Kernel
    schedule: Mapping[str, str]
    nest: Nest = field(init=False)
    emit: Emitter = field(init=False)
    columns: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nest = nest_of(self.program, self.kernel)
        self.emit = Emitter(self.program, self.kernel, self.nest)

    def lines(self) -> Lines:
        """Return the statements of the kernel."""
        body: Lines = []
        for group in self.kernel.passes:
            body += self._pass(group)
        if self.kernel.row_stores:
            body += self._across(self._stores(self.kernel.row_stores))
        if self.kernel.full_stores:
            stores = self.kernel.full_stores
            body += self._prepared([store.value for store in stores])
            body += _over_reduced(
                self.nest, self.schedule["rows"], self._across(self._stores(stores))
            )
        size, kept = self.nest.inner.size, self.nest.outer_kept
        count = " * ".join(["tiles", *(f"({loop.size})" for loop in kept)])
        head = [
            f"constexpr int64_t TILE = {self.schedule['tile']}, VECTORS = TILE / LANES;",
            f"const int64_t tiles = ({size} + TILE - 1) / TILE;",
            f"const int64_t jobs = {count};",
            f"#pragma omp parallel for schedule(static) if (jobs > {self.schedule['grain']})",
            "for (int64_t job = 0; job < jobs; ++job) {",
            "  const int64_t first = job % tiles * TILE;",
            f"  const int64_t width = smaller(TILE, {size} - first);",
        ]
        rows = unflattened(kept, "job / tiles") if kept else []
        return [*head, *indented([*rows, *body]), "}"]

    def _pass(self, group: Sequence[Expr]) -> Lines:
        terms = [term_of(self.emit, reduction) for reduction in group]
        lines = self._prepared(terms)
        lines += [line for reduction in group for line in _begin(reduction)]
        folded = [r for r in group if kind_of(r) in _FOLDED]
        body = self._step(group, terms)
        block = [
            line
            for reduction in folded
            for line in (
                f"vf a{reduction.uid}[VECTORS];",
                f"for (int64_t v = 0; v < VECTORS; ++v) a{reduction.uid}[v] = splat(0.0f);",
            )
        ]
        after = [
            f"for (int64_t v = 0; v < VECTORS; ++v) t{r.uid}[v] = t{r.uid}[v] + a{r.uid}[v];"
            for r in folded
        ]
        lines += _over_reduced(self.nest, self.schedule["rows"], body, block, after)
        for reduction in group:
            letter = "at" if kind_of(reduction).startswith("arg") else "t"
            self.columns[reduction.uid] = f"{letter}{reduction.uid}[v]"
        return lines

    def _step(self, group: Sequence[Expr], terms: Sequence[Expr]) -> Lines:
        emit = self.emit
        frame = self._open()
        for reduction, term in zip(group, terms, strict=True):
            kind, name = kind_of(reduction), reduction.uid
            value = emit.value(term)
            if kind.startswith("arg"):
                emit.needs.add("best")
                which = "true" if kind == "argmax" else "false"
                frame.lines += [
                    f"const vi w{name} = better<{which}>({value}, t{name}[v]);",
                    f"t{name}[v] = pick(w{name}, {value}, t{name}[v]);",
                    f"const vi p{name} = splat_i((int32_t)({self._place()}));",
                    f"at{name}[v] = pick_i(w{name}, p{name}, at{name}[v]);",
                ]
                continue
            into = f"{'a' if kind in _FOLDED else 't'}{name}[v]"
            frame.lines.append(f"{into} = {lane_step(kind, into, value)};")
        return self._across(self._close())

    def _place(self) -> str:
        place = ""
        for loop in self.nest.outer_reduced:
            place = f"({place}) * ({loop.size}) + {loop.var}" if place else loop.var
        return place

    def _open(self) -> Frame:
        self.emit.forget_depths()
        frame = self.emit.open(VECTOR)
        frame.names.update(self.columns)
        return frame

    def _close(self) -> Lines:
        return self.emit.close()

    def _prepared(self, values: Sequence[Expr]) -> Lines:
        """Compute what depends on finished reductions once a column instead of once an element."""
        wanted = self._frontier(values)
        if not wanted:
            return []
        frame = self._open()
        for value in wanted:
            frame.lines.append(f"c{value.uid}[v] = {self.emit.value(value)};")
        body = self._close()
        lines = [
            f"{'vi' if value.kind == BOOL else 'vf'} c{value.uid}[VECTORS];" for value in wanted
        ]
        lines += self._across(body)
        self.columns.update({value.uid: f"c{value.uid}[v]" for value in wanted})
        return lines

    def _frontier(self, values: Sequence[Expr]) -> list[Expr]:
        found: dict[int, Expr] = {}
        stack = list(values)
        seen: set[int] = set()
        while stack:
            value = stack.pop()
            if value.uid in seen or value.uid in self.columns:
                continue
            seen.add(value.uid)
            if self._is_per_column(value):
                found[value.uid] = value
            else:
                stack.extend(value.args)
        return [found[uid] for uid in sorted(found)]

    def _is_per_column(self, value: Expr) -> bool:
        """Whether a computed value depends on finished reductions and on no reduced axis."""
        if value.op in {"load", "load_at", "const", "size", "reduce"}:
            return False
        has_reduction, stack = False, [value]
        while stack:
            part = stack.pop()
            if part.uid in self.columns:
                has_reduction = True
            elif part.op in {"load", "load_at"} or part.uid in self.program.placed:
                axes = self._loaded_axes(part)
                if axes & self.kernel.reduced:
                    return False
            else:
                stack.extend(part.args)
        return has_reduction

    def _loaded_axes(self, value: Expr) -> set[int]:
        name = self.program.placed.get(value.uid, str(value.attr).split("@")[0])
        return set(self.program.buffers[name].axes)

    def _stores(self, stores: Sequence[Store]) -> Lines:
        frame = self._open()
        for store in stores:
            where, _ = offset(self.program.buffers[store.buffer], self.nest, {})
            target, value = f"{store.buffer} + {where}", self.emit.value(store.value)
            if store.value.kind == INDEX:
                self.emit.needs.add("places")
                frame.lines.append(f"put_places({target}, {value}, q);")
            elif store.value.kind == BOOL:
                self.emit.needs.add("mask")
                frame.lines.append(f"put_mask({target}, {value}, q);")
            else:
                frame.lines.append(f"put({target}, {value}, q);")
        return self._close()

    def _across(self, body: Lines) -> Lines:
        hoisted, self.emit.frames[0].lines = self.emit.frames[0].lines, []
        return [
            *hoisted,
            f"across(first, width, [&](auto q, int64_t i, int64_t v) {_STEP}",
            *indented(["(void)q; (void)i; (void)v;", *body]),
            "});",
        ]


def _begin(reduction: Expr) -> Lines:
    kind, name = kind_of(reduction), reduction.uid
    start = f"t{name}[v] = splat({neutral(kind)});"
    if kind.startswith("arg"):
        return [
            f"vf t{name}[VECTORS];",
            f"vi at{name}[VECTORS];",
            f"for (int64_t v = 0; v < VECTORS; ++v) {{ {start} at{name}[v] = vi{{}}; }}",
        ]
    return [f"vf t{name}[VECTORS];", f"for (int64_t v = 0; v < VECTORS; ++v) {start}"]


def _over_reduced(
    nest: Nest, rows: str, body: Lines, block: Sequence[str] = (), after: Sequence[str] = ()
) -> Lines:
    """Put loops over the reduced axes around a body; the innermost one runs in blocks."""
    loops = nest.outer_reduced
    last = loops[-1]
    lines = [
        f"for (int64_t lo = 0; lo < {last.size}; lo += {rows}) {{",
        *indented(
            [
                f"const int64_t hi = smaller(lo + {rows}, {last.size});",
                *block,
                f"for (int64_t {last.var} = lo; {last.var} < hi; ++{last.var}) {{",
                *indented(body),
                "}",
                *after,
            ]
        ),
        "}",
    ]
    for loop in reversed(loops[:-1]):
        head = f"for (int64_t {loop.var} = 0; {loop.var} < {loop.size}; ++{loop.var}) {{"
        lines = [head, *indented(lines), "}"]
    return lines
