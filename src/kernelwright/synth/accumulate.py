"""How each reduction is accumulated along a row: lanes in a block, then one number a row.

Blocks are summed in float lanes and added up in double, so the error does not grow with the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.core.errors import NotCovered
from kernelwright.synth.emit import Emitter
from kernelwright.synth.expr import Expr, Reduction
from kernelwright.synth.nest import Nest

Lines = list[str]
_NEUTRAL = {
    "sum": "0.0f", "m2": "0.0f", "sumexp": "0.0f", "prod": "1.0f",
    "max": "-INFINITY", "top": "-INFINITY", "min": "INFINITY",
    "argmax": "-INFINITY", "argmin": "INFINITY",
}  # fmt: skip
_LANE_STEP = {
    "top": "pick({a} < {v}, {v}, {a})",
    "sum": "{a} + {v}", "m2": "{a} + {v}", "sumexp": "{a} + {v}", "prod": "{a} * {v}",
    "max": "k_max({a}, {v})", "min": "k_min({a}, {v})",
}  # fmt: skip
_TOTAL_STEP = {
    "top": "{t} = larger_of({t}, {b});",
    "sum": "{t} += {b};", "m2": "{t} += {b};", "sumexp": "{t} += {b};", "prod": "{t} *= {b};",
    "max": "{t} = larger_of({t}, {b});", "min": "{t} = smaller_of({t}, {b});",
}  # fmt: skip
_FOLD = {
    "top": "max",
    "sum": "sum",
    "m2": "sum",
    "sumexp": "sum",
    "prod": "prod",
    "max": "max",
    "min": "min",
}


def neutral(kind: str) -> str:
    """Return what a reduction starts from, as a C++ float."""
    return _NEUTRAL[kind]


def lane_step(kind: str, accumulated: str, value: str) -> str:
    """Return the C++ expression of one more value in every lane."""
    return _LANE_STEP[kind].format(a=accumulated, v=value)


def term_of(emit: Emitter, reduction: Expr) -> Expr:
    """Return what is added up: for m2 and sumexp it depends on an earlier reduction."""
    make = emit.program.canonical.make
    kind = kind_of(reduction)
    if kind == "m2":
        return make.apply("square", make.apply("sub", *reduction.args))
    if kind == "sumexp":
        return make.apply("exp_down", make.apply("sub", *reduction.args))
    return reduction.args[0]


def kind_of(reduction: Expr) -> str:
    """Return the kind of a reduction."""
    assert isinstance(reduction.attr, Reduction)
    return reduction.attr.kind


def fused_with(group: Sequence[Expr], earlier: Sequence[Expr]) -> bool:
    """Whether every reduction of a pass can be accumulated along with the pass before it."""
    return all(_companion(reduction, earlier) is not None for reduction in group)


def _companion(reduction: Expr, earlier: Sequence[Expr]) -> Expr | None:
    """Return the sum (for m2) or the maximum (for sumexp) that it is taken relative to."""
    wanted = {"m2": "sum", "sumexp": "top"}.get(kind_of(reduction))
    for candidate in earlier:
        if kind_of(candidate) != wanted or candidate.args[0] is not reduction.args[0]:
            continue
        centre = reduction.args[1]
        is_mean = centre.op == "div" and centre.args[0] is candidate
        if centre is candidate or (wanted == "sum" and is_mean):
            return candidate
    return None


def accumulators_of(
    emit: Emitter, group: Sequence[Expr], *, is_online: bool
) -> list[Accumulator | Place | OnlineSpread | OnlineExponentials]:
    """Return how each reduction of a sweep is accumulated."""
    made: list[Accumulator | Place | OnlineSpread | OnlineExponentials] = []
    for reduction in group:
        kind, name = kind_of(reduction), f"{reduction.uid}"
        if kind.startswith("arg"):
            made.append(Place(reduction, name, emit.nest, kind == "argmax"))
        elif is_online:
            earlier = [value for made_in in emit.kernel.passes for value in made_in]
            companion = _companion(reduction, earlier)
            if companion is None:
                raise NotCovered("a pass that cannot be fused", fix="use passes=separate")
            online = OnlineSpread if kind == "m2" else OnlineExponentials
            made.append(online(reduction, name, emit.nest, f"{companion.uid}"))
        else:
            made.append(Accumulator(reduction, name, emit.nest))
    return made


@dataclass(slots=True)
class Accumulator:
    """Sum, product, maximum or minimum.

    Attributes:
        reduction: The reduction.
        name: Suffix of its C++ names.
        nest: Loops of its kernel.
    """

    reduction: Expr
    name: str
    nest: Nest

    @property
    def kind(self) -> str:
        return kind_of(self.reduction)

    @property
    def total(self) -> str:
        """C++ name of the row's result so far."""
        return f"t{self.name}"

    @property
    def total_type(self) -> str:
        """C++ type of the row's result."""
        return "float" if self.kind in {"max", "min", "top"} else "double"

    def begin_row(self) -> Lines:
        return [f"{self.total_type} {self.total} = {neutral(self.kind)};"]

    def begin_block(self, unroll: int) -> Lines:
        lanes = f"a{self.name}"
        return [
            f"vf {lanes}[{unroll}];",
            f"for (int u = 0; u < {unroll}; ++u) {lanes}[u] = splat({neutral(self.kind)});",
        ]

    def update(self, emit: Emitter) -> Lines:
        emit.needs.add("fold")
        value = emit.value(term_of(emit, self.reduction))
        lanes = f"a{self.name}[u]"
        kept = f"keep({value}, splat({neutral(self.kind)}), q)"
        return [f"{lanes} = {lane_step(self.kind, lanes, kept)};"]

    def end_block(self, unroll: int) -> Lines:
        lanes, block = f"a{self.name}", f"b{self.name}"
        step = lane_step(self.kind, f"{lanes}[0]", f"{lanes}[u]")
        lines = [f"for (int u = 1; u < {unroll}; ++u) {lanes}[0] = {step};"] if unroll > 1 else []
        lines.append(f"const {self.total_type} {block} = fold_{_FOLD[self.kind]}({lanes}[0]);")
        if self.kind == "top":
            lines.append(f"const float before{self.name} = {self.total}; (void)before{self.name};")
        lines.append(_TOTAL_STEP[self.kind].format(t=self.total, b=block))
        return lines

    def combine(self) -> Lines:
        return [_TOTAL_STEP[self.kind].format(t=self.total, b=f"{self.total}_of[part]")]

    def finish(self, emit: Emitter) -> Lines:
        del emit
        return [f"const vf s{self.name} = splat((float){self.total});"]

    def named(self, emit: Emitter) -> dict[int, str]:
        del emit
        return {self.reduction.uid: f"s{self.name}"}


