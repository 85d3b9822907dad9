"""One group as one loop over vectors: buffers are local values, reductions are lanes.

Takes:   a group of the plan, and the buffers that are read after it.
Gives:   lines of C++.
Leaves:  the memory of buffers that need some to the kernel's printer (`Scope.in_memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.dsl.builtins import BUILTINS
from kernelwright.dsl.emit.lanes import CPP_TYPE, ITEM_BYTES, result_of, scalar_vector, vector_type
from kernelwright.dsl.emit.place import Place, Scope
from kernelwright.dsl.lower.ahead import Ahead
from kernelwright.dsl.lower.fuse import Form, form_of, is_unit
from kernelwright.dsl.lower.plan import Group
from kernelwright.dsl.nodes import (
    Assign,
    Expr,
    Load,
    Op,
    Reduce,
    Span,
    Store,
    View,
)
from kernelwright.dsl.primitive import Kind
from kernelwright.dsl.types import DType, Name

REDUCTIONS = {
    "reduce_sum": ("0.0f", "{0} + {1}", "fold_sum"),
    "reduce_max": ("-INFINITY", "v_max({0}, {1})", "fold_max"),
    "reduce_min": ("INFINITY", "v_min({0}, {1})", "fold_min"),
}
HEAVY = {"exp", "ln", "erf", "gelu", "tanh", "sigmoid", "sin", "cos", "div", "divs", "rdivs"}


def vectors_a_step(group: Group) -> int:
    """Vectors a step of the loop: enough accumulators to hide the latency of an addition."""
    heavy = sum(isinstance(item, Op) and item.name in HEAVY for item in group.members)
    copies = sum(isinstance(item, Op) and item.name == "copy" for item in group.members)
    weight = len(group.members) - copies + 7 * heavy
    if weight <= 12:
        return 4
    has_reduction = any(isinstance(item, Assign) for item in group.members)
    return 2 if weight <= 40 or has_reduction else 1


@dataclass(slots=True)
class Limits:
    """Where in a row whole vectors may lie.

    Attributes:
        streams: Of each store past the caches: a name for whether it may be made, whether the
            tensor is large, the pointer and the bytes of an element.
        inside: Start and size of rows that are read outside of their elements too.
    """

    streams: list[tuple[str, str, str, int]] = field(default_factory=list)
    inside: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The arguments of `sweep`."""
        return "n, from, to" if self.streams or self.inside else "n"

    def lines(self) -> list[str]:
        """The declarations of `from` and `to`, and of what stores may do."""
        if not self.streams and not self.inside:
            return []
        low, high = "(int64_t)0", "n"
        for start, size in dict.fromkeys(self.inside):
            low, high = f"most({low}, -{start})", f"least({high}, {size} - {start})"
        if self.streams:
            _, far, pointer, item = self.streams[0]
            low = f"begin({pointer}, {item}, {low}, {far})"
        lines = [f"const int64_t from = {low}, to = {high};"]
        for own, far, pointer, item in self.streams:
            lines.append(f"const bool {own} = {far} && lead({pointer} + from, {item}) == 0;")
        return lines


