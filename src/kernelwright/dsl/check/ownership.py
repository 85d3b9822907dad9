"""Which core an access to global memory belongs to, as far as its index tells.

A store is free of races when its place determines the core: two cores then never write the same
element. The place of a slice tells `P` when its start is `d * P + rest` with 0 <= rest and
rest + length <= d; from enough such values the core loop's variable follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelwright.dsl.check.context import Context
from kernelwright.dsl.nodes import GlobalSlice, Span
from kernelwright.dsl.prove.polynomial import (
    Monomial,
    Polynomial,
    from_terms,
    number_polynomial,
    without,
)
from kernelwright.dsl.prove.prover import Prover


@dataclass(frozen=True, slots=True)
class Told:
    """A value that the place of an access determines.

    Attributes:
        axis: Axis of the tensor.
        block: Length of the block along it that has this value.
        value: The value.
    """

    axis: int
    block: Polynomial
    value: Polynomial


def told_by(context: Context, part: GlobalSlice) -> frozenset[Told]:
    """Everything that the place of `part` determines."""
    result: set[Told] = set()
    for axis, index in enumerate(part.index):
        if isinstance(index, Span):
            assert index.start is not None
            assert index.stop is not None
            start, stop = context.value(index.start), context.value(index.stop)
            result |= _of_interval(context.prover, axis, start, stop - start)
        else:
            value = context.value(index)
            result.add(Told(axis, number_polynomial(1), value))
            result |= _of_interval(context.prover, axis, value, number_polynomial(1))
    return frozenset(result)


def _of_interval(prover: Prover, axis: int, start: Polynomial, length: Polynomial) -> set[Told]:
    result: set[Told] = set()
    if length == number_polynomial(1):
        result.add(Told(axis, length, start))
    for number in {_divisor(prover, term) for term in start.terms if term[0]}:
        inside = from_terms(
            {term[0]: term[1] for term in start.terms if _divisor(prover, term) % number == 0}
        )
        if _is_block(prover, number_polynomial(number), start - inside, length):
            result.add(Told(axis, number_polynomial(number), inside))
    for scale in {_uniform_part(prover, monomial) for monomial, _ in start.terms} - {()}:
        quotient: dict[Monomial, int] = {}
        for monomial, factor in start.terms:
            rest = without(monomial, scale)
            if rest is not None:
                quotient[rest] = factor
        block = from_terms({scale: 1})
        value = from_terms(quotient)
        if _is_block(prover, block, start - value * block, length):
            result.add(Told(axis, block, value))
    return result


def _divisor(prover: Prover, term: tuple[Monomial, int]) -> int:
    return abs(prover.divisor(from_terms({term[0]: term[1]})))


def _uniform_part(prover: Prover, monomial: Monomial) -> Monomial:
    return tuple(atom for atom in monomial if prover.atoms[atom].is_uniform)


def _is_block(prover: Prover, block: Polynomial, rest: Polynomial, length: Polynomial) -> bool:
    return prover.proves(rest) and prover.proves(block - rest - length)


def determined(prover: Prover, told: frozenset[Told]) -> frozenset[int]:
    """Atoms whose values follow from `told`, uniform ones left out."""
    known: set[int] = set()
    values = [item.value for item in told]
    changed = True
    while changed:
        changed = False
        for value in values:
            atom = _only_unknown(prover, value, known)
            if atom is not None:
                known.add(atom)
                changed = True
    return frozenset(known)


def _only_unknown(prover: Prover, value: Polynomial, known: set[int]) -> int | None:
    """The one atom of `value` not known yet, where the value determines it."""
    unknown = {
        atom for atom in value.atoms if atom not in known and not _is_known(prover, atom, known)
    }
    if len(unknown) != 1:
        return None
    atom = unknown.pop()
    factor: dict[Monomial, int] = {}
    for monomial, own in value.terms:
        if atom not in monomial:
            continue
        rest = without(monomial, (atom,))
        assert rest is not None
        if any(not prover.atoms[other].is_uniform for other in rest):
            return None
        factor[rest] = own
    slope = from_terms(factor)
    nonzero = prover.proves(slope.plus(-1)) or prover.proves((-slope).plus(-1))
    return atom if nonzero else None


def _is_known(prover: Prover, atom: int, known: set[int]) -> bool:
    entry = prover.atoms[atom]
    if entry.is_uniform:
        return True
    return bool(entry.operands) and all(
        part in known or _is_known(prover, part, known)
        for operand in entry.operands
        for part in operand.atoms
    )
