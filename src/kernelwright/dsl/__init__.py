"""The kernel language: parse, check, legalise, interpret, print back, lower.

How to read a program tree
--------------------------
`parse(text).program` (or `check_file`) gives a `Program` of `Kernel`s and `Host`s. A kernel is its
`params`, `dims` (names bound at launch from the tensors' shapes), `buffers` (all allocations) and
`body`, a tuple of statements to be executed in order by every core:

* `For(over, body)` with `over` one of `CoreRange`, `Tiles`, `Range`, `StaticRange`; `If`; `Region`.
* `Assign(name, value)`: scalars are mutable names, as in Python, so walk with one environment a
  core. `ReadScalar` (global memory) and `Reduce` (a buffer) occur inside values.
* `Load`, `Store`, `Op(name, dest, operands, attributes)`: `builtins.BUILTINS[name]` is the op's
  row: `slots` in the order of `operands`, `meaning` to compute it on arrays of the valid extents.
* `Require`, `SyncAll`.

Dispatch with `match` on the node classes; `nodes.statements(block)` yields all of them. A `View` is
a buffer's whole valid extent (`index` empty) or a slice of it; writing the whole sets the buffer's
valid extent, writing through a slice does not. After `check_file` every `View` carries `extent`,
the operand's sizes as expressions over names with their values at that statement. Extents hold for
the values of compile-time parameters that were checked (the launches' own, or the defaults);
`specialised(kernel, consts)` checks and annotates a kernel under other values.
`Name` prints mangled (`str(name) == "u_" + name.text`): use `str` in generated code, `text` in
messages. `bind(kernel, consts)` replaces compile-time parameters by their values.
"""

from __future__ import annotations

from kernelwright.dsl.bind import bind
from kernelwright.dsl.check.program import (
    CheckedKernel,
    CheckResult,
    check_file,
    check_program,
    check_source,
    specialised,
)
from kernelwright.dsl.codes import CODES, explain
from kernelwright.dsl.diagnostics import Diagnostic, Edit, Severity, apply_fix
from kernelwright.dsl.host_nodes import Host, Program
from kernelwright.dsl.launch import Device, LaunchCall, LaunchRefused, run_host
from kernelwright.dsl.legalise import Legal, legalised
from kernelwright.dsl.nodes import Kernel
from kernelwright.dsl.parse import Parsed, parse
from kernelwright.dsl.print_program import print_kernel, print_program
from kernelwright.dsl.specification import specification

__all__ = [
    "CODES",
    "CheckResult",
    "CheckedKernel",
    "Device",
    "Diagnostic",
    "Edit",
    "Host",
    "Kernel",
    "LaunchCall",
    "LaunchRefused",
    "Legal",
    "Parsed",
    "Program",
    "Severity",
    "apply_fix",
    "bind",
    "check_file",
    "check_program",
    "check_source",
    "explain",
    "legalised",
    "parse",
    "print_kernel",
    "print_program",
    "run_host",
    "specialised",
    "specification",
]
