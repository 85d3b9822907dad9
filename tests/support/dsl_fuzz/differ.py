"""Many programs at once: the interpreter's results against those of the printed C++."""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.core.errors import UsageMistake
from kernelwright.dsl import LaunchRefused, Program
from kernelwright.dsl.evaluate import evaluate
from kernelwright.dsl.interpret import NUMPY, Outcome, from_bf16, run, to_bf16
from kernelwright.dsl.lower import CppFiles, lower_cpp
from kernelwright.dsl.nodes import ScalarParam, TensorParam
from kernelwright.dsl.types import DType
from support.dsl_cpp import build_together
from support.dsl_fuzz.noise import differs, rounding_noise

ROOT = Path(__file__).parents[3]
QUICK = ("-O0",)
"""Flags of the quick runs: what the program computes, not how well the compiler optimises it."""
SECONDS = 3
"""Longest run of a program in the interpreter."""
LARGEST = 40_000
"""Most elements of a tensor."""


class TooLong(Exception):
    """A program that takes too long to be interesting."""


@dataclass(frozen=True)
class Case:
    """One call of one program.

    Attributes:
        number: The program's.
        names: Values of dimension names and scalars.
        special: Whether infinities and the like are among the numbers.
        form: What else holds of the numbers, see `FORMS`.
    """

    number: int
    names: dict[str, int]
    cores: int
    order: str
    seed: int
    special: bool = False
    form: str = ""


@dataclass(frozen=True)
class Failure:
    """A program of the third kind: accepted, and yet it faults, crashes or disagrees."""

    number: int
    what: str
    case: Case | None = None


@dataclass
class Tally:
    """What a comparison came to.

    Attributes:
        undefined: Calls that the interpreter ended because undefined global memory was used (E801):
            the checks do not follow which elements of a tensor are written, the run does.
    """

    programs: int = 0
    calls: int = 0
    refused: int = 0
    skipped: int = 0
    undefined: int = 0
    failures: list[Failure] = field(default_factory=list)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooLong when the time is over."""

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- arguments -----------------------------------------------------------------------------------

SPECIAL = (np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, -1e-42, 3.0e38, -3.0e38, 65504.0, 1e30)


def _negative(values: Any, rng: np.random.Generator) -> Any:
    return -np.abs(values) - 0.5


def _positive(values: Any, rng: np.random.Generator) -> Any:
    return np.abs(values) + 0.5


def _lowest(values: Any, rng: np.random.Generator) -> Any:
    """The first row is as low as a running maximum may start."""
    values = _negative(values, rng)
    values.reshape(-1, values.shape[-1])[0] = -3.0e38
    return values


EDGES = (0, -1, 15, 16, 17, 39, 40, 41, 63, 64, 65, 71, 72, 73, 127, 128)


def _edges(values: Any, rng: np.random.Generator) -> Any:
    """Each row has one number that outweighs the others, at an edge of a tile."""
    start = int(rng.integers(len(EDGES)))
    for number, row in enumerate(values.reshape(-1, values.shape[-1])):
        places = [place for place in EDGES if place < row.size]
        row[places[(start + number) % len(places)]] = (30.0, -30.0)[int(rng.integers(2))]
    return values


FORMS = {"negative": _negative, "positive": _positive, "lowest": _lowest, "edges": _edges}
"""What may hold of all numbers of a float tensor."""


def tensor(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator, case: Case) -> Any:
    """Numbers of any size and sign; whole ones among the floats, and special ones if asked for."""
    if dtype.is_float:
        values = rng.standard_normal(shape).astype(np.float32)
        values = np.where(rng.random(shape) < 0.3, np.rint(values * 3), values)
        if case.form:
            values = FORMS[case.form](values, rng)
        if case.special:
            some = rng.choice(np.array(SPECIAL, np.float32), shape)
            values = np.where(rng.random(shape) < 0.08, some, values)
        values = values.astype(np.float32)
        with np.errstate(all="ignore"):
            return to_bf16(values) if dtype is DType.BF16 else values.astype(NUMPY[dtype])
    if dtype is DType.BOOL:
        return rng.integers(0, 2, shape).astype(np.uint8)
    limits = np.iinfo(NUMPY[dtype])
    low, high = (-9, 9) if limits.min else (0, 9)
    values = rng.integers(low, high, shape)
    if case.special:
        some = rng.choice([limits.min, limits.max, limits.max - 1], shape)
        values = np.where(rng.random(shape) < 0.08, some, values)
    return values.astype(NUMPY[dtype])


def arguments(program: Program, name: str, case: Case) -> dict[str, Any] | None:
    """The arguments of a call; None where the sizes make no tensor."""
    hosts = {host.name.text: host for host in program.hosts}
    entry = hosts[name] if name in hosts else program.kernel(name)
    rng = np.random.default_rng(case.seed)
    names: dict[str, Any] = dict(case.names)
    for param in entry.params:
        if isinstance(param, ScalarParam):
            is_real = param.type is DType.F32
            names[param.name.text] = 0.625 if is_real else names.get(param.name.text, 3)
    given: dict[str, Any] = {}
    for param in entry.params:
        if isinstance(param, ScalarParam):
            given[param.name.text] = names[param.name.text]
        elif isinstance(param, TensorParam):
            try:
                shape = tuple(int(evaluate(dim, names)) for dim in param.type.dims)
            except (LaunchRefused, KeyError):
                return None
            if min(shape) < 1 or np.prod([float(size) for size in shape]) > LARGEST:
                return None
            given[param.name.text] = tensor(param.type.dtype, shape, rng, case)
    return given


# --- the interpreter -----------------------------------------------------------------------------


def interpreted(
    program: Program,
    name: str,
    case: Case,
    given: dict[str, Any],
    schedule: dict[str, int] | None = None,
) -> Outcome:
    """One run; order and cores are the case's."""
    with at_most(SECONDS):
        return run(
            program,
            name,
            given,
            schedule=schedule,
            cores=case.cores,
            order=case.order,  # type: ignore[arg-type]
            rng=np.random.default_rng(case.seed),
        )


