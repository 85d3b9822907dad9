"""Expressions to C++ statements, each at the outermost loop where it can stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kernelwright.core.errors import NotCovered
from kernelwright.synth.expr import BOOL, Expr, SizeTerm
from kernelwright.synth.nest import Loop, Nest, computed_here, offset, product
from kernelwright.synth.program import Kernel, Program

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_MASKS = frozenset({"and", "or", "not"})
VECTOR = 1 << 20
"""Depth of what changes with the inner loop."""


@dataclass(slots=True)
class Frame:
    """One level of loops while it is being printed.

    Attributes:
        depth: Number of outer loops around it; `VECTOR` for the body of the inner loop.
        lines: Statements so far.
        names: C++ name of each value that is known at this level.
    """

    depth: int
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Emitter:
    """Prints the values of one kernel.

    Attributes:
        program: What the kernel belongs to.
        kernel: The kernel.
        nest: Its loops.
        frames: Levels that are open, outermost first.
        needs: Names of the C++ functions that were used.
    """

    program: Program
    kernel: Kernel
    nest: Nest
    frames: list[Frame] = field(default_factory=lambda: [Frame(0)])
    needs: set[str] = field(default_factory=set)
    _count: int = 0
    _own: set[int] = field(default_factory=set)
    _depths: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._own = computed_here(self.program, self.kernel)

    def fresh(self, letter: str) -> str:
        """Return a new C++ name."""
        self._count += 1
        return f"{letter}{self._count}"

    def open(self, depth: int) -> Frame:
        """Begin a level."""
        self.frames.append(Frame(depth))
        return self.frames[-1]

    def close(self) -> list[str]:
        """End the innermost level and return its statements."""
        return self.frames.pop().lines

    def loop_depth(self, loop: Loop) -> int:
        """Return the level in which a loop's variable is known."""
        if loop is self.nest.inner:
            return VECTOR
        if not loop.is_reduced:
            return 0
        return 1 + self.nest.outer_reduced.index(loop)

    def known(self, value: Expr) -> str | None:
        """Return the name of a value that was printed already."""
        for frame in reversed(self.frames):
            if value.uid in frame.names:
                return frame.names[value.uid]
        return None

    def value(self, value: Expr) -> str:
        """Return the C++ name or literal of a value, printing what it needs first."""
        found = self.known(value)
        if found is not None:
            return found
        if value.op == "view":
            return self.value(value.args[0])
        if value.op == "const":
            return f"splat({literal(value)})"
        name = self.fresh("m" if value.kind == BOOL else "v")
        text = self._text(value)
        kind = "vi" if value.kind == BOOL else "vf"
        frame = self._frame(self.depth(value))
        frame.lines.append(f"const {kind} {name} = {text};")
        frame.names[value.uid] = name
        return name

    def _frame(self, depth: int) -> Frame:
        return next(frame for frame in self.frames if frame.depth >= depth)

    def depth(self, value: Expr) -> int:
        """Return the level in which a value can be computed."""
        if value.uid not in self._depths:
            self._depths[value.uid] = self._depth(value)
        return self._depths[value.uid]

    def _depth(self, value: Expr) -> int:
        for frame in self.frames:
            if value.uid in frame.names:
                return frame.depth
        buffer = self._buffer_of(value)
        if buffer is not None:
            axes = set(self.program.buffers[buffer].axes) - set(self._index_of(value))
            loops = [loop for loop in self.nest.loops if axes & set(loop.axes)]
            return max((self.loop_depth(loop) for loop in loops), default=0)
        return max((self.depth(arg) for arg in value.args), default=0)

    def forget_depths(self) -> None:
        """Depths change when values get names; called between passes."""
        self._depths.clear()

    def _buffer_of(self, value: Expr) -> str | None:
        if value.uid in self.program.placed and value.uid not in self._own:
            return self.program.placed[value.uid]
        if value.op in {"load", "load_at"}:
            return str(value.attr).split("@")[0]
        return None

    def _index_of(self, value: Expr) -> dict[int, str]:
        if value.op != "load_at" or value.uid in self.program.placed:
            return {}
        axis = int(str(value.attr).split("@")[1])
        index = self.program.buffers[str(value.args[0].attr)]
        where, stride = offset(index, self.nest, {})
        if stride is not None:
            raise NotCovered("an index along the vector loop", fix="index the last axis")
        (axis,) = self.program.canonical.axes.primes((axis,))
        self.needs.add("index")
        return {axis: f"index_in({index.name}[{where}], n{axis})"}

    def _text(self, value: Expr) -> str:
        buffer = self._buffer_of(value)
        if buffer is not None:
            return self._load(value, buffer)
        if value.op == "size":
            assert isinstance(value.attr, SizeTerm)
            return f"splat((float)({size_text(value.attr, self.program)}))"
        if value.op == "reduce":
            raise NotCovered("a reduction inside a vector loop", fix="report this task")
        return self._operator(value)

    def _load(self, value: Expr, name: str) -> str:
        buffer = self.program.buffers[name]
        if buffer.name in scalars(self.program):
            return f"splat((float){name})"
        where, stride = offset(buffer, self.nest, self._index_of(value))
        if stride is None:
            self.needs.add("values")
            one = f"{name}[{where}]"
            if buffer.dtype == "bool":
                return f"splat_i({one} ? -1 : 0)"
            return f"splat(value_of({name} + {where}))"
        if stride != "1":
            self.needs.update({"values", "gather"})
            loaded = f"gather({name} + {where}, {stride}, q)"
            return f"{loaded} != 0.0f" if buffer.dtype == "bool" else loaded
        if buffer.dtype == "bool":
            self.needs.add("mask")
            return f"load_mask({name} + {where}, q)"
        if buffer.dtype in {"float16", "bfloat16"}:
            self.needs.add("half")
        elif buffer.dtype != "float32":
            self.needs.update({"values", "gather"})
            return f"load_whole({name} + {where}, q)"
        return f"load({name} + {where}, q)"

    def _operator(self, value: Expr) -> str:
        op, args = value.op, value.args
        if op in _INFIX:
            left, right = (self._operand(arg, op) for arg in args)
            if left.startswith("splat") or all(arg.op == "const" for arg in args):
                left = self.value(args[0])
            return f"{left} {_INFIX[op]} {right}"
        names = [self.value(arg) for arg in args]
        if op in {"max", "min"} and "const" in {arg.op for arg in args}:
            const, other = (0, 1) if args[0].op == "const" else (1, 0)
            sign = "<" if op == "max" else ">"
            bound = literal(args[const])
            return f"pick({names[other]} {sign} {bound}, {names[const]}, {names[other]})"
        if op == "where":
            return f"pick({', '.join(names)})"
        if op == "isnan":
            return f"{names[0]} != {names[0]}"
        if op == "not":
            return f"~{names[0]}"
        if op == "neg":
            return f"-{names[0]}"
        self.needs.add(op)
        return f"k_{op}({', '.join(names)})"

    def _operand(self, value: Expr, op: str) -> str:
        return literal(value) if value.op == "const" and op not in _MASKS else self.value(value)


