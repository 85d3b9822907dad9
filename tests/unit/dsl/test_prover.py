"""What the prover proves, and what it must not."""

from __future__ import annotations

import itertools
import random

import pytest

from kernelwright.dsl.prove.polynomial import Polynomial, from_terms, number_polynomial
from kernelwright.dsl.prove.prover import Prover
from kernelwright.dsl.prove.values import Values

ONE = number_polynomial(1)


def tiles(prover: Prover, total: Polynomial, tile: int) -> tuple[Polynomial, Polynomial]:
    start, length = prover.fresh("c", divisor=tile), prover.fresh("n")
    prover.assume(start, "c >= 0")
    prover.assume(length - ONE, "n >= 1")
    prover.assume(number_polynomial(tile) - length, "n <= TILE")
    prover.assume(total - start - length, "c + n <= C")
    return start, length


def test_a_tile_is_inside_and_a_whole_tile_may_not_be() -> None:
    prover = Prover()
    total = prover.fresh("C", is_uniform=True)
    start, length = tiles(prover, total, 64)
    assert prover.proves(total - start - length)
    assert prover.proves(total - ONE)
    assert not prover.proves(total - start - number_polynomial(64))


def test_quotient_and_remainder_of_a_product_are_inside_their_factors() -> None:
    values = Values(Prover())
    prover = values.prover
    a, b = prover.fresh("A", is_uniform=True), prover.fresh("B", is_uniform=True)
    prover.assume(a - ONE, "A >= 1")
    prover.assume(b - ONE, "B >= 1")
    t = prover.fresh("t")
    prover.assume(t, "t >= 0")
    prover.assume(a * b - t - ONE, "t < A * B")
    quotient = values.quotient(t, b)
    rest = t - quotient * b
    assert prover.proves(quotient)
    assert prover.proves(a - quotient - ONE)
    assert prover.proves(rest)
    assert prover.proves(b - rest - ONE)
    assert not prover.proves(a - quotient - number_polynomial(2))
    assert not prover.proves(b - rest - number_polynomial(2))


def test_a_minimum_is_bounded_above_by_one_operand_and_below_by_all() -> None:
    prover = Prover()
    a, b = prover.fresh("a"), prover.fresh("b")
    prover.assume(a - number_polynomial(3), "a >= 3")
    least = prover.application("min", (a, b), "min(a, b)")
    assert prover.proves(b - least)
    assert not prover.proves(least - number_polynomial(3))
    prover.assume(b - number_polynomial(5), "b >= 5")
    assert prover.proves(least - number_polynomial(3))
    assert not prover.proves(least - number_polynomial(4))


def test_facts_end_with_their_scope() -> None:
    prover = Prover()
    a = prover.fresh("a")
    with prover.scope():
        prover.assume(a, "a >= 0")
        assert prover.proves(a)
    assert not prover.proves(a)


def test_a_product_of_nonnegative_facts_is_used() -> None:
    prover = Prover()
    r, rows, cols, c = (prover.fresh(name) for name in ("r", "R", "C", "c"))
    for fact, text in [
        (r, ""),
        (rows - r - ONE, ""),
        (cols - ONE, ""),
        (c, ""),
        (cols - c - ONE, ""),
    ]:
        prover.assume(fact, text)
    place = r * cols + c
    assert prover.proves(place)
    assert prover.proves(rows * cols - place - ONE)
    assert not prover.proves(rows * cols - place - number_polynomial(2))


def test_divisors_follow_from_coefficients_and_tile_offsets() -> None:
    prover = Prover()
    start = prover.fresh("c", divisor=64)
    other = prover.fresh("k")
    assert prover.divisor(start + number_polynomial(8)) == 8
    assert prover.divisor(start * number_polynomial(2)) == 128
    assert prover.divisor(start + other) == 1


@pytest.mark.parametrize("seed", range(80))
def test_what_is_proved_holds_for_every_assignment(seed: int) -> None:
    """Random facts and goals over three small integers: a proof is never wrong."""
    rng = random.Random(seed)
    prover = Prover()
    atoms = [prover.fresh(name) for name in "abc"]
    facts = [_linear(rng, atoms) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.5:
        pair = (_linear(rng, atoms), _linear(rng, atoms))
        atoms.append(prover.application(rng.choice(["min", "max"]), pair, "m"))
    for fact in facts:
        prover.assume(fact, "fact")
    if rng.random() < 0.6:
        left, right = _linear(rng, atoms), number_polynomial(rng.randrange(1, 4))
        atoms.append(Values(prover).quotient(left, right))
    worlds = []
    for values in itertools.product(range(-4, 5), repeat=3):
        world = dict(enumerate(values))
        for number, atom in enumerate(prover.atoms[3:], start=3):
            operands = [_value(item, world) for item in atom.operands]
            world[number] = _applied(atom.kind, operands)
        if all(_value(fact, world) >= 0 for fact in facts):
            worlds.append(world)
    for _ in range(40):
        goal = _linear(rng, atoms)
        if prover.proves(goal):
            assert all(_value(goal, world) >= 0 for world in worlds)


def _applied(kind: str, operands: list[int]) -> int:
    if kind == "//":
        return operands[0] // operands[1]
    return min(operands) if kind == "min" else max(operands)


def _linear(rng: random.Random, atoms: list[Polynomial]) -> Polynomial:
    total = number_polynomial(rng.randrange(-3, 4))
    for atom in atoms:
        total = total + atom * number_polynomial(rng.choice([-2, -1, 0, 0, 1, 2]))
    if rng.random() < 0.2:
        total = total + rng.choice(atoms) * rng.choice(atoms)
    return total


def _value(item: Polynomial, world: dict[int, int]) -> int:
    total = 0
    for monomial, factor in item.terms:
        for atom in monomial:
            factor *= world[atom]
        total += factor
    return total


def test_equal_polynomials_are_one_key() -> None:
    assert {from_terms({(0,): 2, (): 1}): 1}[from_terms({(): 1, (0,): 2, (1,): 0})] == 1
