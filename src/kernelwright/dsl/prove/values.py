"""Scalar expressions as polynomials, in the environment of a program point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelwright.dsl.nodes import (
    Apply,
    Binary,
    Compare,
    Expr,
    Literal,
    Logic,
    ReadScalar,
    Reduce,
    Ref,
    RefKind,
    Unary,
)
from kernelwright.dsl.print_expression import expression_text
from kernelwright.dsl.prove.polynomial import Polynomial, atom_polynomial, number_polynomial
from kernelwright.dsl.prove.prover import Prover
from kernelwright.dsl.types import DType, Name

MOST_TERMS = 256
"""A product of more terms becomes an unknown: nothing about it would be proved in time."""
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(slots=True)
class Values:
    """What each integer name is worth at the present program point.

    Attributes:
        prover: Holds the atoms and facts.
        names: Present value of each integer name; a name missing here has none (yet).
        consts: Values of the compile-time parameters.
        kinds: What each name with a value stands for.
    """

    prover: Prover
    names: dict[Name, Polynomial] = field(default_factory=dict)
    consts: Mapping[Name, int | float | bool] = field(default_factory=dict)
    kinds: dict[Name, RefKind] = field(default_factory=dict)
    _cores: tuple[Polynomial, Polynomial] | None = None

    def of(self, node: Expr) -> Polynomial | None:
        """The value of an I64 expression; None where it uses a name that has none."""
        match node:
            case Literal(value=value):
                return number_polynomial(int(value)) if node.type is DType.I64 else None
            case Ref():
                return self._ref(node)
            case Unary(op="-", operand=operand):
                inner = self.of(operand)
                return None if inner is None else -inner
            case Binary():
                return self._binary(node)
            case Apply():
                return self._apply(node)
            case ReadScalar() | Reduce():
                return self.prover.fresh(expression_text(node))
        return None

    def _ref(self, node: Ref) -> Polynomial | None:
        if node.type is not DType.I64:
            return None
        if node.kind is RefKind.CONST and node.name in self.consts:
            return number_polynomial(int(self.consts[node.name]))
        return self.names.get(node.name)

    def _binary(self, node: Binary) -> Polynomial | None:
        if node.type is not DType.I64:
            return None
        left, right = self.of(node.left), self.of(node.right)
        if left is None or right is None:
            return None
        if node.op == "+":
            return left + right
        if node.op == "-":
            return left - right
        if node.op == "*":
            is_small = len(left.terms) * len(right.terms) <= MOST_TERMS
            return left * right if is_small else self.prover.fresh(expression_text(node))
        quotient = self.quotient(left, right)
        return quotient if node.op == "//" else left - quotient * right

    def quotient(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """left // right, folded where it is exact."""
        if right.is_constant and right.constant == 0:
            return self.prover.fresh("a division by zero")
        if left.is_constant and right.is_constant:
            return number_polynomial(left.constant // right.constant)
        exact = left.divided_by(right)
        if exact is not None:
            return exact
        text = f"{self.text(left)} // {self.text(right)}"
        return self.prover.application("//", (left, right), text)

    def _apply(self, node: Apply) -> Polynomial | None:
        if node.type is not DType.I64:
            return None
        if node.function in ("core_id", "num_cores"):
            return self.cores()[node.function == "num_cores"]
        operands = [self.of(item) for item in node.operands]
        known = [item for item in operands if item is not None]
        if len(known) != len(operands) or not known:
            return None
        if node.function in ("min", "max"):
            return self._extreme(node.function, known, expression_text(node))
        if node.function == "abs":
            return self._extreme("max", [known[0], -known[0]], expression_text(node))
        left, right = known
        if node.function == "align_down":
            return self.quotient(left, right) * right
        whole = self._rounded_up(left, right, node)
        return whole if node.function == "cdiv" else whole * right

    def _rounded_up(self, left: Polynomial, right: Polynomial, node: Apply) -> Polynomial:
        if left.is_constant and right.is_constant and right.constant != 0:
            return number_polynomial(-(-left.constant // right.constant))
        exact = left.divided_by(right)
        if exact is not None:
            return exact
        return self.prover.application("cdiv", (left, right), expression_text(node))

    def _extreme(self, kind: str, items: list[Polynomial], text: str) -> Polynomial:
        numbers = [item.constant for item in items if item.is_constant]
        others = list(dict.fromkeys(item for item in items if not item.is_constant))
        if numbers:
            others.append(number_polynomial(min(numbers) if kind == "min" else max(numbers)))
        if len(others) == 1:
            return others[0]
        return self.prover.application(kind, tuple(others), text)

    def cores(self) -> tuple[Polynomial, Polynomial]:
        """Number of this core, and number of cores."""
        if self._cores is None:
            count = self.prover.fresh("tl.num_cores()", is_uniform=True)
            core = self.prover.fresh("tl.core_id()")
            self._cores = (core, count)
        core, count = self._cores
        if not self.prover.proves(count.plus(-1)):
            self.prover.assume(count.plus(-1), "tl.num_cores() >= 1")
            self.prover.assume(core, "tl.core_id() >= 0")
            self.prover.assume(count - core.plus(1), "tl.core_id() < tl.num_cores()")
        return self._cores

    # --- conditions ------------------------------------------------------------------------------

    def assume(self, condition: Expr, *, is_true: bool = True) -> None:
        """Add what a condition says, or what its being false says."""
        match condition:
            case Unary(op="not", operand=operand):
                self.assume(operand, is_true=not is_true)
            case Logic(op=op, operands=operands) if (op == "and") == is_true:
                for item in operands:
                    self.assume(item, is_true=is_true)
            case Compare(op=op, left=left, right=right):
                one, other = self.of(left), self.of(right)
                if one is not None and other is not None:
                    word = op if is_true else NEGATED[op]
                    text = f"{expression_text(left)} {word} {expression_text(right)}"
                    self._assume(word, one, other, text)

    def _assume(self, op: str, left: Polynomial, right: Polynomial, text: str) -> None:
        if op in ("<=", "=="):
            self.prover.assume(right - left, text)
        if op in (">=", "=="):
            self.prover.assume(left - right, text)
        if op == "<":
            self.prover.assume((right - left).plus(-1), text)
        if op == ">":
            self.prover.assume((left - right).plus(-1), text)

    def expression(self, item: Polynomial) -> Expr | None:
        """The polynomial as an expression over names that have their values now, or None."""
        for name, value in self.names.items():
            if value == item and not item.is_constant:
                return Ref(name, self.kinds[name], DType.I64)
        total: Expr | None = None
        for monomial, factor in sorted(item.terms, key=lambda term: -term[1]):
            part = self._product(monomial, abs(factor))
            if part is None:
                return None
            if total is None:
                total = part if factor > 0 else _minus(part)
            else:
                total = Binary("+" if factor > 0 else "-", total, part, DType.I64)
        return total or Literal(0, DType.I64)

    def _product(self, monomial: tuple[int, ...], factor: int) -> Expr | None:
        total: Expr | None = Literal(factor, DType.I64) if factor != 1 or not monomial else None
        for atom in monomial:
            part = self._atom(atom)
            if part is None:
                return None
            total = part if total is None else Binary("*", total, part, DType.I64)
        return total

    def _atom(self, number: int) -> Expr | None:
        it = atom_polynomial(number)
        for name, value in self.names.items():
            if value == it:
                return Ref(name, self.kinds[name], DType.I64)
        if self._cores is not None and it in self._cores:
            function = "core_id" if it == self._cores[0] else "num_cores"
            return Apply(function, (), DType.I64)
        atom = self.prover.atoms[number]
        parts = [self.expression(operand) for operand in atom.operands]
        known = tuple(part for part in parts if part is not None)
        if atom.kind == "name" or len(known) != len(parts):
            return None
        if atom.kind == "//":
            return Binary("//", known[0], known[1], DType.I64)
        return Apply(atom.kind, known, DType.I64)

    def text(self, item: Polynomial) -> str:
        """The polynomial as an expression in the program's own names."""
        parts: list[str] = []
        for monomial, factor in reversed(item.terms):
            names = [_in_product(self.prover.atoms[atom].text) for atom in monomial]
            if abs(factor) != 1 or not names:
                names = [str(abs(factor)), *names]
            sign = "-" if factor < 0 else "+"
            parts.append(f"{sign} {' * '.join(names)}")
        text = " ".join(parts) or "0"
        return text[2:] if text.startswith("+ ") else text.replace("- ", "-", 1)


def _minus(part: Expr) -> Expr:
    if isinstance(part, Literal):
        return Literal(-part.value, part.type)
    return Unary("-", part, DType.I64)


def _in_product(text: str) -> str:
    return f"({text})" if " " in text and not text.endswith(")") else text
