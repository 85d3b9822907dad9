"""The whole C++ file: what it needs of the prelude, one function a kernel, one entry point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kernelwright.synth.columns import ColumnPrinter
from kernelwright.synth.emit import scalars
from kernelwright.synth.nest import leaves_of, size_name
from kernelwright.synth.program import Buffer, Kernel, Program, Use
from kernelwright.synth.rows import RowPrinter, indented

_PRELUDE = Path(__file__).parent / "prelude"
_SECTIONS = (
    "vector", "values", "gather", "half", "mask", "fold", "best", "places", "scatter", "index",
    "stream", "exp", "expm1", "log", "tanh", "erf", "lanewise", "sweep", "across", "parts",
)  # fmt: skip
_IMPLIED: Mapping[str, tuple[str, ...]] = {
    "sigmoid": ("exp",),
    "exp_down": ("exp",), "expm1": ("exp", "expm1"), "tanh": ("exp", "tanh"),
    "erf": ("exp", "erf"),
    "erf_flat": ("exp", "erf"), "log1p": ("log",), "half": ("values", "gather", "half"),
    "gather": ("values", "gather"), "best": ("fold", "best"),
    "scatter": ("values", "gather", "half", "scatter"),
    **{name: ("lanewise",) for name in ("floor", "ceil", "trunc", "round", "sin", "cos", "pow")},
}  # fmt: skip
_C_TYPES = {
    "float32": "float", "float16": "f16", "bfloat16": "bf16", "bool": "uint8_t",
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
    "int64": "int64_t", "float64": "double",
}  # fmt: skip
_POLYNOMIALS = {
    "5": "4.9999228e-01f + r * (1.6667116e-01f + r * (4.1890554e-02f + r * 8.31248e-03f))",
    "6": "4.9999994e-01f + r * (1.666652e-01f + r * (4.1668393e-02f + r * (8.368781e-03f +\n"
    "               r * 1.3814465e-03f)))",
}


def parameters(program: Program) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the kernel's arguments: names of buffers in order, then prime axes for sizes."""
    order = {Use.GIVEN: 0, Use.STATE: 1, Use.RETURNED: 2, Use.SCRATCH: 3}
    used = used_buffers(program)
    names = [buffer.name for buffer in program.buffers.values() if buffer.name in used]
    names.sort(key=lambda name: order[program.buffers[name].use])
    axes = sorted({axis for kernel in program.kernels for axis in kernel.order})
    for name in names:
        axes += [axis for axis in program.buffers[name].axes if axis not in axes]
    return tuple(names), tuple(axes)


def used_buffers(program: Program) -> frozenset[str]:
    """Return the buffers that some kernel touches."""
    used = set(program.returned) | {name for name, _ in program.canonical.counters}
    for kernel in program.kernels:
        for value, name in leaves_of(program, kernel):
            used.add(name)
            if value.op == "load_at" and value.uid not in program.placed:
                used.add(str(value.args[0].attr))
        used.update(s.buffer for s in (*kernel.row_stores, *kernel.full_stores))
    return frozenset(used)


def kernel_source(
    program: Program,
    schedule: Mapping[str, str],
    *,
    name: str,
    only: Sequence[int] | None = None,
) -> str:
    """Return the C++ text of a program under a schedule; `name` is the entry point.

    With `only`, the kernels at these places alone, each with an entry point `NAME_PLACE`.
    """
    places = range(len(program.kernels)) if only is None else only
    functions: list[str] = []
    needs: set[str] = set()
    for place in places:
        lines, needed = _kernel(program, program.kernels[place], schedule)
        needs |= needed
        functions += [
            f"static void part_{place}({_declared(program)}) {{",
            *indented(lines),
            "}",
            "",
        ]
    names, axes = parameters(program)
    call = ", ".join((*names, *(size_name(axis) for axis in axes)))
    calls = [f"part_{place}({call});" for place in places]
    if only is None:
        counters = sorted(set(program.canonical.counters))
        calls = [*(f"{counter}[0] += {step};" for counter, step in counters), *calls]
        functions += _entry(program, name, calls)
    else:
        for place, line in zip(only, calls, strict=True):
            functions += _entry(program, f"{name}_{place}", [line])
    types = {program.buffers[buffer].dtype for buffer in names}
    if types & {"float16", "bfloat16"}:
        needs |= {"half"}
    return "\n".join([_prelude(needs, schedule), *functions, ""])


def _entry(program: Program, name: str, body: Sequence[str]) -> list[str]:
    return [f'extern "C" void {name}({_declared(program)}) {{', *indented(body), "}"]


def _kernel(
    program: Program, kernel: Kernel, schedule: Mapping[str, str]
) -> tuple[list[str], set[str]]:
    if kernel.is_columns:
        columns = ColumnPrinter(program, kernel, schedule)
        return columns.lines(), columns.emit.needs | {"across"}
    rows = RowPrinter(program, kernel, schedule)
    lines = rows.lines()
    needs = rows.emit.needs | {"sweep"}
    if rows.is_whole:
        needs.add("parts")
    if any("put_stream" in line for line in lines):
        needs.add("stream")
    return lines, needs


def _declared(program: Program) -> str:
    names, axes = parameters(program)
    numbers = scalars(program)
    texts = [_parameter(program.buffers[name], name in numbers) for name in names]
    return ", ".join(texts + [f"int64_t {size_name(axis)}" for axis in axes])


def _parameter(buffer: Buffer, is_number: bool) -> str:
    if is_number:
        return f"double {buffer.name}"
    const = "const " if buffer.use is Use.GIVEN else ""
    return f"{const}{_C_TYPES[buffer.dtype]}* __restrict {buffer.name}"


def _prelude(needs: Iterable[str], schedule: Mapping[str, str]) -> str:
    wanted = {"vector"}
    for need in needs:
        wanted.update(_IMPLIED.get(need, (need,)))
    texts = []
    for section in _SECTIONS:
        if section in wanted:
            text = (_PRELUDE / f"{section}.h").read_text(encoding="utf-8")
            text = text.replace("@LANES@", schedule["lanes"])
            text = text.replace("@EXP_POLYNOMIAL@", _POLYNOMIALS[schedule.get("exp", "6")])
            texts.append(text)
    return "\n".join(texts)
