"""Graph to canonical view: expressions over prime axes, with what is stored where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from kernelwright.core.errors import NotCovered
from kernelwright.synth.aten_map import MAP_RULES
from kernelwright.synth.aten_norm import NORM_RULES, batch_norm
from kernelwright.synth.aten_reduce import REDUCE_RULES
from kernelwright.synth.aten_view import VIEW_RULES
from kernelwright.synth.axes import Axes, AxesDiffer, Dim
from kernelwright.synth.expr import BOOL, FLOAT, INDEX, Expr, Exprs, SizeTerm, walk
from kernelwright.synth.graph import (
    Argument,
    Dtype,
    Graph,
    Node,
    Other,
    Placeholder,
    Ref,
    Source,
    Structure,
)

FLOATS = frozenset({"float32", "float16", "bfloat16"})
INTEGERS = frozenset({"int64", "int32", "int16", "int8", "uint8"})
_FIX = "use another generator for this task, or write the reference with covered operators"
_BATCH_NORMS = frozenset({
    "_native_batch_norm_legit", "native_batch_norm", "cudnn_batch_norm", "_batch_norm_with_update",
    "_native_batch_norm_legit_no_training",
})  # fmt: skip
Lowered: TypeAlias = "Expr | SizeTerm | tuple[Expr | None, ...] | None"


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that is returned, or a buffer that is updated.

    Attributes:
        value: What is stored.
        dtype: Dtype of the tensor, by PyTorch's name.
        buffer: Placeholder of the buffer that is updated, or None for a returned tensor.
    """

    value: Expr
    dtype: str
    buffer: str | None = None


@dataclass(frozen=True, slots=True)
class Canonical:
    """What a task computes.

    Attributes:
        axes: Its axes.
        make: Maker of its expressions, for further rewriting.
        placeholders: What it is given, by name.
        shapes: Axes of each placeholder, by name.
        outputs: What it returns, in order of `structure`, then updates of buffers.
        counters: Integer buffers that every call raises, with by how much.
        structure: How the returned tensors are nested.
        baked: (argument, value) of arguments that are constants.
        arguments: How many positional arguments `forward` takes.
    """

    axes: Axes
    make: Exprs
    placeholders: Mapping[str, Placeholder]
    shapes: Mapping[str, tuple[Dim, ...]]
    outputs: tuple[Output, ...]
    counters: tuple[tuple[str, int], ...]
    structure: Structure
    baked: tuple[tuple[int, Argument], ...]
    arguments: int


def canonical(graph: Graph) -> Canonical:
    """Return the canonical view of a traced reference.

    Raises:
        NotCovered: naming the node that no template covers.
    """
    return _Canonicaliser(graph).run()


