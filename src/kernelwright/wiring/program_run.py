"""Running a program of the kernel language: on the interpreter, as compiled C++, or both."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwright.backends.cpu.program import Called, Refused, call_lowered
from kernelwright.backends.cpu.toolchain import OPENMP, Toolchain
from kernelwright.core.execution import Failure
from kernelwright.core.fingerprint import Json
from kernelwright.core.verdict import Category
from kernelwright.dsl import CODES, CheckResult, Diagnostic, Host, Program
from kernelwright.dsl.bind import Number
from kernelwright.dsl.host_nodes import Return, TensorRef
from kernelwright.dsl.interpret import Counters, Fault, Order, from_bf16, run
from kernelwright.dsl.lower import CppFiles, lower_cpp
from kernelwright.dsl.nodes import TensorParam
from kernelwright.dsl.parse.source import Source
from kernelwright.dsl.types import NOWHERE, DType, Position
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.wiring.differences import Difference, difference, numbers_of
from kernelwright.wiring.program_inputs import Given, arguments_of
from kernelwright.wiring.programs import host_of, read_program, settings_of
from kernelwright.wiring.settings import Settings, cache_folder

Array: TypeAlias = NDArray[Any]

INTERPRETER = "interpreter"
CPU = "cpu"
COUNTS = {
    "loaded_bytes": "bytes loaded (MTE2)",
    "stored_bytes": "bytes stored (MTE3)",
    "copies": "copies",
    "vector_repeats": "vector repeats",
    "scalar_syncs": "scalar syncs (V to S)",
    "barriers": "syncs of all cores",
}
"""What the interpreter counts, and how a reader knows it."""


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """One call of one host function.

    Attributes:
        file: The program.
        host: The host function; None is the only one.
        inputs: Texts of `--inputs`.
        settings: Texts of `--set`.
        cores: Cores of the device.
        order: In which the interpreter runs the cores.
        seed: Of drawn inputs, and of a random order.
        on: `interpreter`, `cpu`, or both, the interpreter first.
    """

    file: Path
    host: str | None = None
    inputs: Sequence[str] = ()
    settings: Sequence[str] = ()
    cores: int = 1
    order: Order = "sequential"
    seed: int = 0
    on: tuple[str, ...] = (INTERPRETER,)


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a call gave or changed; bf16 as bits."""

    name: str
    dtype: DType
    array: Array

    @property
    def numbers(self) -> Array:
        """The elements as NumPy has them: bf16 as f32, exactly."""
        if self.dtype is DType.BF16:
            return from_bf16(self.array)
        return self.array.astype(np.bool_) if self.dtype is DType.BOOL else self.array

    def to_json(self) -> dict[str, Json]:
        """Shape, element type, and the range of what is finite."""
        values = numbers_of(self.dtype, self.array)
        finite = values[np.isfinite(values)]
        is_some = finite.size > 0
        return {
            "name": self.name,
            "shape": list(self.array.shape),
            "dtype": self.dtype.value,
            "min": float(finite.min()) if is_some else None,
            "max": float(finite.max()) if is_some else None,
            "mean": float(finite.mean()) if is_some else None,
            "nan": int(np.isnan(values).sum()),
            "inf": int(np.isinf(values).sum()),
        }


