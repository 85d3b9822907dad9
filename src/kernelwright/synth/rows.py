"""Prints kernels whose inner loop is reduced, or that only map: one row after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelwright.synth.accumulate import Accumulator, accumulators_of, fused_with
from kernelwright.synth.emit import VECTOR, Emitter
from kernelwright.synth.expr import BOOL, COSTLY, INDEX, Expr, walk
from kernelwright.synth.nest import Loop, Nest, nest_of, offset
from kernelwright.synth.program import Kernel, Program, Store

Lines = list[str]
_STEP = "[&](auto q, int64_t i, int u) __attribute__((always_inline)) {"


def indented(lines: Sequence[str], by: int = 1) -> Lines:
    """Return lines moved to the right."""
    return [f"{'  ' * by}{line}" if not line.startswith("#") else line for line in lines]


@dataclass(slots=True)
class RowPrinter:
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
    kept_in: dict[int, Store] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nest = nest_of(self.program, self.kernel)
        self.emit = Emitter(self.program, self.kernel, self.nest)

    @property
    def is_whole(self) -> bool:
        """Whether there is one row only, so that threads must share it."""
        return not self.nest.outer_kept

    def lines(self) -> Lines:
        """Return the statements of the kernel."""
        body: Lines = []
        for group in self._groups():
            body += self._pass(group)
        body += self._row_stores()
        body += self._full_stores()
        if self.is_whole:
            return body
        kept = self.nest.outer_kept
        count = " * ".join(f"({loop.size})" for loop in kept)
        head = [
            f"const int64_t rows = {count};",
            f"#pragma omp parallel for schedule(static) if (rows > {self.schedule['grain']})",
            "for (int64_t row = 0; row < rows; ++row) {",
        ]
        return [*head, *indented([*unflattened(kept, "row"), *body]), "}"]

    def _groups(self) -> list[list[list[Expr]]]:
        """Return passes over memory: each a list of sweeps over one block."""
        groups = [[list(group)] for group in self.kernel.passes]
        if self.schedule.get("passes") == "online" and not self.is_whole:
            merged: list[list[list[Expr]]] = []
            for group in groups:
                if merged and len(merged[-1]) == 1 and fused_with(group[0], merged[-1][0]):
                    merged[-1].append(group[0])
                else:
                    merged.append(group)
            return merged
        return groups

    def _pass(self, sweeps: list[list[Expr]]) -> Lines:
        emit = self.emit
        emit.forget_depths()
        made = [accumulators_of(emit, sweep, is_online=k > 0) for k, sweep in enumerate(sweeps)]
        everything = [accumulator for sweep in made for accumulator in sweep]
        body: Lines = []
        for accumulators in made:
            body += self._sweep(accumulators)
        lines = emit.frames[0].lines
        lines += self._over_row(everything, body)
        for accumulator in everything:
            emit.frames[0].names.update(accumulator.named(emit))
            lines += accumulator.finish(emit)
        done, emit.frames[0].lines = lines, []
        return done

    def _sweep(self, accumulators: list[Accumulator]) -> Lines:
        emit = self.emit
        unroll = int(self.schedule["unroll"])
        self._open_reduced()
        frame = emit.open(VECTOR)
        for accumulator in accumulators:
            frame.lines += accumulator.update(emit)
        for value, store in self._reusable(accumulators):
            where, _ = offset(self.program.buffers[store.buffer], self.nest, {})
            frame.lines.append(f"put({store.buffer} + {where}, {emit.value(value)}, q);")
            self.kept_in[value.uid] = store
        step = emit.close()
        block = [line for a in accumulators for line in a.begin_block(unroll)]
        block += [
            f"sweep<{unroll}>(lo, hi, {_STEP}",
            *indented(["(void)u;", *step]),
            "});",
        ]
        block += [line for a in accumulators for line in a.end_block(unroll)]
        return self._close_reduced(block)

    def _open_reduced(self) -> None:
        for depth in range(len(self.nest.outer_reduced)):
            self.emit.open(depth + 1)

    def _close_reduced(self, block: Lines) -> Lines:
        """Close the frames of reduced loops; their statements go before `block`."""
        found: list[Lines] = [self.emit.close() for _ in self.nest.outer_reduced]
        # Statements of outer loops are repeated in the innermost one: the compiler moves them out.
        return [line for lines in reversed(found) for line in lines] + block

    def _over_row(self, accumulators: list[Accumulator], body: Lines) -> Lines:
        """Put loops over all reduced axes around the work on one block."""
        declared = [line for a in accumulators for line in a.begin_row()]
        if not self.is_whole:
            return [*declared, *_loops(self.nest, self.schedule["block"], body, "0", None)]
        inner = [*declared, *_loops(self.nest, self.schedule["block"], body, "from", "to")]
        inner += [f"{a.total}_of[part] = {a.total};" for a in accumulators]
        arrays = [f"{a.total_type} {a.total}_of[PARTS];" for a in accumulators]
        combined = [line for a in accumulators for line in a.begin_row()]
        combined.append("for (int64_t part = 0; part < PARTS; ++part) {")
        combined += indented([line for a in accumulators for line in a.combine()])
        return [*arrays, *_parts(self.nest, inner), *combined, "}"]

    def _row_stores(self) -> Lines:
        emit = self.emit
        emit.forget_depths()
        lines: Lines = []
        for store in self.kernel.row_stores:
            where, _ = offset(self.program.buffers[store.buffer], self.nest, {})
            target = f"{store.buffer} + {where}"
            text = _one(emit, store.value, target)
            lines += [*emit.frames[0].lines, text]
            emit.frames[0].lines = []
        return lines

    def _full_stores(self) -> Lines:
        if not self.kernel.full_stores:
            return []
        emit = self.emit
        emit.forget_depths()
        stream = self.schedule.get("stream") == "yes"
        self._open_reduced()
        frame = emit.open(VECTOR)
        for uid, store in self.kept_in.items():
            where, _ = offset(self.program.buffers[store.buffer], self.nest, {})
            name = emit.fresh("v")
            frame.lines.append(f"const vf {name} = load({store.buffer} + {where}, q);")
            frame.names[uid] = name
        head: Lines = []
        puts: Lines = []
        for store in self.kernel.full_stores:
            where, stride = offset(self.program.buffers[store.buffer], self.nest, {})
            dtype = self.program.buffers[store.buffer].dtype
            if stream and dtype == "float32" and stride == "1":
                flag = emit.fresh("past")
                first = where.rsplit("+ i", 1)[0] + "+ lo" if where != "i" else "lo"
                head.append(f"const bool {flag} = is_aligned({store.buffer} + {first});")
                value = emit.value(store.value)
                puts.append(f"put_stream({store.buffer} + {where}, {value}, q, {flag});")
            else:
                puts.append(_many(emit, store.value, f"{store.buffer} + {where}", stride or "1"))
        frame.lines += puts
        step = emit.close()
        unroll = min(int(self.schedule["unroll"]), 4)
        block = [
            *head,
            f"sweep<{unroll}>(lo, hi, {_STEP}",
            *indented(["(void)u;", *step]),
            "});",
        ]
        body = self._close_reduced(block)
        loops = (
            _parts(self.nest, _loops(self.nest, self.schedule["block"], body, "from", "to"))
            if self.is_whole
            else _loops(self.nest, self.schedule["block"], body, "0", None)
        )
        lines = [*emit.frames[0].lines, *loops]
        emit.frames[0].lines = []
        return lines if not head else [*lines, "end_stream();"]

    def _reusable(self, accumulators: list[Accumulator]) -> list[tuple[Expr, Store]]:
        """Return the costly value of this pass that the last pass needs again, if any."""
        stores = self.kernel.full_stores
        if self.schedule.get("reuse") != "keep" or len(stores) != 1 or self.kept_in:
            return []
        if self.program.buffers[stores[0].buffer].dtype != "float32":
            return []
        frame = self.emit.frames[-1]
        for value in reversed(list(walk([stores[0].value]))):
            if value.op in COSTLY and value.uid in frame.names:
                return [(value, stores[0])]
        return []


def unflattened(loops: Sequence[Loop], var: str) -> Lines:
    """Return the variables of several loops that one variable counts through."""
    if len(loops) == 1:
        return [f"const int64_t {loops[0].var} = {var};"]
    lines: Lines = []
    rest = var
    for place, loop in reversed(list(enumerate(loops))):
        if place == 0:
            lines.append(f"const int64_t {loop.var} = {rest};")
            break
        lines.append(f"const int64_t {loop.var} = ({rest}) % ({loop.size});")
        rest = f"({rest}) / ({loop.size})"
    return lines


def _one(emit: Emitter, value: Expr, target: str) -> str:
    name = emit.value(value)
    if value.kind == INDEX:
        return f"*({target}) = {name};"
    if value.kind == BOOL:
        return f"*({target}) = {name}[0] ? 1 : 0;"
    return f"put_one({target}, {name});"


def _many(emit: Emitter, value: Expr, target: str, stride: str) -> str:
    name = emit.value(value)
    if value.kind == BOOL:
        emit.needs.add("mask")
        return f"put_mask({target}, {name}, q);"
    if stride != "1":
        emit.needs.add("scatter")
        return f"scatter({target}, {stride}, {name}, q);"
    return f"put({target}, {name}, q);"


def _loops(nest: Nest, block: str, body: Lines, start: str, end: str | None) -> Lines:
    """Return the loops over reduced axes; the outermost one runs from `start` to `end`."""
    outer = nest.outer_reduced
    size = nest.inner.size
    first, last = (start, end or size) if not outer else ("0", size)
    lines = [
        f"for (int64_t lo = {first}; lo < {last}; lo += {block}) {{",
        *indented([f"const int64_t hi = smaller(lo + {block}, {last});", *body]),
        "}",
    ]
    for place, loop in reversed(list(enumerate(outer))):
        first, last = (start, end or loop.size) if place == 0 else ("0", loop.size)
        head = f"for (int64_t {loop.var} = {first}; {loop.var} < {last}; ++{loop.var}) {{"
        lines = [head, *indented(lines), "}"]
    return lines


def _parts(nest: Nest, inner: Lines) -> Lines:
    outermost = next(loop for loop in nest.loops if loop.is_reduced or loop is nest.inner)
    return [
        "#pragma omp parallel for schedule(static)",
        "for (int64_t part = 0; part < PARTS; ++part) {",
        f"  const int64_t span = part_of({outermost.size});",
        f"  const int64_t from = smaller(part * span, {outermost.size});",
        f"  const int64_t to = smaller(from + span, {outermost.size});",
        *indented(inner),
        "}",
    ]