@dataclass(slots=True)
class _Canonicaliser:
    graph: Graph
    axes: Axes = field(default_factory=Axes)
    values: dict[str, Lowered] = field(default_factory=dict)
    shapes: dict[str, tuple[Dim, ...]] = field(default_factory=dict)
    updates: list[Output] = field(default_factory=list)
    counters: list[tuple[str, int]] = field(default_factory=list)
    viewed: set[str] = field(default_factory=set)
    _made: Exprs | None = None

    @property
    def make(self) -> Exprs:
        if self._made is None:
            self._made = Exprs(self.axes)
        return self._made

    def run(self) -> Canonical:
        for placeholder in self.graph.placeholders:
            self._enter(placeholder)
        dtypes = {p.name: p.dtype for p in self.graph.placeholders}
        alive = self._alive()
        for node in self.graph.nodes:
            if node.name in alive:
                self.values[node.name] = self._guarded(node)
                dtypes[node.name] = node.dtype
        outputs = tuple(self._output(ref, dtypes[ref]) for ref in self.graph.output.refs())
        self._refuse_repeated_axes(outputs)
        return Canonical(
            axes=self.axes,
            make=self.make,
            placeholders={p.name: p for p in self.graph.placeholders},
            shapes=self.shapes,
            outputs=(*outputs, *self.updates),
            counters=tuple(self.counters),
            structure=self.graph.output,
            baked=self.graph.baked,
            arguments=self.graph.arguments,
        )

    def _enter(self, placeholder: Placeholder) -> None:
        shape = tuple(self.axes.fresh(extent) for extent in placeholder.shape)
        self.shapes[placeholder.name] = shape
        kind = BOOL if placeholder.dtype == "bool" else FLOAT
        self.values[placeholder.name] = self.make.make(
            "load", shape=shape, kind=kind, attr=placeholder.name
        )

    def _alive(self) -> set[str]:
        """Return the nodes that an output or an update of a buffer needs."""
        alive = set(self.graph.output.refs())
        for node in reversed(self.graph.nodes):
            if node.name in alive or _writes(node):
                alive.add(node.name)
                alive.update(_refs((node.args, tuple(node.kwargs.values()))))
        return alive

    def _guarded(self, node: Node) -> Lowered:
        try:
            return self._lowered(node)
        except NotCovered as fault:
            if "node '" in fault.what:
                raise
            raise NotCovered(f"{node}: {fault.what}", fix=_FIX) from fault
        except (AxesDiffer, TypeError, ValueError, AttributeError, IndexError) as fault:
            raise NotCovered(
                f"{node}: its arguments are not covered ({fault})", fix=_FIX
            ) from fault

    def _lowered(self, node: Node) -> Lowered:
        if node.op.startswith("size.") or node.op == "aten.sym_size.int":
            return _size_term(node, self.values)
        if node.op == "constant":
            return self.make.const(float(cast(float, node.args[0])))
        args = [self._value(argument) for argument in node.args]
        kwargs = {
            key: self._value(value)
            for key, value in node.kwargs.items()
            if key not in {"dtype", "layout", "device", "pin_memory", "memory_format"}
        }
        if node.op == "getitem":
            return cast(tuple[Expr, ...], args[0])[cast(int, args[1])]
        name = node.op.removeprefix("aten.")
        base = name.split(".")[0]
        _check_dtype(node)
        if base in _BATCH_NORMS:
            return self._batch_norm(node, name, args)
        if base in VIEW_RULES:
            self.viewed.update(_refs(node.args[:1]))
            return VIEW_RULES[base](self.make, node, *args, **kwargs)
        in_place = base.endswith("_") and not base.startswith("__")
        rule = self._rule(name, base.rstrip("_") if in_place else base)
        if rule is None:
            raise NotCovered(f"{node}: no template covers this operator", fix=_FIX)
        if in_place and self._counted(node, base):
            return None
        result = rule(self.make, *args, **kwargs)
        if in_place:
            self._rebind(node, result)
        return result

    def _rule(self, name: str, base: str) -> Callable[..., Lowered] | None:
        for key in (name, base):
            for rules in (NORM_RULES, REDUCE_RULES, MAP_RULES):
                if key in rules:
                    return cast("Callable[..., Lowered]", rules[key])
        return None

    def _value(self, argument: Argument) -> object:
        if isinstance(argument, Ref):
            value = self.values.get(argument.name)
            return self.make.size(value) if isinstance(value, SizeTerm) else value
        if isinstance(argument, tuple):
            return [self._value(item) for item in argument]
        if isinstance(argument, (Dtype, Other)):
            return argument
        return argument

    def _batch_norm(self, node: Node, name: str, args: list[object]) -> Lowered:
        x, weight, bias = (cast("Expr | None", value) for value in args[:3])
        assert x is not None
        rest = list(args[3:])
        running: tuple[Expr, Expr] | None = None
        if not name.endswith("no_stats"):
            centre, variance = rest[:2]
            rest = rest[2:]
            if isinstance(centre, Expr) and isinstance(variance, Expr):
                running = (centre, variance)
        is_training = False if name.startswith("_native_batch_norm_legit_no") else bool(rest.pop(0))
        momentum, eps = cast(float, rest[0]), cast(float, rest[1])
        y, mean, variance = batch_norm(self.make, x, weight, bias, running, is_training, eps)
        if is_training and running is not None:
            assert mean is not None and variance is not None
            self._update(running[0], mean, momentum)
            self._update(running[1], variance, momentum)
        return (y, None, None)

    def _update(self, buffer: Expr, value: Expr, momentum: float) -> None:
        make = self.make
        moved = make.apply("add", make.scaled(buffer, 1.0 - momentum), make.scaled(value, momentum))
        self.updates.append(Output(moved, "float32", buffer=str(buffer.attr)))

    def _counted(self, node: Node, base: str) -> bool:
        """Note `counter += n` on an integer buffer."""
        target = cast(Ref, node.args[0]).name
        step = node.args[1] if len(node.args) > 1 else None
        source = next((p for p in self.graph.placeholders if p.name == target), None)
        if source is None:
            return False
        if source.source is not Source.BUFFER or source.dtype != "int64" or base != "add_":
            raise NotCovered(f"{node}: it writes to what the reference was given", fix=_FIX)
        if source.shape or not isinstance(step, int):
            raise NotCovered(f"{node}: it writes to a buffer", fix=_FIX)
        self.counters.append((target, step))
        return True

    def _rebind(self, node: Node, result: Lowered) -> None:
        target = cast(Ref, node.args[0]).name
        if target in self.viewed:
            raise NotCovered(f"{node}: it writes through a view", fix=_FIX)
        self.values[target] = result

    def _output(self, ref: str, dtype: str) -> Output:
        value = self.values[ref]
        if not isinstance(value, Expr):
            raise NotCovered(f"the output {ref!r} is no tensor", fix=_FIX)
        if dtype == "bool":
            value = self.make.mask(value)
        elif value.kind == BOOL:
            value = self.make.number(value)
        if dtype not in FLOATS and dtype != "bool" and value.kind != INDEX:
            raise NotCovered(f"the output {ref!r} of {dtype} is not covered", fix=_FIX)
        return Output(value, dtype)

    def _refuse_repeated_axes(self, outputs: tuple[Output, ...]) -> None:
        for expr in walk([output.value for output in outputs]):
            primes = self.axes.primes(axis for dim in expr.shape for axis in dim)
            if len(set(primes)) != len(primes):
                raise NotCovered(
                    f"{expr.op} {expr.attr or ''}: one axis meets itself (a transposed operand)",
                    fix=_FIX,
                )
            if any(arg.kind == INDEX for arg in expr.args) and expr.op != "view":
                raise NotCovered("arithmetic on the place of a maximum", fix=_FIX)
            loads_wide = expr.op == "load" and expr.shape
            if loads_wide and self._dtype_of(expr) not in FLOATS | INTEGERS | {"bool"}:
                raise NotCovered(
                    f"input {expr.attr!r} of {self._dtype_of(expr)} is not covered", fix=_FIX
                )

    def _dtype_of(self, load: Expr) -> str:
        return next(p.dtype for p in self.graph.placeholders if p.name == load.attr)


