"""Integer polynomials over numbered atoms: the normal form of index arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]
"""Product of atoms, by their numbers in ascending order; empty is the constant 1."""


class Polynomial:
    """Sum of integer multiples of monomials; immutable, equal polynomials compare and hash equal.

    A plain class with its mapping and hash computed once: the prover makes thousands of them.

    Attributes:
        terms: Monomials with their coefficients, sorted, without zeros.
        coefficients: The terms as a mapping.
    """

    __slots__ = ("_atoms", "_hash", "coefficients", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self.coefficients = dict(terms)
        self._hash = hash(terms)
        self._atoms: frozenset[int] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Polynomial({self.terms!r})"

    @property
    def constant(self) -> int:
        """The coefficient of 1."""
        return self.coefficients.get((), 0)

    @property
    def atoms(self) -> frozenset[int]:
        """Numbers of the atoms that occur."""
        if self._atoms is None:
            self._atoms = frozenset(atom for monomial, _ in self.terms for atom in monomial)
        return self._atoms

    @property
    def is_constant(self) -> bool:
        """True where no atom occurs."""
        return not self.terms or (len(self.terms) == 1 and self.terms[0][0] == ())

    @property
    def atom(self) -> int | None:
        """The atom that this polynomial is, where it is just one."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def __add__(self, other: Polynomial) -> Polynomial:
        return combined(self, 1, other, 1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return combined(self, 1, other, -1)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                product = tuple(sorted(left + right))
                total[product] = total.get(product, 0) + a * b
        return from_terms(total)

    def plus(self, number: int) -> Polynomial:
        """This polynomial plus a number."""
        return self + number_polynomial(number)

    def divided_by(self, divisor: Polynomial) -> Polynomial | None:
        """The quotient where `divisor` is one term and divides every term exactly, else None."""
        if len(divisor.terms) != 1:
            return None
        atoms, factor = divisor.terms[0]
        total: dict[Monomial, int] = {}
        for monomial, own in self.terms:
            rest = without(monomial, atoms)
            if rest is None or own % factor != 0:
                return None
            total[rest] = own // factor
        return from_terms(total)

    def content(self) -> int:
        """Greatest common divisor of the coefficients; 0 for the zero polynomial."""
        return math.gcd(*(factor for _, factor in self.terms)) if self.terms else 0


def without(monomial: Monomial, atoms: Monomial) -> Monomial | None:
    """The monomial divided by the product of `atoms`, or None where it does not divide."""
    rest = list(monomial)
    for atom in atoms:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def from_terms(terms: Mapping[Monomial, int]) -> Polynomial:
    """The polynomial with these coefficients; zeros are dropped."""
    return Polynomial(tuple(sorted([term for term in terms.items() if term[1]])))


def number_polynomial(value: int) -> Polynomial:
    """A constant."""
    return Polynomial((((), value),)) if value else Polynomial(())


def atom_polynomial(number: int) -> Polynomial:
    """One atom."""
    return Polynomial((((number,), 1),))


def combined(left: Polynomial, a: int, right: Polynomial, b: int) -> Polynomial:
    """a * left + b * right."""
    total = {monomial: a * factor for monomial, factor in left.terms}
    for monomial, factor in right.terms:
        total[monomial] = total.get(monomial, 0) + b * factor
    return from_terms(total)


def product(items: Iterable[Polynomial]) -> Polynomial:
    """The product of all."""
    result = number_polynomial(1)
    for item in items:
        result = result * item
    return result