@dataclass(frozen=True, slots=True)
class Execution:
    """What one of the two ways of running gave.

    Attributes:
        on: Which.
        outputs: Empty after a fault.
        wall_s: Seconds: of the interpreter, or of the one call of the compiled function.
        counters: What the interpreter counted.
        fault: Why it ended early.
        lines: Lines that made undefined data and passed it on.
        core: The core of a fault.
    """

    on: str
    outputs: tuple[Output, ...]
    wall_s: float
    counters: Counters | None = None
    fault: Diagnostic | None = None
    lines: tuple[int, ...] = ()
    core: int | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that was run, or refused by its checks.

    Attributes:
        check: What checking said.
        host: Name of the host function, empty where the program is refused.
        inputs: Its arguments.
        executions: One a way of running that was asked for.
        differences: Of the second from the first, an output each; empty unless both gave outputs.
        notes: What a reader should know about how it was run.
    """

    check: CheckResult
    options: ProgramOptions
    host: str = ""
    inputs: tuple[Given, ...] = ()
    executions: tuple[Execution, ...] = ()
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def is_ok(self) -> bool:
        """True where the program is accepted and ran to its end in every way."""
        return self.check.is_ok and all(item.fault is None for item in self.executions)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of the first way of running that gave some."""
        return next((item.outputs for item in self.executions if item.outputs), ())

    def fault_text(self, execution: Execution) -> str:
        """A fault for a reader, with the source line and a caret; empty where there is none."""
        if execution.fault is None:
            return ""
        text = execution.fault.to_text(self.check.file, self.check.source.lines)
        if execution.lines:
            text += f"\n  made by lines {', '.join(str(line) for line in execution.lines)}"
        return text if execution.core is None else f"{text}\n  on core {execution.core}"

    def to_json(self) -> dict[str, Json]:
        """Everything as one JSON object."""
        return {
            "ok": self.is_ok,
            "file": self.check.file,
            "diagnostics": self.check.to_json()["diagnostics"],
            "host": self.host or None,
            "cores": self.options.cores,
            "order": self.options.order,
            "seed": self.options.seed,
            "inputs": [_input_json(item) for item in self.inputs],
            "runs": [self._execution_json(item) for item in self.executions],
            "differences": [item.to_json() for item in self.differences],
            "notes": list(self.notes),
        }

    def _execution_json(self, item: Execution) -> dict[str, Json]:
        fault: dict[str, Json] | None = None
        if item.fault is not None:
            fault = item.fault.to_json(self.check.file)
            fault |= {"core": item.core, "lines": list(item.lines)}
        counters = item.counters
        counts = None if counters is None else {name: getattr(counters, name) for name in COUNTS}
        return {
            "on": item.on,
            "outputs": [output.to_json() for output in item.outputs],
            "counters": counts,
            "wall_s": item.wall_s,
            "fault": fault,
        }


