"""The prover: does `goal >= 0` follow from the facts at this program point?

Search: eliminate one monomial of the goal at a time by a fact that bounds it, up to six facts deep;
minimum and maximum are split into cases. Sound and incomplete: what it cannot prove is refused, and
`tl.require` or an `if` supplies the missing fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kernelwright.dsl.prove.polynomial import (
    Monomial,
    Polynomial,
    atom_polynomial,
    combined,
    from_terms,
    number_polynomial,
    without,
)

DEEPEST = 6
MOST_STEPS = 400


@dataclass(frozen=True, slots=True)
class Fact:
    """`polynomial >= 0`, and how to say it."""

    polynomial: Polynomial
    text: str


@dataclass(frozen=True, slots=True)
class Atom:
    """What an atom of the polynomials stands for.

    Attributes:
        kind: "name" (an unknown integer), "min", "max", "//" or "cdiv".
        operands: Operands of min, max, // and cdiv.
        divisor: A number that divides every value of the atom.
        text: How to say it.
        is_uniform: It has the same value on every core at every moment (dimensions, parameters).
    """

    kind: str
    operands: tuple[Polynomial, ...]
    divisor: int
    text: str
    is_uniform: bool


@dataclass(slots=True)
class Prover:
    """Atoms and the stack of facts; one a kernel.

    Attributes:
        atoms: What each atom number stands for.
        facts: What is known here, outermost first.
    """

    atoms: list[Atom] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    _known: dict[tuple[str, tuple[Polynomial, ...]], int] = field(default_factory=dict)
    _proved: dict[Polynomial, bool] = field(default_factory=dict)
    _steps: int = 0

    # --- atoms -----------------------------------------------------------------------------------

    def fresh(self, text: str, *, divisor: int = 1, is_uniform: bool = False) -> Polynomial:
        """A new unknown integer."""
        self.atoms.append(Atom("name", (), divisor, text, is_uniform))
        return atom_polynomial(len(self.atoms) - 1)

    def application(self, kind: str, operands: tuple[Polynomial, ...], text: str) -> Polynomial:
        """The atom for min, max, // or cdiv of polynomials; equal operands give the same atom."""
        key = (kind, operands)
        number = self._known.get(key)
        if number is None:
            uniform = all(self.atoms[atom].is_uniform for item in operands for atom in item.atoms)
            divisor = 1
            if kind in ("min", "max"):
                divisor = min(self.divisor(item) for item in operands) or 1
                if any(self.divisor(item) % divisor for item in operands):
                    divisor = 1
            self.atoms.append(Atom(kind, operands, divisor, text, uniform))
            number = self._known[key] = len(self.atoms) - 1
        result = atom_polynomial(number)
        _define(self, kind, operands, result, text)
        return result

    def divisor(self, item: Polynomial) -> int:
        """A number that divides every value of `item`; 0 for the constant 0."""
        result = 0
        for monomial, factor in item.terms:
            whole = abs(factor)
            for atom in monomial:
                whole *= self.atoms[atom].divisor
            result = whole if result == 0 else _gcd(result, whole)
        return result

    def is_uniform(self, item: Polynomial) -> bool:
        """True where `item` has one value for all cores and all times."""
        return all(self.atoms[atom].is_uniform for atom in item.atoms)

    # --- facts -----------------------------------------------------------------------------------

    def assume(self, polynomial: Polynomial, text: str) -> None:
        """Add the fact `polynomial >= 0`."""
        if polynomial.is_constant:
            return
        self.facts.append(Fact(polynomial, text))
        self._proved.clear()

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Facts assumed inside are forgotten at the end."""
        size = len(self.facts)
        try:
            yield
        finally:
            del self.facts[size:]
            self._proved.clear()

    def relevant(self, *items: Polynomial) -> tuple[str, ...]:
        """Texts of the facts about the atoms of `items`, nearest first, without repetition."""
        atoms = {atom for item in items for atom in item.atoms}
        near = [fact for fact in self.facts if fact.polynomial.atoms & atoms]
        wider = {atom for fact in near for atom in fact.polynomial.atoms}
        far = [fact for fact in self.facts if fact.polynomial.atoms & wider]
        return tuple(dict.fromkeys(fact.text for fact in (*near, *far)))

    # --- proofs ----------------------------------------------------------------------------------

    def proves(self, goal: Polynomial) -> bool:
        """True where `goal >= 0` follows."""
        known = self._proved.get(goal)
        if known is None:
            self._steps = 0
            known = self._by_facts(goal, DEEPEST, {}) or self._by_cases(goal, 2)
            self._proved[goal] = known
        return known

    def equal(self, left: Polynomial, right: Polynomial) -> bool:
        """True where both have the same value, as far as can be proved."""
        if left == right:
            return True
        return self.proves(left - right) and self.proves(right - left)

    def _by_facts(self, goal: Polynomial, depth: int, seen: dict[Polynomial, int]) -> bool:
        target = self._obstacle(goal)
        if target is None:
            return goal.constant >= 0
        if seen.get(goal, 0) >= depth or self._steps > MOST_STEPS:
            return False
        seen[goal] = depth
        self._steps += 1
        own = goal.coefficients[target]
        for polynomial in self._bounds(target, own > 0):
            factor = polynomial.coefficients[target]
            rest = combined(goal, abs(factor), polynomial, -abs(own))
            if self._by_facts(rest, depth - 1, seen):
                return True
        return False

    def _obstacle(self, goal: Polynomial) -> Monomial | None:
        """A monomial that must be eliminated before the sign of `goal` can be read off."""
        found: Monomial | None = None
        for monomial, factor in goal.terms:
            # Products first: what bounds them may leave single atoms behind, not the reverse.
            if len(monomial) > len(found or ()) and (
                factor < 0 or not self._is_nonnegative(monomial)
            ):
                found = monomial
        if found is None and goal.constant < 0:
            return next((monomial for monomial, _ in goal.terms if monomial), None)
        return found

    def _is_nonnegative(self, monomial: Monomial) -> bool:
        return all(self._floor(atom) for atom in monomial)

    def _floor(self, atom: int) -> bool:
        for fact in self.facts:
            terms = fact.polynomial.terms
            if (
                terms[-1][0] == (atom,)
                and terms[-1][1] > 0
                and (
                    len(terms) == 1 or (len(terms) == 2 and terms[0][0] == () and terms[0][1] <= 0)
                )
            ):
                return True
        return False

    def _bounds(self, target: Monomial, is_positive: bool) -> Iterator[Polynomial]:
        for fact in reversed(self.facts):
            factor = fact.polynomial.coefficients.get(target, 0)
            if factor and (factor > 0) == is_positive:
                yield fact.polynomial
        if len(target) < 2:
            return
        for fact in reversed(self.facts):
            for monomial, factor in fact.polynomial.terms:
                if not monomial or (factor > 0) != is_positive:
                    continue
                rest = without(target, monomial)
                if rest and self._is_nonnegative(rest):
                    yield fact.polynomial * from_terms({rest: 1})

    def _by_cases(self, goal: Polynomial, depth: int) -> bool:
        if depth == 0:
            return False
        for monomial, factor in goal.terms:
            if len(monomial) != 1 or self.atoms[monomial[0]].kind not in ("min", "max"):
                continue
            atom = self.atoms[monomial[0]]
            rest = goal - from_terms({monomial: factor})
            goals = [rest + number_polynomial(factor) * item for item in atom.operands]
            # A lower bound of a minimum needs every operand; an upper bound needs one.
            if (atom.kind == "min") == (factor > 0):
                return all(
                    self._in_case(goals, number, atom, depth) for number in range(len(goals))
                )
            return any(
                self._by_facts(item, DEEPEST, {}) or self._by_cases(item, depth - 1)
                for item in goals
            )
        return False

    def _in_case(self, goals: list[Polynomial], number: int, atom: Atom, depth: int) -> bool:
        chosen = atom.operands[number]
        with self.scope():
            for other in atom.operands:
                if other is not chosen:
                    self.assume(other - chosen if atom.kind == "min" else chosen - other, "case")
            goal = goals[number]
            return self._by_facts(goal, DEEPEST, {}) or self._by_cases(goal, depth - 1)


def _define(
    prover: Prover, kind: str, operands: tuple[Polynomial, ...], it: Polynomial, text: str
) -> None:
    # The definition holds everywhere, but facts are scoped: state it again where it is used.
    if any(it.atoms <= fact.polynomial.atoms and fact.text == text for fact in prover.facts):
        return
    if kind in ("min", "max"):
        for item in operands:
            prover.assume(item - it if kind == "min" else it - item, text)
        return
    upper, lower = operands
    if not prover.proves(lower.plus(-1)):
        return
    if kind == "cdiv":
        prover.assume(it * lower - upper, text)
        prover.assume(upper + lower - it * lower.plus(0) - number_polynomial(1), text)
        if prover.proves(upper.plus(-1)):
            prover.assume(it.plus(-1), text)
        return
    prover.assume(upper - it * lower, text)
    prover.assume(it * lower - upper + lower.plus(-1), text)
    if prover.proves(upper):
        prover.assume(it, text)
    for fact in list(prover.facts):
        # upper <= whole * lower - 1 gives upper // lower <= whole - 1.
        whole = (fact.polynomial + upper).plus(1).divided_by(lower)
        if whole is not None and not whole.atoms & it.atoms:
            prover.assume(whole.plus(-1) - it, text)


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a