@dataclass(slots=True)
class GroupPrinter:
    """State of one group.

    Attributes:
        before: Lines before the loops: pointers, scalars, accumulators.
        row: Lines at the start of each row (rank 2).
        body: Lines of the loop.
        after: Lines after the loops.
        values: For each buffer, the form and the local value it has now.
        dirty: Buffers written, with the last view and value.
        limits: Where in a row whole vectors may lie.
    """

    scope: Scope
    group: Group
    live: frozenset[Name]
    before: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    values: dict[tuple[Name, Form], str] = field(default_factory=dict)
    dirty: dict[Name, tuple[View, str, int]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    names: int = 0

    def lines(self, ahead: Sequence[Ahead] = ()) -> list[str]:
        """The lines of the group, which fetches some memory ahead."""
        for item in ahead:
            print_ahead(self, item)
        for member in self.group.members:
            match member:
                case Load():
                    self._load(member)
                case Store():
                    self._store(member)
                case Op():
                    self._op(member)
                case Assign(value=Reduce()):
                    self._reduce(member)
                case Assign(name=name, value=scalar):
                    text = self.scope.scalars.text(scalar)
                    self.after.append(f"{name} = {text};{_line(member.at.line)}")
        for buffer, (view, value, line) in self.dirty.items():
            if buffer in self.live:
                self._put(self.scope.place(view), self.scope.dtype(view), value, line)
        return self._assembled()

    @property
    def is_flat(self) -> bool:
        """True for rank 1."""
        return len(self.group.extent) == 1

    def _assembled(self) -> list[str]:
        text = self.scope.scalars.text
        sizes = [text(size) for size in self.group.extent]
        (self.before if self.is_flat else self.row).extend(self.limits.lines())
        sweep = f"sweep<{vectors_a_step(self.group)}>({self.limits.text}"
        loop = [
            f"{sweep}, [&](auto q, int64_t j, int u) EACH {{",
            *(f"  {line}" for line in self.body),
            "});",
        ]
        if not self.is_flat:
            loop = [
                "for (int64_t i = 0; i < m; ++i) {",
                *(f"  {line}" for line in (*self.row, *loop)),
                "}",
            ]
            self.before.insert(0, f"const int64_t m = {sizes[0]};")
        inside = [f"const int64_t n = {sizes[-1]};", *self.before, *self.row * self.is_flat]
        return ["{", *(f"  {line}" for line in (*inside, *loop, *self.after)), "}"]

    def fresh(self, letter: str) -> str:
        """A name not used in this group."""
        self.names += 1
        return f"{letter}{self.names - 1}"

    # --- memory ----------------------------------------------------------------------------------

    def _pointer(self, place: Place, dtype: DType, *, has_rows: bool = True) -> str:
        """A pointer to the present row of a place."""
        name = self.fresh("p")
        kind = CPP_TYPE[dtype]
        if self.is_flat or not has_rows or place.pitch == "0":
            self.before.append(f"{kind}* const {name} = {place.base};")
            return name
        self.before.append(f"{kind}* const {name}_0 = {place.base};")
        self.row.append(f"{kind}* const {name} = {name}_0 + i * {place.pitch};")
        return name

    def _value(self, dtype: DType, text: str, line: int) -> str:
        name = self.fresh("v")
        self.body.append(f"const {vector_type(dtype)} {name} = {text};{_line(line)}")
        return name

    def _load(self, node: Load) -> None:
        dtype = self.scope.dtype(node.dest)
        is_filled = node.fill is not None
        place = self.scope.slice_place(node.source, is_filled=is_filled)
        pointer = self._pointer(place, dtype)
        if node.fill is not None:
            text = filled_load(self, node, place, pointer, dtype)
        elif place.step == "1":
            text = f"load({pointer} + j, q)"
        else:
            text = f"load_step({pointer} + j * {place.step}, {place.step}, q)"
        self._write(node.dest, self._value(dtype, text, node.at.line), node.at.line)

    def _store(self, node: Store) -> None:
        value = self._read(node.source)
        place = self.scope.slice_place(node.target)
        tensor = node.target.tensor
        dtype = self.scope.tensors[tensor].type.dtype
        if tensor in self.scope.streamed and place.step == "1":
            print_stream(self, tensor, place, value, node.at.line)
        else:
            self._put(place, dtype, value, node.at.line)

    def _put(self, place: Place, dtype: DType, value: str, line: int) -> None:
        pointer = self._pointer(place, dtype)
        if place.step != "1":
            step = place.step
            self.body.append(f"put_step({pointer} + j * {step}, {value}, {step}, q);{_line(line)}")
        else:
            self.body.append(f"put({pointer} + j, {value}, q);{_line(line)}")

    # --- values ----------------------------------------------------------------------------------

    def scalar(self, node: Expr, dtype: DType) -> str:
        """A scalar in all lanes, made before the loop."""
        name = self.fresh("c")
        text = scalar_vector(self.scope.scalars.text(node), dtype)
        self.before.append(f"const {vector_type(dtype)} {name} = {text};")
        return name

    def _write(self, view: View, value: str, line: int) -> None:
        for key in [key for key in self.values if key[0] == view.buffer]:
            del self.values[key]
        self.values[view.buffer, form_of(view)] = value
        self.dirty[view.buffer] = (view, value, line)

    def _read(self, view: View) -> str:
        key = (view.buffer, form_of(view))
        if key not in self.values:
            self.values[key] = self._fetched(view)
        return self.values[key]

    def _fetched(self, view: View) -> str:
        """A value from memory: vector by vector, or one element for a row or for all."""
        place, dtype = self.scope.place(view), self.scope.dtype(view)
        own, group = view.extent or (), self.group.extent
        is_one = is_unit(own[-1]) and not is_unit(group[-1])
        has_rows = len(own) == 2 and not (is_unit(own[0]) and not is_unit(group[0]))
        pointer = self._pointer(place, dtype, has_rows=has_rows)
        if is_one:
            name = self.fresh("v")
            text = f"const {vector_type(dtype)} {name} = all_of(number(*{pointer}));"
            (self.row if has_rows else self.before).append(text)
            return name
        if place.step == "1":
            return self._value(dtype, f"load({pointer} + j, q)", view.at.line)
        text = f"load_step({pointer} + j * {place.step}, {place.step}, q)"
        return self._value(dtype, text, view.at.line)

    def _op(self, node: Op) -> None:
        dtype = self.scope.dtype(node.dest)
        views = [item for item in node.operands if isinstance(item, View)]
        source = source_dtype(self, node) or dtype
        values: list[str] = []
        for slot, operand in zip(BUILTINS[node.name].slots, node.operands, strict=False):
            if isinstance(operand, View):
                values.append(self._read(operand))
            elif slot.kind is not Kind.COUNT:
                values.append(self.scalar(operand, source if views else dtype))
        if BUILTINS[node.name].reads_dest:
            values.append(self._read(node.dest))
        text = result_of(node, values, dtype, source)
        self._write(node.dest, self._value(dtype, text, node.at.line), node.at.line)

    def _reduce(self, node: Assign) -> None:
        assert isinstance(node.value, Reduce)
        view = node.value.source
        none, join, fold = REDUCTIONS[node.value.function]
        name, value, count = self.fresh("r"), self._read(view), vectors_a_step(self.group)
        self.before.append(f"vf {name}[{count}];")
        self.before.append(f"for (auto& r : {name}) r = all({none});")
        kept = join.format(f"{name}[u]", f"keep({value}, {none}, q)")
        self.body.append(f"{name}[u] = {kept};{_line(node.at.line)}")
        result = f"{fold}<{count}>({name})"
        if self.scope.dtype(view) is DType.F16:
            result = f"(float)(f16){result}"
        self.after.append(f"{node.name} = {result};{_line(node.at.line)}")


def print_ahead(printer: GroupPrinter, item: Ahead) -> None:
    """Memory that is read later."""
    tensor = item.source.tensor
    kind, big = CPP_TYPE[printer.scope.tensors[tensor].type.dtype], f"big_{tensor}"
    printer.scope.big.add(tensor)
    place = printer.scope.slice_place(item.source)
    name, rows = printer.fresh("a"), "" if printer.is_flat else f" + i * {place.pitch}"
    if item.is_next:
        there = printer.scope.slice_place(item.following or item.source).base
        there = f"next_near({place.base}, {there}, {big})"
        printer.before.append(f"const {kind}* const {name} = {there};")
        at = "j" if printer.is_flat else f"i * {place.pitch} + j"
        printer.body.append(f"fetch({name}, {at}, q);")
        return
    if not printer.is_flat:
        there = f"{name} + {place.pitch}"
    elif item.following is None:
        size = printer.scope.tensors[tensor].type.dims[-1]
        there = f"moved({name}, {printer.scope.scalars.text(size)})"
    else:
        there = printer.scope.slice_place(item.following).base
    printer.before.append(f"const {kind}* const {name} = {place.base};")
    printer.before.append(f"const {kind}* const {name}_next = {there};")
    printer.before.append(f"const int64_t {name}_size = reach({name}, {name}_next, n, {big});")
    there = f"{name}{rows}, {name}_next{rows}, j, {name}_size"
    printer.body.append(f"fetch_ahead({there}, q);")


def source_dtype(printer: GroupPrinter, node: Op) -> DType | None:
    """Element type of the first operand that is no mask."""
    for slot, operand in zip(BUILTINS[node.name].slots, node.operands, strict=False):
        if isinstance(operand, View) and slot.kind is not Kind.MASK:
            return printer.scope.dtype(operand)
    return None


def print_stream(printer: GroupPrinter, tensor: Name, place: Place, value: str, line: int) -> None:
    """A store that goes past the caches where the tensor is large and the place is aligned."""
    printer.scope.far.add(tensor)
    dtype = printer.scope.tensors[tensor].type.dtype
    pointer = printer._pointer(place, dtype)
    far = printer.fresh("w")
    printer.limits.streams.append((far, f"far_{tensor}", pointer, ITEM_BYTES[dtype]))
    printer.body.append(f"put_far({pointer} + j, {value}, q, {far});{_line(line)}")


def filled_load(printer: GroupPrinter, node: Load, place: Place, pointer: str, dtype: DType) -> str:
    """A load in which elements outside the last dimension read as a number."""
    assert node.fill is not None
    scalars = printer.scope.scalars
    dims = printer.scope.tensors[node.source.tensor].type.dims
    last = node.source.index[-1]
    start = last.start if isinstance(last, Span) else last
    assert start is not None
    at, fill = printer.fresh("s"), printer.scalar(node.fill, dtype)
    printer.before.append(f"const int64_t {at} = {scalars.text(start)};")
    if not isinstance(last, Span):  # one column: every element of it is inside or outside
        inside = f"{at} >= 0 && {at} < {scalars.text(dims[-1])}"
        there = f"load_step({pointer} + {at} + j * {place.step}, {place.step}, q)"
        return f"{inside} ? {there} : {fill}"
    step, size = last.step, scalars.text(dims[-1])
    if step == 1:
        printer.limits.inside.append((at, size))
        return f"load_inside({pointer}, {at} + j, {size}, {fill}, q)"
    place_text = f"{at} + j * {step}"
    return f"load_fill({pointer}, {place_text}, {size}, {step}, {fill}, q)"


def _line(number: int) -> str:
    return f"  // @dsl:{number}"