@dataclass(slots=True)
class OnlineSpread(Accumulator):
    """Sum of squared distances to the mean, merged block by block: one pass over memory.

    The update of Chan, Golub and LeVeque (1979) for two sets that are joined.
    """

    partner: str

    def begin_row(self) -> Lines:
        n = self.name
        return [f"double t{n} = 0, mean{n} = 0, count{n} = 0;"]

    def begin_block(self, unroll: int) -> Lines:
        n = self.name
        return [
            f"const double centre{n} = b{self.partner} / (double)(hi - lo);",
            f"const vf c{n} = splat((float)centre{n});",
            *Accumulator.begin_block(self, unroll),
        ]

    def update(self, emit: Emitter) -> Lines:
        value = emit.value(self.reduction.args[0])
        n = self.name
        return [
            f"const vf d{n} = {value} - c{n};",
            f"a{n}[u] = a{n}[u] + keep(d{n} * d{n}, splat(0.0f), q);",
        ]

    def end_block(self, unroll: int) -> Lines:
        n = self.name
        lines = Accumulator.end_block(self, unroll)
        return [
            *lines[:-1],
            f"const double size{n} = (double)(hi - lo), joined{n} = count{n} + size{n};",
            f"const double apart{n} = centre{n} - mean{n};",
            f"t{n} += b{n} + apart{n} * apart{n} * count{n} * size{n} / joined{n};",
            f"mean{n} += apart{n} * size{n} / joined{n};",
            f"count{n} = joined{n};",
        ]


@dataclass(slots=True)
class OnlineExponentials(Accumulator):
    """Sum of exponentials relative to the largest element so far: one pass over memory."""

    partner: str

    def begin_block(self, unroll: int) -> Lines:
        n, p = self.name, self.partner
        return [
            f"if (before{p} != t{p}) t{n} *= std::exp((double)before{p} - (double)t{p});",
            f"const vf c{n} = splat(t{p} == -INFINITY ? 0.0f : t{p});",
            *Accumulator.begin_block(self, unroll),
        ]

    def update(self, emit: Emitter) -> Lines:
        emit.needs.add("exp")
        value = emit.value(self.reduction.args[0])
        n = self.name
        return [f"a{n}[u] = a{n}[u] + keep(k_exp_down({value} - c{n}), splat(0.0f), q);"]


@dataclass(slots=True)
class Place(Accumulator):
    """The place of the largest or smallest element."""

    is_max: bool

    @property
    def total_type(self) -> str:
        return "Best"

    def begin_row(self) -> Lines:
        return [f"Best t{self.name} = {{{neutral(self.kind)}, -1}};"]

    def begin_block(self, unroll: int) -> Lines:
        n = self.name
        return [
            f"vf a{n}[{unroll}];",
            f"vi at{n}[{unroll}];",
            f"for (int u = 0; u < {unroll}; ++u) {{",
            f"  a{n}[u] = splat({neutral(self.kind)});",
            f"  at{n}[u] = lane_ids() + u * (int32_t)LANES;",
            "}",
        ]

    def update(self, emit: Emitter) -> Lines:
        emit.needs.add("best")
        value = emit.value(self.reduction.args[0])
        n, kind = self.name, "true" if self.is_max else "false"
        return [
            f"const vf k{n} = keep({value}, splat({neutral(self.kind)}), q);",
            f"const vi w{n} = better<{kind}>(k{n}, a{n}[u]);",
            f"a{n}[u] = pick(w{n}, k{n}, a{n}[u]);",
            f"at{n}[u] = pick_i(w{n}, splat_i((int32_t)(i - lo)) + lane_ids(), at{n}[u]);",
        ]

    def end_block(self, unroll: int) -> Lines:
        n, kind = self.name, "true" if self.is_max else "false"
        base = ""
        for loop in self.nest.outer_reduced:
            base = f"({base}) * ({loop.size}) + {loop.var}" if base else loop.var
        base = f"({base}) * ({self.nest.inner.size}) + " if base else ""
        return [
            f"for (int u = 0; u < {unroll}; ++u)",
            "  for (int l = 0; l < LANES; ++l)",
            f"    if (lo + at{n}[u][l] < hi)",
            f"      offer(t{n}, a{n}[u][l], {base}lo + at{n}[u][l], {kind});",
        ]

    def combine(self) -> Lines:
        n, kind = self.name, "true" if self.is_max else "false"
        one = f"t{n}_of[part]"
        return [f"if ({one}.place >= 0) offer(t{n}, {one}.value, {one}.place, {kind});"]

    def finish(self, emit: Emitter) -> Lines:
        del emit
        return []

    def named(self, emit: Emitter) -> dict[int, str]:
        del emit
        return {self.reduction.uid: f"t{self.name}.place"}
