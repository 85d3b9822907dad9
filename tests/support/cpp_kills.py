"""Which mutants of printed C++ the standard inputs notice."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwright.dsl import Program, check_file, check_source
from kernelwright.dsl.interpret import Outcome
from kernelwright.dsl.lower import CppFiles, lower_cpp, program_text
from support.cpp_mutants import Mutant
from support.dsl_cpp import FENCE_AFTER, FENCE_BEFORE, build
from support.dsl_features import FEATURES
from support.dsl_fuzz.differ import Case, arguments, called, equal, interpreted, kinds, noisy, wide
from support.dsl_fuzz.noise import differs
from support.dsl_programs import EXAMPLES

FLAGS = ("-O0", "-DFAR_BYTES=512", "-w", "-fmax-errors=0")
BUILDS: tuple[tuple[str, ...], ...] = ((), ("-mno-avx",))
FORMS = (
    ("special", 2, FENCE_AFTER),
    ("lowest", 1, 3),
    ("positive", 3, FENCE_AFTER),
    ("negative", 2, 0),
    ("edges", 1, FENCE_BEFORE),
    ("", 3, 0),
)
"""The standard inputs of a size: what holds of the numbers, cores, place in memory."""
BATCH = 100


@dataclass(frozen=True)
class Call:
    """One of the standard inputs of a program, and what it should give."""

    case: Case
    given: dict[str, Any]
    want: Outcome
    others: list[Any]
    shift: int


@dataclass
class Subject:
    """A program whose mutants are judged.

    Attributes:
        schedule: Values of its holes.
    """

    label: str
    program: Program
    name: str
    sizes: Sequence[dict[str, int]]
    schedule: dict[str, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    @property
    def lowered(self) -> CppFiles:
        """What is printed."""
        return lower_cpp(self.program, self.name, self.schedule)

    def prepare(self) -> None:
        """Run the interpreter on the standard inputs: every size with numbers of every form."""
        for number, names in enumerate(self.sizes):
            for form, cores, shift in FORMS:
                seed = 31 * number + cores + shift
                own = "" if form == "special" else form
                case = Case(0, dict(names), cores, "sequential", seed + 9, form == "special", own)
                given = arguments(self.program, self.name, case)
                assert given is not None, (self.label, names)
                want = interpreted(self.program, self.name, case, given, self.schedule)
                assert want.fault is None, want.fault.to_text()
                others = noisy(self.program, self.name, case, given, 6, self.schedule)
                self.calls.append(Call(case, given, want, others, shift))


EXAMPLE_SIZES: dict[str, tuple[dict[str, int], ...]] = {
    "gelu": ({"A": 1, "B": 1}, {"A": 5, "B": 13}, {"A": 2, "B": 64}, {"A": 3, "B": 100}),
    "softmax": ({"R": 1, "C": 1}, {"R": 4, "C": 65}, {"R": 5, "C": 128}, {"R": 7, "C": 200}),
    "layernorm": ({"R": 1, "C": 1}, {"R": 4, "C": 64}, {"R": 7, "C": 37}),
    "maxpool": (
        *({"N": 1, "C": 1, "H": 1, "W": 1}, {"N": 2, "C": 2, "H": 5, "W": 65}),
        *({"N": 1, "C": 3, "H": 4, "W": 128}, {"N": 1, "C": 2, "H": 7, "W": 200}),
    ),
    "sum_reduction": (
        *({"A": 1, "R": 1, "B": 1}, {"A": 3, "R": 5, "B": 65}),
        *({"A": 2, "R": 4, "B": 128}, {"A": 3, "R": 9, "B": 200}),
    ),
}
"""Sizes around the edges of tiles of 64."""


def subjects() -> list[Subject]:
    """The example programs under tiles of 64, and the programs of one feature each."""
    found = []
    for path in EXAMPLES:
        program = check_file(path).program
        assert program is not None, path
        host = program.hosts[0].name.text
        found.append(Subject(path.stem, program, host, EXAMPLE_SIZES[path.stem], {"TILE": 64}))
    for label, feature in FEATURES.items():
        program = check_source(feature.text).program
        assert program is not None, label
        found.append(Subject(label, program, "f", feature.sizes))
    return found


@dataclass
class Verdicts:
    """What became of the mutants of one subject."""

    refused: int = 0
    killed: list[Mutant] = field(default_factory=list)
    survived: list[Mutant] = field(default_factory=list)


def judge(
    subject: Subject, mutants: Sequence[Mutant], say: Callable[[str], None] = lambda _: None
) -> Verdicts:
    """Build and call mutants until a result is wrong: first with the longest vectors of this
    processor, then the rest with the shortest."""
    verdicts = Verdicts()
    for start in range(0, len(mutants), BATCH):
        some = list(mutants[start : start + BATCH])
        for flags in BUILDS:
            path, alive = _built(subject.lowered, some, flags)
            if flags is BUILDS[0]:
                verdicts.refused += len(some) - len(alive)
            for calls in (subject.calls[-1:], subject.calls[-6:-1], subject.calls[:-6]):
                dead = _noticed(subject, path, alive, calls)
                verdicts.killed += [m for (m, _), gone in zip(alive, dead, strict=True) if gone]
                alive = [pair for pair, gone in zip(alive, dead, strict=True) if not gone]
            some = [mutant for mutant, _ in alive]
        verdicts.survived += some
        say(f"{subject.label}: {len(verdicts.killed)} killed, {len(verdicts.survived)} alive")
    return verdicts


def _noticed(
    subject: Subject, path: str, alive: list[tuple[Mutant, CppFiles]], calls: list[Call]
) -> list[bool]:
    """For each mutant, whether one of the calls goes wrong."""
    jobs = [
        (path, own, [*call.given.values()], call.case.cores, call.shift)
        for _, own in alive
        for call in calls
    ]
    if not jobs:
        return [False for _ in alive]
    results, code = called(jobs)
    assert len(results) == len(jobs), f"the calling process ended: {code}"
    wrong = [
        _is_wrong(subject, calls[place % len(calls)], result)
        for place, result in enumerate(results)
    ]
    return [any(wrong[k : k + len(calls)]) for k in range(0, len(wrong), len(calls))]


def _is_wrong(subject: Subject, call: Call, result: Any) -> bool:
    if isinstance(result, str):
        return True
    outputs, line = result
    if line:
        return True
    for place, (got, want) in enumerate(zip(outputs, call.want.outputs, strict=True)):
        if equal(got, want):
            continue
        dtype = kinds(subject.lowered)[place]
        others = [wide(other[place], dtype) for other in call.others]
        if differs(wide(got, dtype), wide(want, dtype), others).any():
            return True
    return False


def _built(
    lowered: CppFiles, mutants: list[Mutant], flags: tuple[str, ...]
) -> tuple[str, list[tuple[Mutant, CppFiles]]]:
    """One library of all mutants that compile; names of the compiler's errors tell the others."""
    whole = lowered.files["kernel.cpp"]
    begin = whole.removesuffix(program_text(lowered))
    name = lowered.signature.name
    alive = list(enumerate(mutants))
    while True:
        texts, ends, place = [begin], [], begin.count("\n") + 1
        for number, mutant in alive:
            own = re.sub(rf"\b(run_)?{name}", rf"\g<1>m{number}_{name}", mutant.text)
            text = f"namespace mutant{number} {{\n{own}\n}}\n"
            place += text.count("\n") + 1
            texts.append(text)
            ends.append(place)
        try:
            library = build("\n".join(texts), *FLAGS, *flags)
        except AssertionError as error:
            # An error inside a template names the line that asked for it, too.
            said = re.findall(r"\.cpp:(\d+):\d+:\s+(?:error|required from)", str(error))
            lines = [int(found) for found in said if int(found) > begin.count("\n") + 1]
            bad = {next(k for k, end in enumerate(ends) if line < end) for line in lines}
            assert bad, str(error)
            alive = [pair for k, pair in enumerate(alive) if k not in bad]
            continue
        return library._name, [
            (
                mutant,
                replace(lowered, signature=replace(lowered.signature, name=f"m{number}_{name}")),
            )
            for number, mutant in alive
        ]
