"""The interpreter: what a program means.

`run(program, name, arguments)` runs a host function or a kernel on NumPy arrays and gives an
`Outcome`: outputs, counts of what the pipes did, and a `Fault` where a rule of the language was
broken. Operations mean what `builtins` says, rounded to the element type after each; scalars are
i64 and f32. Undefined data is followed element by element: it may be loaded, but not stored.
"""

from __future__ import annotations

from kernelwright.dsl.interpret.element import NUMPY, from_bf16, to_bf16
from kernelwright.dsl.interpret.launch import Order, run, run_unchecked
from kernelwright.dsl.interpret.outcome import Counters, Fault, Outcome

__all__ = [
    "NUMPY",
    "Counters",
    "Fault",
    "Order",
    "Outcome",
    "from_bf16",
    "run",
    "run_unchecked",
    "to_bf16",
]
