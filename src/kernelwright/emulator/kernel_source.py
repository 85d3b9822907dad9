"""The texts that stand before and behind a kernel's own source when it is compiled.

Takes:   a six-part project and its operator as the host library registered it.
Gives:   the preamble (`DTYPE_X`, `ORIG_DTYPE_X`, `FORMAT_X`, the tiling class) and the entry.
Leaves:  compiling to `build.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelwright.core.fingerprint import Json
from kernelwright.emulator.operator import Operator
from kernelwright.emulator.project import HOST, KERNEL, TILING, OperatorProject, ProjectFault
from kernelwright.emulator.tokens import kernels_in, macro_calls

DEVICE_TYPES: Mapping[str, str] = {
    "float": "float", "float16": "half", "bfloat16": "bfloat16_t", "double": "double",
    "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "bool": "bool", "int4": "int4b_t",
}  # fmt: skip
"""Element types in device code, by the words of a project's JSON."""

TYPE_NUMBERS: Mapping[str, int] = {
    "DT_FLOAT": 0, "DT_FLOAT16": 1, "DT_INT8": 2, "DT_INT32": 3, "DT_UINT8": 4, "DT_INT16": 6,
    "DT_UINT16": 7, "DT_UINT32": 8, "DT_INT64": 9, "DT_UINT64": 10, "DT_DOUBLE": 11,
    "DT_BOOL": 12, "DT_BF16": 27, "DT_INT4": 29,
}  # fmt: skip
"""What `#if ORIG_DTYPE_X == DT_BF16` compares: the host's numbers of the types."""

FORMAT_NUMBERS: Mapping[str, int] = {
    "FORMAT_NCHW": 0, "FORMAT_NHWC": 1, "FORMAT_ND": 2, "FORMAT_NC1HWC0": 3,
    "FORMAT_FRACTAL_Z": 4, "FORMAT_NDHWC": 27, "FORMAT_FRACTAL_NZ": 29, "FORMAT_NCDHW": 30,
}  # fmt: skip

_ENUMERATORS = {
    "float": "DT_FLOAT", "float16": "DT_FLOAT16", "bfloat16": "DT_BF16", "double": "DT_DOUBLE",
}  # fmt: skip


def preamble(project: OperatorProject, operator: Operator, combination: int) -> str:
    """Return what the toolchain puts before the kernel of one data type combination."""
    lines = ["// Generated: what the kernel's toolchain defines.", "#pragma once"]
    lines += ['#include "kernel_operator.h"', '#include "kw/tiling_macros.h"']
    lines += [f"#define {name} {number}" for name, number in TYPE_NUMBERS.items()]
    lines += [f"#define {name} {number}" for name, number in FORMAT_NUMBERS.items()]
    for operand in (*operator.inputs, *operator.outputs):
        name = operand.name.upper()
        word = operand.type_of(combination)
        if word in DEVICE_TYPES:
            lines.append(f"#define DTYPE_{name} {DEVICE_TYPES[word]}")
            lines.append(f"#define ORIG_DTYPE_{name} {enumerator(word)}")
        lines.append(f"#define FORMAT_{name} FORMAT_{operand.format_of(combination)}")
    lines.append(f'#include "{project.kernel_name}_tiling.h"')
    tiling = tiling_class(project)
    if tiling:
        lines.append(f"using KwTilingDefault = ::{tiling};")
    return "\n".join(lines) + "\n"


def enumerator(word: str) -> str:
    """Return the host's name of a data type: `int8` is `DT_INT8`."""
    return _ENUMERATORS.get(word, f"DT_{word.upper()}")


def tiling_class(project: OperatorProject) -> str:
    """Return the qualified name of the operator's tiling class, empty if none is registered."""
    found: dict[str, str] = {}
    for text in (project.files[TILING], project.files[HOST]):
        for scopes, arguments in macro_calls(text, "REGISTER_TILING_DATA_CLASS"):
            if len(arguments) == 2:
                name, kind = ("".join(token.text for token in part) for part in arguments)
                found.setdefault(name, "::".join((*scopes, kind)))
    keyed = [kind for name, kind in found.items() if name.startswith(f"{project.operator}_")]
    return found.get(project.operator) or (keyed[0] if keyed else "")


def entry(project: OperatorProject, operator: Operator) -> str | ProjectFault:
    """Return the source that holds the kernel and the function that the runtime calls."""
    name = project.kernel_name
    defined = kernels_in(project.files[KERNEL])
    if name not in defined:
        others = ", ".join(defined) or "no __global__ function at all"
        return ProjectFault(
            KERNEL,
            f"operator {project.operator} needs a kernel function called {name}; "
            f"the source defines {others}",
        )
    operands = [operand.name for operand in (*operator.inputs, *operator.outputs)]
    parameters = [*operands, "workspace", "tiling"]
    call = ", ".join(f"static_cast<uint8_t*>(args[{i}])" for i in range(len(parameters)))
    return _ENTRY.format(
        kernel=KERNEL, name=name, count=len(parameters), parameters=", ".join(parameters), call=call
    )


_ENTRY = """\
// Generated: the kernel, and the function that the emulated chip runs for each block.
#include "{kernel}"

namespace {{
template <typename... Parameters>
constexpr unsigned kwParameterCount(void (*)(Parameters...)) {{
  return sizeof...(Parameters);
}}
static_assert(kwParameterCount(&{name}) == {count},
              "the kernel {name} must take, in this order: {parameters}");
}}  // namespace

extern "C" void kw_entry(void** args) {{ {name}({call}); }}
"""


def mismatches(project: OperatorProject, operator: Operator) -> list[str]:
    """Return how the project's JSON and the host library disagree about the operands."""
    said: list[str] = []
    for key, operands in (("input_desc", operator.inputs), ("output_desc", operator.outputs)):
        entries = project.description.get(key)
        named = _names(entries) if isinstance(entries, list) else []
        registered = [operand.name for operand in operands]
        if named != registered:
            said.append(
                f"{key} of the JSON lists {', '.join(named) or 'nothing'} but the operator's "
                f"definition has {', '.join(registered) or 'nothing'}"
            )
    return said


def _names(entries: Sequence[Json]) -> list[str]:
    return [str(entry.get("name", "")) for entry in entries if isinstance(entry, dict)]