def noisy(
    program: Program,
    name: str,
    case: Case,
    given: dict[str, Any],
    count: int,
    schedule: dict[str, int] | None = None,
) -> list[Any]:
    """Outputs of disturbed runs."""
    found = []
    for number in range(count):
        with rounding_noise(np.random.default_rng([case.seed, number])):
            outcome = interpreted(program, name, case, given, schedule)
        if outcome.fault is None:
            found.append(outcome.outputs)
    return found


def wide(array: Any, dtype: DType) -> Any:
    """Numbers as float64, integers as they are."""
    values = from_bf16(array) if dtype is DType.BF16 else array
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


# --- comparison ----------------------------------------------------------------------------------


@dataclass
class Bench:
    """Programs under comparison.

    Attributes:
        flags: Further flags of the compiler.
        special: Whether infinities and the like are among the numbers.
    """

    flags: tuple[str, ...] = QUICK
    tally: Tally = field(default_factory=Tally)
    reasons: Counter[str] = field(default_factory=Counter)

    def compare(
        self, programs: Sequence[tuple[Program, str]], cases: Sequence[Case], shift: int = 0
    ) -> Tally:
        """Run every case both ways."""
        lowered: dict[int, CppFiles] = {}
        for number, (program, name) in enumerate(programs):
            try:
                lowered[number] = lower_cpp(program, name)
            except (LaunchRefused, UsageMistake) as error:
                self.reasons[str(error)[:60]] += 1
                self.tally.refused += 1
            except Exception:  # noqa: BLE001 - whatever it is, it is a finding
                self._fail(number, "lowering: " + traceback.format_exc(limit=-3))
        self.tally.programs += len(lowered)
        wanted = list(self._wanted(programs, lowered, cases))
        built = self._built({number: lowered[number] for number in lowered})
        jobs = [
            (*built[case.number], [*given.values()], case.cores, shift)
            for case, given, _ in wanted
            if case.number in built
        ]
        results = self._called(jobs)
        rest = [item for item in wanted if item[0].number in built]
        for (case, given, outcome), got in zip(rest, results, strict=True):
            self.tally.calls += 1
            self._judge(programs[case.number], lowered[case.number], (case, given, outcome), got)
        return self.tally

    def outputs(
        self, program: Program, name: str, case: Case, cores: int, order: str
    ) -> tuple[Any, ...]:
        """What the interpreter gives in one order on some cores."""
        given = arguments(program, name, case)
        assert given is not None
        outcome = interpreted(program, name, replace(case, cores=cores, order=order), given)
        assert outcome.fault is None, outcome.fault.to_text()
        return outcome.outputs

    def _fail(self, number: int, what: str, case: Case | None = None) -> None:
        self.tally.failures.append(Failure(number, what, case))

    def _wanted(
        self,
        programs: Sequence[tuple[Program, str]],
        lowered: dict[int, CppFiles],
        cases: Sequence[Case],
    ) -> Iterator[tuple[Case, dict[str, Any], Outcome]]:
        for case in cases:
            if case.number not in lowered:
                continue
            program, name = programs[case.number]
            given = arguments(program, name, case)
            if given is None:
                self.tally.skipped += 1
                continue
            try:
                outcome = interpreted(program, name, case, given)
            except (LaunchRefused, UsageMistake, TooLong) as error:
                self.reasons[type(error).__name__ + str(error)[:60]] += 1
                self.tally.skipped += 1
                continue
            except Exception:  # noqa: BLE001 - whatever it is, it is a finding
                self._fail(case.number, "interpreter: " + traceback.format_exc(limit=-3), case)
                continue
            if outcome.fault is not None and outcome.fault.code == "E801":
                self.tally.undefined += 1
                continue
            if outcome.fault is not None:
                self._fail(case.number, "fault: " + outcome.fault.to_text(), case)
                continue
            yield case, given, outcome

    def _built(self, lowered: dict[int, CppFiles]) -> dict[int, tuple[str, CppFiles]]:
        """Build all; where that fails, find the programs that do not compile."""
        numbers = list(lowered)
        if not numbers:
            return {}
        try:
            pairs = build_together([lowered[number] for number in numbers], *self.flags)
        except AssertionError as error:
            if len(numbers) == 1:
                self._fail(numbers[0], "compiler: " + str(error)[:600])
                return {}
            half = len(numbers) // 2
            first = self._built({number: lowered[number] for number in numbers[:half]})
            return first | self._built({number: lowered[number] for number in numbers[half:]})
        return {
            number: (library._name, own)
            for number, (library, own) in zip(numbers, pairs, strict=True)
        }

    def _called(self, jobs: list[Any]) -> list[Any]:
        """Results of calls in processes that may crash."""
        results: list[Any] = []
        while len(results) < len(jobs):
            rest = jobs[len(results) :]
            found, code = called(rest)
            results += found
            if len(found) < len(rest):
                results.append(f"the printed program ended its process: {code}")
        return results

    def _judge(
        self,
        entry: tuple[Program, str],
        lowered: CppFiles,
        wanted: tuple[Case, dict[str, Any], Outcome],
        got: Any,
    ) -> None:
        case, given, outcome = wanted
        if isinstance(got, str):
            self._fail(case.number, got, case)
            return
        outputs, line = got
        if line:
            self._fail(case.number, f"line {line} refuses in C++ only", case)
            return
        pairs = list(zip(outputs, outcome.outputs, kinds(lowered), strict=True))
        if all(equal(one, other) for one, other, _ in pairs):
            return
        for count in (6, 60):
            runs = noisy(*entry, case, given, count)
            found = ""
            for place, (one, other, dtype) in enumerate(pairs):
                others = [wide(outputs[place], dtype) for outputs in runs]
                wants = wide(other, dtype)
                bad = differs(wide(one, dtype), wants, others)
                if bad.any():
                    at = tuple(int(k) for k in np.argwhere(bad)[0])
                    spread = max((abs(float(o[at] - wants[at])) for o in others), default=0.0)
                    found = (
                        f"output {place} ({dtype}) differs in {int(bad.sum())} of {bad.size}, "
                        f"first at {at}: {wide(one, dtype)[at]!r}, not {wants[at]!r} "
                        f"(spread {spread:.3g})"
                    )
                    break
            if not found:
                return
        self._fail(case.number, found, case)


