"""Host functions as C++: shapes, conditions, scratch and launches around the kernels.

Takes:   a host function whose compile-time parameters and schedule holes have values.
Gives:   one C++ function that runs it, or (dry) only finds the first false condition.
Leaves:  kernels to `kernel`; the caller allocates what is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kernelwright.dsl.bind import Number
from kernelwright.dsl.check.binding import host_statements
from kernelwright.dsl.emit.expression import Scalars
from kernelwright.dsl.emit.lanes import CPP_TYPE
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.host_nodes import (
    Empty,
    Hole,
    Host,
    HostAssign,
    HostBlock,
    HostCheck,
    HostIf,
    HostValue,
    Launch,
    Reshape,
    Return,
    TensorRef,
    Workspace,
)
from kernelwright.dsl.launch import hole_value
from kernelwright.dsl.nodes import (
    ConstParam,
    Expr,
    Kernel,
    Ref,
    RefKind,
    Require,
    SyncAll,
    TensorType,
    statements,
)
from kernelwright.dsl.types import DType, Name

REAL = {DType.F32: "double", DType.I64: "int64_t", DType.BOOL: "bool"}
TENSORS = (Empty, Workspace, TensorRef, Reshape)
Special: TypeAlias = Callable[[Kernel, Mapping[str, Number]], str]
"""Gives the C++ name of a kernel under values of its compile-time parameters."""


@dataclass(frozen=True, slots=True)
class TensorText:
    """A tensor in C++: a pointer, its element type and its sizes."""

    pointer: str
    dtype: DType
    dims: tuple[str, ...]


@dataclass(slots=True)
class HostPrinter:
    """State of one host function.

    Attributes:
        schedule: Values of holes.
        outputs: The output argument that a name's `tl.empty` gets, by name.
        special: Makes or finds a kernel's function.
        known: Values of names that are known at compile time.
        declared: Declarations of the function's variables.
    """

    host: Host
    kernels: Mapping[Name, Kernel]
    schedule: Mapping[str, int]
    outputs: Mapping[Name, str]
    special: Special
    known: dict[str, Number]
    tensors: dict[Name, TensorText] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    scratches: int = 0

    @property
    def scalars(self) -> Scalars:
        """How scalars are written here: known ones as numbers."""
        return Scalars("double", lambda name: _spelt({}, self.known, name), "num_cores()")

    def text(self, node: Expr) -> str:
        """A scalar as C++."""
        return self.scalars.text(node)

    def block(self, block: HostBlock) -> list[str]:
        """The lines of a block."""
        return [line for item in block for line in self._statement(item)]

    def _statement(self, item: HostAssign | Launch | HostIf | HostCheck | Return) -> list[str]:
        at = f"  // @dsl:{item.at.line}"
        match item:
            case HostAssign():
                return [line + at for line in self._assign(item)]
            case HostCheck(condition=condition):
                return [f"if (!{self.text(condition)}) return {item.at.line};{at}"]
            case HostIf(condition=condition, then=then, orelse=orelse):
                lines = [f"if ({self.text(condition)}) {{{at}", *_in(self._branch(then))]
                if orelse:
                    lines += ["} else {", *_in(self._branch(orelse))]
                for assign in host_statements((*then, *orelse)):
                    if isinstance(assign, HostAssign):
                        self.known.pop(assign.name.text, None)
                return [*lines, "}"]
            case Launch():
                return self._launch(item)
            case Return(values=values):
                return self._return(item, values)

    def _branch(self, block: HostBlock) -> list[str]:
        """The lines of a branch; what is known in it does not count outside."""
        kept = dict(self.known)
        lines = self.block(block)
        self.known = kept
        return lines

    # --- values ----------------------------------------------------------------------------------

    def _assign(self, item: HostAssign) -> list[str]:
        name, value = item.name, item.value
        if isinstance(value, TENSORS):
            return self._assign_tensor(item)
        self.declared[str(name)] = f"{REAL[_type(value)]} {name} = 0;"
        text = self.number(value)
        constant = self._constant_of(value)
        if constant is None:
            self.known.pop(name.text, None)
        else:
            self.known[name.text] = constant
        return [f"{name} = {text};"]

    def number(self, value: HostValue) -> str:
        """A scalar or a schedule hole."""
        if isinstance(value, Hole):
            return str(hole_value(value, self.schedule))
        assert not isinstance(value, TENSORS)
        return self.text(value)

    def _assign_tensor(self, item: HostAssign) -> list[str]:
        name = item.name
        lines: list[str] = []
        if name in self.outputs and isinstance(item.value, Empty):
            made = TensorText(
                self.outputs[name], item.value.type.dtype, self._dims(item.value.type)
            )
        else:
            made = self.tensor(item.value, lines)
        kind = CPP_TYPE[made.dtype]
        self.declared[str(name)] = f"{kind}* {name} = nullptr;"
        lines.append(f"{name} = {made.pointer};")
        dims = tuple(f"{name}_{place}" for place in range(len(made.dims)))
        for dim, text in zip(dims, made.dims, strict=True):
            self.declared[dim] = f"int64_t {dim} = 0;"
            lines.append(f"{dim} = {text};")
        self.tensors[name] = TensorText(str(name), made.dtype, dims)
        return lines

    def _dims(self, kind: TensorType) -> tuple[str, ...]:
        return tuple(self.text(dim) for dim in kind.dims)

    def tensor(self, node: HostValue, lines: list[str]) -> TensorText:
        """A tensor; lines that must come before are added."""
        match node:
            case TensorRef(name=name):
                return self.tensors[name]
            case Reshape(source=source, type=kind):
                return TensorText(self.tensors[source.name].pointer, kind.dtype, self._dims(kind))
            case Empty(type=kind) | Workspace(type=kind):
                is_zero = isinstance(node, Workspace) and node.is_zero
                own, dims = f"scratch{self.scratches}", self._dims(kind)
                self.scratches += 1
                self.declared[own] = f"Scratch {own};"
                size = " * ".join((*dims, f"(int64_t)sizeof({CPP_TYPE[kind.dtype]})"))
                flag = "true" if is_zero else "false"
                made = f"is_dry ? nullptr : {own}.get({size}, {flag})"
                return TensorText(f"({CPP_TYPE[kind.dtype]}*)({made})", kind.dtype, dims)
        raise AssertionError(f"{type(node).__name__} is no tensor")

    # --- launches --------------------------------------------------------------------------------

    def _launch(self, node: Launch) -> list[str]:
        kernel = self.kernels[node.kernel]
        given = dict(node.arguments)
        consts = {p.name.text: self._const(p, given.get(p.name)) for p in kernel.consts}
        function = self.special(kernel, consts)
        lines: list[str] = []
        tensors = {p.name: self.tensor(given[p.name], lines) for p in kernel.tensors}
        names: dict[Name, str] = {}
        refused: list[str] = []
        for param in kernel.tensors:
            for dim, text in zip(param.type.dims, tensors[param.name].dims, strict=True):
                if isinstance(dim, Ref) and dim.kind is RefKind.DIM and dim.name not in names:
                    names[dim.name] = f"{function}_{dim.name}"
                    lines.append(f"const int64_t {names[dim.name]} = {text};")
                    refused.append(f"{names[dim.name]} < 1")
        for scalar in kernel.scalars:
            names[scalar.name] = f"{function}_{scalar.name}"
            value = given.get(scalar.name)
            text = self.number(value) if value is not None else repr(scalar.default)
            lines.append(f"const {REAL[scalar.type]} {names[scalar.name]} = {text};")
        values = Scalars("double", lambda name: _spelt(names, consts, name), "cores")
        for param in kernel.tensors:
            for dim, text in zip(param.type.dims, tensors[param.name].dims, strict=True):
                refused.append(f"{values.text(dim)} != {text}")
        for item in kernel.body:
            if isinstance(item, Require):
                refused.append(f"!{values.text(item.condition)}")
        call = [tensors[p.name].pointer for p in kernel.tensors]
        call += [names[name] for name in (*kernel.dims, *(p.name for p in kernel.scalars))]
        return [
            "{",
            *_in([f"const int64_t cores = {self.text(node.cores)};  // @dsl:{node.at.line}"]),
            "  if (cores >= 1) {",
            *_in(_in([*lines, f"if ({' || '.join(refused)}) return {node.at.line};"])),
            *_in(_in(_run(kernel, function, call, node.at.line))),
            "  }",
            "}",
        ]

    def _const(self, param: ConstParam, value: HostValue | None) -> Number:
        found = param.default if value is None else self._constant_of(value)
        if found is None:
            raise LaunchRefused(
                "E101",
                f"{param.name.text} has no value at compile time",
                fix="give it a number, a tl.param or a tl.const of the host function",
            )
        return found

    def _constant_of(self, node: HostValue) -> Number | None:
        """The value of a scalar where it is known at compile time."""
        if isinstance(node, Hole):
            return hole_value(node, self.schedule)
        assert not isinstance(node, TENSORS)
        try:
            return evaluate(node, self.known)
        except (LaunchRefused, KeyError):
            return None  # it depends on the call

    # --- results ---------------------------------------------------------------------------------

    def _return(self, node: Return, values: tuple[HostValue, ...]) -> list[str]:
        lines: list[str] = []
        taken = set(self.outputs.values())
        for number, value in enumerate(values):
            own = f"out{number}"
            if own in taken or not isinstance(value, Empty | Workspace | TensorRef | Reshape):
                continue
            made = self.tensor(value, lines)
            if made.pointer in {str(p.name) for p in self.host.params}:
                continue
            size = " * ".join((*made.dims, f"sizeof({CPP_TYPE[made.dtype]})"))
            lines.append(f"if (!is_dry) std::memcpy({own}, {made.pointer}, {size});")
        return [*lines, f"return 0;  // @dsl:{node.at.line}"]


def _spelt(names: Mapping[Name, str], consts: Mapping[str, Number], name: Name) -> str:
    """A name in C++: its variable, or its value where that is known."""
    if name in names or name.text not in consts:
        return names.get(name, str(name))
    value = consts[name.text]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"({value!r})"


def _type(value: HostValue) -> DType:
    if isinstance(value, Hole):
        return DType.I64
    assert not isinstance(value, TENSORS)
    return value.type


def _in(lines: list[str]) -> list[str]:
    return [line if line.startswith("#") else f"  {line}" for line in lines]


def _run(kernel: Kernel, function: str, call: list[str], line: int) -> list[str]:
    """All cores: side by side where they meet at syncs, else as threads are free."""
    step = f"[&](int64_t core) {{ {function}({', '.join([*call, 'core', 'cores'])}); }}"
    if any(isinstance(item, SyncAll) for item in statements(kernel.body)):
        return [
            f"if (cores > num_cores()) return {line};",
            f"if (!is_dry && !together(cores, {step})) std::abort();",
        ]
    return [f"if (!is_dry) apart(cores, {step});"]