def _input_json(item: Given) -> dict[str, Json]:
    if isinstance(item.value, np.ndarray):
        return {"name": item.name, "shape": list(item.value.shape), "source": item.source}
    return {"name": item.name, "value": item.value, "source": item.source}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call with everything bound."""

    program: Program
    source: Source
    host: Host
    given: tuple[Given, ...]
    schedule: Mapping[str, int]
    consts: Mapping[str, Number]
    options: ProgramOptions


def run_program(options: ProgramOptions, settings: Settings) -> Ran:
    """Check a program and run one of its host functions.

    A program that is refused, a fault and a compiled program that crashes are values.

    Raises:
        UsageMistake: where file, inputs, settings or shapes make no sense.
        MachineLacks: where `cpu` is asked for and there is no compiler or sandbox.
    """
    check = read_program(options.file)
    if check.program is None:
        return Ran(check, options)
    host = host_of(check.program, options.host, options.file)
    schedule, consts = settings_of(host, options.settings)
    given = arguments_of(host, options.inputs, consts=consts, seed=options.seed)
    call = _Call(check.program, check.source, host, given, schedule, consts, options)
    notes: list[str] = []
    executions = []
    for way in options.on:
        executions.append(
            _interpreted(call) if way == INTERPRETER else _compiled(call, settings, notes)
        )
    differences: tuple[Difference, ...] = ()
    if len(executions) > 1 and all(item.fault is None for item in executions):
        pairs = zip(executions[0].outputs, executions[1].outputs, strict=True)
        differences = tuple(difference(a.name, a.dtype, a.array, b.array) for a, b in pairs)
    return Ran(check, options, host.name.text, given, tuple(executions), differences, tuple(notes))


# --- the interpreter -----------------------------------------------------------------------------


def _interpreted(call: _Call) -> Execution:
    values = {item.name: item.value for item in call.given} | dict(call.consts)
    start = time.perf_counter()
    outcome = run(
        call.program,
        call.host.name.text,
        values,
        schedule=call.schedule,
        cores=call.options.cores,
        order=call.options.order,
        rng=np.random.default_rng(call.options.seed),
    )
    wall_s = time.perf_counter() - start
    fault = outcome.fault
    if fault is not None:
        finding = _finding(call.source, fault)
        return Execution(
            INTERPRETER, (), wall_s, outcome.counters, finding, fault.lines, fault.core
        )
    outputs = _named(call.host, outcome.outputs, outcome.tensors)
    return Execution(INTERPRETER, outputs, wall_s, outcome.counters)


def _finding(source: Source, fault: Fault) -> Diagnostic:
    """A fault as a diagnostic, with the rule that its code stands for."""
    what = f"{fault.what} (in {fault.kernel})"
    at = fault.at if fault.at.col else _line(source, fault.at.line)
    return Diagnostic(fault.code, at, what, fault.numbers, CODES[fault.code].rule)


def _named(
    host: Host, results: Sequence[Array], tensors: Mapping[str, Array]
) -> tuple[Output, ...]:
    """What is returned under the names it has there, then what was changed in place."""
    last = host.body[-1]
    assert isinstance(last, Return)
    found: list[Output] = []
    taken: set[str] = set()
    for number, (value, kind, array) in enumerate(
        zip(last.values, host.returns, results, strict=True)
    ):
        name = value.name.text if isinstance(value, TensorRef) else f"out{number}"
        name = f"out{number}" if name in taken else name
        taken.add(name)
        found.append(Output(name, kind.dtype, array))
    for param in host.params:
        if isinstance(param, TensorParam) and param.type.is_inout and param.name.text not in taken:
            found.append(Output(param.name.text, param.type.dtype, tensors[param.name.text]))
    return tuple(found)


# --- compiled C++ --------------------------------------------------------------------------------


def _compiled(call: _Call, settings: Settings, notes: list[str]) -> Execution:
    cores = call.options.cores
    lowered = lower_cpp(call.program, call.host.name.text, call.schedule, call.consts)
    limits = Limits(
        wall_s=settings.sandbox.wall_s,
        cpu_s=settings.sandbox.wall_s * cores,
        memory_bytes=settings.sandbox.memory_bytes,
        processes=cores,
    )
    with Sandbox(warm=(), threads=cores) as sandbox:
        toolchain = Toolchain(
            sandbox, settings.cpu.compiler, cache_file=cache_folder() / CPU / "toolchain.json"
        )
        notes.append(f"compiled by {toolchain.version()}")
        if cores > 1 and OPENMP not in toolchain.flags():
            notes.append("this compiler's OpenMP cannot start threads here: cpu ran on 1 core")
        arguments = [item.value for item in call.given]
        called = call_lowered(
            lowered, arguments, sandbox=sandbox, toolchain=toolchain, limits=limits
        )
    if isinstance(called, Called):
        return Execution(CPU, _returned(call.host, lowered, called), called.wall_s)
    if isinstance(called, Refused):
        what = "the call is refused: a condition of this line does not hold"
        rule = CODES["E702"].rule
        return Execution(
            CPU, (), 0.0, fault=Diagnostic("E702", _line(call.source, called.line), what, why=rule)
        )
    return Execution(CPU, (), 0.0, fault=_of_failure(call, lowered, called, settings))


def _of_failure(call: _Call, lowered: CppFiles, failure: Failure, settings: Settings) -> Diagnostic:
    if failure.category is Category.COMPILE_ERROR:
        at = _line(call.source, _origin(lowered, failure.reason))
        return Diagnostic("E901", at, failure.reason, why=CODES["E901"].rule)
    what = failure.reason
    if failure.category is Category.TIMEOUT:
        what += f" (sandbox.wall_s is {settings.sandbox.wall_s:g}; raise it in kernelwright.toml)"
    if failure.category is Category.MEMORY:
        what += " (sandbox.memory_bytes in kernelwright.toml is the limit)"
    return Diagnostic("E902", NOWHERE, what, why=CODES["E902"].rule)


def _origin(lowered: CppFiles, said: str) -> int:
    """Line of the program behind a compiler's message, 0 where it names none."""
    place = re.search(r"kernel\.cpp:(\d+)", said)
    above = lowered.files["kernel.cpp"].split("\n")[: int(place[1])] if place else []
    marks = re.findall(r"// @dsl:(\d+)", "\n".join(above))
    return int(marks[-1]) if marks else 0


def _line(source: Source, number: int) -> Position:
    if not 1 <= number <= len(source.lines):
        return NOWHERE
    line = source.lines[number - 1]
    return Position(number, len(line) - len(line.lstrip()) + 1, number, len(line) + 1)


def _returned(host: Host, lowered: CppFiles, called: Called) -> tuple[Output, ...]:
    results = [called.tensors[name] for name in lowered.signature.returns]
    return _named(host, results, called.tensors)


def written_arrays(outputs: Sequence[Output]) -> dict[str, Array]:
    """The outputs as `--out` saves them: bf16 as f32, which holds it exactly."""
    return {output.name: output.numbers for output in outputs}
