"""Text of one kernel in the making: lines, allocations, and which values are where."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

FLOATS = ("f32", "f16")
NUMBERS = ("f32", "f16", "i32", "i16")
MOVED = ("f32", "f16", "bf16", "i32", "i16", "i8", "u8", "bool")
ITEM = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i16": 2, "i8": 1, "u8": 1, "bool": 1}

Extent = tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """A buffer, or a part of one, that holds something.

    Attributes:
        text: How an operand is written.
        buffer: The buffer's name.
        is_fixed: Loaded, or of an outer body: no operation may write it whole.
    """

    text: str
    buffer: str
    dtype: str
    extent: Extent
    is_fixed: bool = False


@dataclass
class Writer:
    """A kernel in the making.

    Attributes:
        capacity: What a buffer allocates for each size.
        allocations: Shape, element type and depth of each buffer.
        pool: The values that an operation may read now.
        reals, integers: Scalars that are in reach.
        params: What the kernel takes, in order: name and annotation.
    """

    rng: random.Random
    capacity: dict[str, str]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    allocations: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    pool: list[Value] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    params: list[tuple[str, str]] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    made: int = 0

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block; what it adds to the reach is forgotten after it."""
        self.emit(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    @contextmanager
    def body(self, head: str, integers: tuple[str, ...] = ()) -> Iterator[None]:
        """A loop or branch: outer values may be read, its own are gone after it."""
        outer = self.pool, self.reals, self.integers
        self.pool = [Value(v.text, v.buffer, v.dtype, v.extent, True) for v in self.pool]
        self.reals, self.integers = list(self.reals), [*self.integers, *integers]
        with self.block(head):
            yield
        self.pool, self.reals, self.integers = outer

    def fresh(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def chance(self, part: float) -> bool:
        return self.rng.random() < part

    # --- buffers ---------------------------------------------------------------------------------

    def buffer(self, dtype: str, extent: Extent, letter: str, depth: int = 1) -> str:
        name = self.fresh(letter)
        shape = ", ".join(self.capacity[size] for size in extent)
        self.allocations[name] = (f"({shape})" if len(extent) == 2 else shape, dtype, depth)
        return name

    def _same_kind(self, name: str, dtype: str, extent: Extent) -> bool:
        shape = ", ".join(self.capacity[size] for size in extent)
        shape = f"({shape})" if len(extent) == 2 else shape
        return self.allocations[name][:2] == (shape, dtype)

    def dest(self, dtype: str, extent: Extent, avoid: tuple[str, ...] = ()) -> str:
        """A buffer that may be written whole: sometimes one whose content is given up."""
        fixed = {v.buffer for v in self.pool if v.is_fixed} | self.loaded | set(avoid)
        old = [
            name
            for name in self.allocations
            if name not in fixed and name[0] == "t" and self._same_kind(name, dtype, extent)
        ]
        if old and (len(self.allocations) > 14 or self.chance(0.4)):
            return self.rng.choice(old)
        return self.buffer(dtype, extent, "t")

    def holds(self, name: str, dtype: str, extent: Extent) -> Value:
        """From now on a buffer holds a new value."""
        value = Value(name, name, dtype, extent)
        self.pool = [v for v in self.pool if v.buffer != name]
        self.pool.append(value)
        return value

    def some(self, dtypes: tuple[str, ...], extent: Extent | None = None) -> Value | None:
        """A value of one of these types, newer ones rather than older ones."""
        found = [
            v for v in self.pool if v.dtype in dtypes and (v.extent == extent if extent else True)
        ]
        if not found:
            return None
        return found[-1] if self.chance(0.6) else self.rng.choice(found)

    # --- scalars ---------------------------------------------------------------------------------

    def real(self, *, is_mild: bool = True) -> str:
        """A float scalar."""
        simple = ["0.5", "-1.25", "2.0", "0.1", "-0.75", "3.0", "1e-3"]
        wild = ["0.0", "-0.0", "1e30", "-3.0e38", "65504.0", "1e-40", "tl.inf", "-tl.inf", "7"]
        if self.reals and self.chance(0.45):
            name = self.rng.choice(self.reals)
            forms = ["{}", "{}", "-{}", "{} * 0.5", "{} + 1.0", "tl.abs({})", "tl.max({}, 0.5)",
                     "tl.min({}, 2.0)", "{} - 0.25 * {}", "tl.sqrt(tl.abs({}))",
                     "1.0 / (1.0 + tl.abs({}))", "tl.exp(tl.min({}, 1.0))",
                     "tl.log(1.0 + tl.abs({}))"]  # fmt: skip
            return self.rng.choice(forms).replace("{}", name)
        if self.integers and self.chance(0.2):
            name = self.rng.choice(self.integers)
            return self.rng.choice(["{} * 0.25", "1.0 / ({} + 1)", "{} / 8", "{}"]).format(name)
        return self.rng.choice(simple if is_mild or self.chance(0.6) else wild)

    def integer(self, least: int = -9, most: int = 9) -> str:
        """An integer scalar."""
        if self.integers and self.chance(0.35):
            name = self.rng.choice(self.integers)
            forms = ["{}", "{} % 5", "{} // 3 - 2", "-{}", "tl.min({}, 4)", "tl.cdiv({}, 4)"]
            return self.rng.choice([*forms, "tl.align_up({}, 8)"]).format(name)
        return str(self.rng.randint(least, most))

    # --- the whole -------------------------------------------------------------------------------

    def kernel(self, name: str, consts: dict[str, int]) -> str:
        """The kernel's text."""
        params = [f"{param}: {kind}" for param, kind in self.params]
        params += [f"{const}: tl.const" for const in consts]
        allocations = [
            f'    {buffer} = tl.ub({shape}, "{dtype}"{f", buf={depth}" if depth > 1 else ""})'
            for buffer, (shape, dtype, depth) in self.allocations.items()
        ]
        head = f"@tl.kernel\ndef {name}({', '.join(params)}):"
        return "\n".join([head, *allocations, *self.lines]) + "\n"