def literal(value: Expr) -> str:
    """Return a constant as a C++ float."""
    number = value.attr
    assert isinstance(number, float)
    if number != number:
        return "NAN"
    if number in {float("inf"), float("-inf")}:
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!r}f"


def size_text(term: SizeTerm, program: Program) -> str:
    """Return a number made of extents as a C++ expression."""
    if term.op == "dim":
        return f"(double)({product(program.canonical.axes.primes(term.dim))})"
    if term.op == "number":
        return repr(term.number)
    args = [size_text(arg, program) for arg in term.args]
    infix: Mapping[str, str] = {"mul": "*", "add": "+", "sub": "-", "truediv": "/"}
    if term.op in infix:
        return f"({args[0]} {infix[term.op]} {args[1]})"
    calls: Mapping[str, Callable[[], str]] = {
        "floordiv": lambda: f"std::floor({args[0]} / {args[1]})",
        "pow": lambda: f"std::pow({args[0]}, {args[1]})",
        "neg": lambda: f"(-{args[0]})",
        "float": lambda: args[0],
    }
    if term.op not in calls:
        raise NotCovered(f"size arithmetic {term.op!r}", fix="compute the size beforehand")
    return calls[term.op]()


def scalars(program: Program) -> frozenset[str]:
    """Return the buffers that are numbers passed by value."""
    given = program.canonical.placeholders
    return frozenset(name for name, place in given.items() if place.source.value == "scalar")