def kinds(lowered: CppFiles) -> list[DType]:
    """Element types of what a call returns."""
    by_name = {item.name: item for item in lowered.signature.arguments}
    names = lowered.signature.returns or [
        item.name for item in lowered.signature.arguments if item.is_written
    ]
    return [by_name[name].dtype for name in names]


def equal(one: Any, other: Any) -> bool:
    """The same numbers, every NaN being alike."""
    if one.tobytes() == other.tobytes():
        return True
    return bool(one.dtype.kind == "f" and np.array_equal(one, other, equal_nan=True))


def called(jobs: list[Any]) -> tuple[list[Any], int]:
    """Run jobs in a fresh process: the results until it ended, and how it ended."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-fuzz-") as folder:
        given, found = Path(folder) / "jobs", Path(folder) / "results"
        given.write_bytes(pickle.dumps(jobs))
        found.touch()
        paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src")])
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "support.dsl_fuzz.worker", str(given), str(found)]
        try:
            done = subprocess.run(
                command, env=environment, timeout=900, stderr=subprocess.DEVNULL, check=False
            )
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -1
        results = []
        with found.open("rb") as file:
            while True:
                try:
                    results.append(pickle.load(file))
                except (EOFError, pickle.UnpicklingError):
                    return results, code


ORDERS = ("sequential", "random", "interleaved")


def cases_of(number: int, sizes: Sequence[dict[str, int]], rng: random.Random) -> list[Case]:
    """Calls of one program: each of its sizes, on some number of cores in some order."""
    return [
        Case(
            number,
            dict(names),
            rng.choice([1, 2, 3]),
            rng.choice(ORDERS),
            rng.randrange(1 << 30),
            rng.random() < 0.3,
            rng.choice(["", "", "edges", "negative", "positive"]),
        )
        for names in sizes
    ]
