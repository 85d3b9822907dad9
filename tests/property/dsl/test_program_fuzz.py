"""Drawn programs: whatever is accepted means the same to the interpreter and in C++.

The long runs draw anew each time; what they print repeats a run:
`KERNELWRIGHT_FUZZ_SEED=... KERNELWRIGHT_FUZZ_PROGRAMS=... make fuzz`.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from kernelwright.dsl import Program, check_file, check_source
from kernelwright.dsl.builtins import BUILTINS
from support.dsl_cpp import FENCE_AFTER, FENCE_BEFORE
from support.dsl_fuzz.differ import Bench, Case, Failure, cases_of
from support.dsl_fuzz.mutate import meant, with_host
from support.dsl_fuzz.programs import KINDS, Drawn, draw
from support.dsl_programs import ACCEPTED

SEED = int(os.environ.get("KERNELWRIGHT_FUZZ_SEED", "0")) or random.SystemRandom().randrange(
    1 << 40
)
PROGRAMS = int(os.environ.get("KERNELWRIGHT_FUZZ_PROGRAMS", "240"))
BATCH = 80
BUILDS = (
    ("-O0",),
    ("-O1",),
    ("-O1", "-DFAR_BYTES=256"),
    ("-O1", "-mno-avx512f"),
    ("-O0", "-mno-avx"),
    ("-O3",),
)
"""Flags of the batches in turn: other vector lengths, and stores that go past the caches early."""

SIZES = (1, 2, 3, 5, 8, 9, 17, 33, 65, 70, 130)
DIMS = "A R C B N M L H W S NC OL OH OW G D K P".split()


def sources() -> list[Drawn]:
    """The programs that are kept in files, each with a host function to call."""
    found = []
    for path in ACCEPTED:
        program = check_file(path).program
        assert program is not None
        if program.hosts:
            found.append(Drawn(path.read_text(), program.hosts[0].name.text, ()))
        else:
            found += [Drawn(with_host(program, kernel), "f", ()) for kernel in program.kernels]
    return found


KEPT = sources()


def shown(failures: list[Failure], texts: list[str]) -> str:
    """The first failures with their programs."""
    return "\n\n".join(f"{item.what}\n{item.case}\n{texts[item.number]}" for item in failures[:3])


def compare(drawn: list[Drawn], rng: random.Random, flags: tuple[str, ...]) -> Bench:
    """Check programs that should be accepted, and compare them."""
    programs: list[tuple[Program, str]] = []
    cases: list[Case] = []
    for item in drawn:
        result = check_source(item.text)
        assert result.program is not None, f"{result.to_text()}\n{item.text}"
        cases += cases_of(len(programs), item.sizes, rng)
        programs.append((result.program, item.name))
    bench = Bench(flags)
    bench.compare(programs, cases, rng.choice([0, 1, 3, FENCE_AFTER, FENCE_BEFORE]))
    assert not bench.tally.failures, shown(bench.tally.failures, [item.text for item in drawn])
    assert not bench.tally.undefined
    return bench


def compare_mutants(rng: random.Random, count: int, flags: tuple[str, ...]) -> Bench:
    """Change programs, and compare those that are still accepted."""
    programs: list[tuple[Program, str]] = []
    cases: list[Case] = []
    texts: list[str] = []
    for _ in range(count):
        item = draw(rng) if rng.random() < 0.65 else rng.choice(KEPT)
        text = meant(rng, item.text)
        result = check_source(text)
        hosts = {host.name.text for host in result.program.hosts} if result.program else set()
        if result.program is None or item.name not in hosts:
            continue
        sizes = item.sizes or [
            {name: 2 if name == "NC" else rng.choice(SIZES) for name in DIMS} for _ in range(3)
        ]
        cases += cases_of(len(programs), sizes, rng)
        programs.append((result.program, item.name))
        texts.append(text)
    bench = Bench(flags)
    bench.compare(programs, cases, rng.choice([0, FENCE_AFTER]))
    assert not bench.tally.failures, shown(bench.tally.failures, texts)
    return bench


@pytest.mark.parametrize("kind", [*KINDS, "sums", "chain"])
def test_drawn_programs_agree(kind: str) -> None:
    rng = random.Random(f"drawn {kind}")
    bench = compare([draw(rng, kind) for _ in range(6)], rng, ("-O0",))
    assert bench.tally.programs == 6
    assert bench.tally.calls >= 11


def test_changed_programs_are_refused_or_agree() -> None:
    rng = random.Random("changed")
    bench = compare_mutants(rng, 70, ("-O0",))
    assert bench.tally.programs >= 10
    assert bench.tally.calls >= 10


def test_drawn_programs_use_every_primitive_and_element_type() -> None:
    rng = random.Random("coverage")
    texts = [draw(rng).text for _ in range(600)]
    calls = Counter(name for text in texts for name in re.findall(r"tl\.(\w+)\(", text))
    assert set(BUILTINS) - set(calls) == {"store_add"}, "store_add is drawn by the mutations"
    words = Counter(word for text in texts for word in re.findall(r'"(\w+)[\["]', text))
    assert {"f32", "f16", "bf16", "i32", "i16", "i8", "u8", "bool", "mask"} <= set(words)
    assert {"sync_all", "core_range", "core_tiles", "tiles", "static_range"} <= set(calls)


def batches() -> Iterator[int]:
    """Numbers of the batches of a long run."""
    yield from range(-(-PROGRAMS // BATCH))


@pytest.mark.long
@pytest.mark.timeout(0)
def test_many_drawn_programs_agree(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    for number in batches():
        rng = random.Random(f"{SEED} {number}")
        tally = compare([draw(rng) for _ in range(BATCH)], rng, BUILDS[number % len(BUILDS)]).tally
        counts.update(programs=tally.programs, calls=tally.calls)
    with capsys.disabled():
        print(f"\nseed {SEED}: {dict(counts)}, all agree")  # noqa: T201


@pytest.mark.long
@pytest.mark.timeout(0)
def test_many_changed_programs_are_refused_or_agree(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    for number in batches():
        rng = random.Random(f"{SEED} changed {number}")
        tally = compare_mutants(rng, 3 * BATCH, BUILDS[number % len(BUILDS)]).tally
        counts.update(changed=3 * BATCH, accepted=tally.programs, calls=tally.calls)
        counts.update(undefined=tally.undefined)
    with capsys.disabled():
        print(f"\nseed {SEED}: {dict(counts)}, no third outcome")  # noqa: T201