def _writes(node: Node) -> bool:
    base = node.op.removeprefix("aten.").split(".")[0]
    in_place = node.op.startswith("aten.") and base.endswith("_") and not base.startswith("__")
    has_stats = base in _BATCH_NORMS and not node.op.endswith("no_stats")
    return in_place or (has_stats and len(node.args) > 5 and node.args[5] is True)


def _refs(argument: object) -> set[str]:
    if isinstance(argument, Ref):
        return {argument.name}
    if isinstance(argument, tuple):
        return {name for item in argument for name in _refs(item)}
    return set()


def _size_term(node: Node, values: Mapping[str, Lowered]) -> SizeTerm:
    if node.op == "aten.sym_size.int":
        tensor = values[cast(Ref, node.args[0]).name]
        assert isinstance(tensor, Expr)
        return SizeTerm("dim", dim=tensor.shape[cast(int, node.args[1])])
    terms = []
    for argument in node.args:
        value = values[argument.name] if isinstance(argument, Ref) else argument
        is_term = isinstance(value, SizeTerm)
        terms.append(value if is_term else SizeTerm("number", number=float(cast(float, value))))
    return SizeTerm(node.op.removeprefix("size."), args=tuple(cast(list[SizeTerm], terms)))


def _check_dtype(node: Node) -> None:
    is_index = "arg" in node.op or node.dtype in {"none", "size", "bool"}
    if is_index or node.dtype in FLOATS:
        return
    if node.dtype == "float64" and not node.shape:
        return
    if node.op.split(".")[1] in VIEW_RULES or node.op == "getitem":
        return
    if node.op.startswith("aten.add_") and node.dtype == "int64":
        return
    raise NotCovered(f"{node}: {node.dtype} arithmetic is not covered", fix=_FIX)
